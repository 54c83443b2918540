"""Where the modules of a bundle are, for the kernel's loader."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.modules.activator import ModuleActivationError, ModuleActivator
from amplifier_tui.foundation.settings.settings import BUILT_IN


@dataclass(frozen=True)
class BundleModuleSource:
    """The folder of one activated module."""

    path: Path

    def resolve(self) -> Path:
        """Return the folder."""
        return self.path


class BundleModuleResolver:
    """Tells the kernel's loader where the modules of a bundle are.

    An entry with a source gets the module of that source or none at all. An entry without one is
    left to the loader, which takes the built-in module, else an installed one; where there is
    neither, it gets what the bundle brings along.

    Args:
        paths: Folders of activated modules, by id.
        activator: Activates a module that was not prepared, when an entry brings its source.
        sources: Folders of activated modules, by id and source as in the mount plan.
        failures: Why a source can't be had, by id and source.
    """

    def __init__(
        self,
        paths: Mapping[str, Path],
        activator: ModuleActivator | None = None,
        *,
        sources: Mapping[tuple[str, str], Path] | None = None,
        failures: Mapping[tuple[str, str], ModuleActivationError] | None = None,
    ) -> None:
        self._paths = dict(paths)
        self._activator = activator
        self._sources = dict(sources or {})
        self._failures = dict(failures or {})
        self._lock = asyncio.Lock()
        self._is_entered = False

    def enter(self) -> Callable[[], None]:
        """Have the modules' folders on `sys.path`; returns what takes them off again."""
        self._is_entered = True
        return (lambda: None) if self._activator is None else self._activator.enter()

    def resolve(
        self, module_id: str, source_hint: Any = None, profile_hint: Any = None
    ) -> BundleModuleSource:
        """Return where a module is.

        Raises:
            amplifier_core.module_sources.ModuleNotFoundError: It has no source. The kernel's loader
                then takes the built-in module, else an installed one. With `SourceUnavailableError`
                it takes nothing: its source can't be had.
        """
        from amplifier_tui.kernel.mounting.errors import ModuleNotFoundError as NotFound

        if not self._is_entered:
            self.enter()  # By a host that equips its sessions itself.
        hint = source_hint or profile_hint
        path = self._of_source(module_id, hint) if isinstance(hint, str) else None
        if path is None:
            path = self._by_id(module_id, has_source=bool(hint))
        if path is None:
            known = ", ".join(sorted(self._paths)) or "none"
            raise NotFound(f"Module '{module_id}' was not activated (activated: {known})")
        return BundleModuleSource(path)

    async def async_resolve(
        self, module_id: str, source_hint: Any = None, profile_hint: Any = None
    ) -> BundleModuleSource:
        """Return where a module is, activating it first when a hint says where it comes from."""
        hint = source_hint or profile_hint
        if self._activator is not None and isinstance(hint, str) and hint:
            async with self._lock:
                if (module_id, hint) not in {**self._sources, **self._failures}:
                    await self._activate(module_id, hint, self._activator)
        return self.resolve(module_id, hint)

    def failure_of(self, module_id: str, source: str) -> ModuleActivationError | None:
        """Return why the module of a source can't be had; None where it can."""
        return self._failures.get((module_id, source))

    def add(self, module_id: str, source: str, path: Path) -> None:
        """Note the folder of a module that was activated elsewhere."""
        self._failures.pop((module_id, source), None)
        self._sources[module_id, source] = path
        self._paths.setdefault(module_id, path)

    def get_module_source(self, module_id: str) -> str | None:
        """Return the folder of an activated module as text, or None."""
        path = self._paths.get(module_id)
        return None if path is None else str(path)

    def _of_source(self, module_id: str, source: str) -> Path | None:
        failure = self.failure_of(module_id, source)
        if failure is None:
            return self._sources.get((module_id, source))
        from amplifier_tui.kernel.mounting.errors import SourceUnavailableError

        remedy = failure.remedy or "Correct its source, or open it again when that can be had."
        if _has_built_in(module_id):
            remedy += (
                " To use the built-in module in its place, put "
                f"`sources: {{modules: {{{module_id}: {BUILT_IN}}}}}` into your settings.yaml."
            )
        raise SourceUnavailableError(f"Its source can't be had: {failure.reason}", remedy=remedy)

    def _by_id(self, module_id: str, *, has_source: bool) -> Path | None:
        from amplifier_tui.kernel.mounting.discovery import installed_modules

        if not has_source and _has_built_in(module_id):
            return None
        path = self._paths.get(module_id)
        if path is None and self._activator is not None and module_id not in installed_modules():
            return self._activator.brought.get(module_id)
        return path

    async def _activate(self, module_id: str, hint: str, activator: ModuleActivator) -> None:
        try:
            path = await activator.activate(module_id, hint)
        except ModuleActivationError as error:
            self._failures[module_id, hint] = error
        else:
            self._sources[module_id, hint] = path
            self._paths.setdefault(module_id, path)


def _has_built_in(module_id: str) -> bool:
    from amplifier_tui.kernel.mounting.discovery import installed_modules, is_built_in

    found = installed_modules().get(module_id)
    return found is not None and is_built_in(found)
