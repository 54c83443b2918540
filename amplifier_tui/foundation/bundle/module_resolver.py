"""Tells the kernel where the modules of a prepared bundle are (foundation reference e.2)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_tui.foundation.modules.activator import ModuleActivationError, ModuleActivator


@dataclass(frozen=True)
class BundleModuleSource:
    """The folder of one activated module."""

    path: Path

    def resolve(self) -> Path:
        """Return the folder."""
        return self.path


class BundleModuleResolver:
    """Resolves module ids to the folders they were activated in.

    Args:
        paths: Folder of each module.
        activator: Activates a module late, when a plan brings one that was not prepared.
    """

    def __init__(self, paths: Mapping[str, Path], activator: ModuleActivator | None = None) -> None:
        self._paths = dict(paths)
        self._activator = activator
        self._lock = asyncio.Lock()

    def resolve(
        self, module_id: str, source_hint: Any = None, profile_hint: Any = None
    ) -> BundleModuleSource:
        """Return where a module is.

        Raises:
            amplifier_core.module_sources.ModuleNotFoundError: It was not activated. The kernel's
                loader then looks at installed modules, the built-in ones among them.
        """
        from amplifier_tui.kernel.module_sources import ModuleNotFoundError as NotFound

        path = self._paths.get(module_id)
        if path is None:
            known = ", ".join(sorted(self._paths)) or "none"
            raise NotFound(f"Module '{module_id}' was not activated (activated: {known})")
        return BundleModuleSource(path)

    async def async_resolve(
        self, module_id: str, source_hint: Any = None, profile_hint: Any = None
    ) -> BundleModuleSource:
        """Return where a module is, activating it first when a hint says where it comes from.

        Raises:
            amplifier_core.module_sources.ModuleNotFoundError: It is not activated and cannot be.
        """
        hint = source_hint or profile_hint
        if module_id not in self._paths and self._activator is not None and isinstance(hint, str):
            async with self._lock:
                if module_id not in self._paths:
                    await self._activate(module_id, hint, self._activator)
        return self.resolve(module_id)

    def get_module_source(self, module_id: str) -> str | None:
        """Return the folder of an activated module as text, or None."""
        path = self._paths.get(module_id)
        return None if path is None else str(path)

    async def _activate(self, module_id: str, hint: str, activator: ModuleActivator) -> None:
        from amplifier_tui.kernel.module_sources import ModuleNotFoundError as NotFound

        try:
            self._paths[module_id] = await activator.activate(module_id, hint)
        except ModuleActivationError as error:
            raise NotFound(str(error)) from error
        activator.finalize()
