"""Where modules come from (spec 000, module sources), and asking for it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from amplifier_tui.base.python import awaited
from amplifier_tui.kernel.mounting.callbacks import MANY, missing_keywords, positional_parameters
from amplifier_tui.kernel.mounting.errors import (
    BrokenModuleError,
    ModuleLoadError,
    ModuleNotFoundError,
)

__all__ = [
    "FileSystemModuleSource",
    "ModuleLoadError",
    "ModuleNotFoundError",
    "ModuleSource",
    "ModuleSourceResolver",
    "resolve_module",
]


class ModuleSource(ABC):
    """A place a module can be imported from."""

    @abstractmethod
    def resolve(self) -> Path:
        """Return the directory that holds the importable package.

        Raises:
            ModuleNotFoundError: The source can't be resolved.
        """


class ModuleSourceResolver(Protocol):
    """Decides where modules come from.

    It may have ``async_resolve`` with the same arguments; that is preferred then. Older resolvers
    take only one of the hints; each gets what it takes.
    """

    def resolve(self, module_id: str, source_hint: Any = None, profile_hint: Any = None) -> Any:
        """Return the source of a module.

        Args:
            module_id: The module, e.g. "tool-bash".
            source_hint: What the mount plan says about its source.
            profile_hint: The same, under its older name.

        Raises:
            ModuleNotFoundError: This resolver can't find it.
        """
        ...


class FileSystemModuleSource:
    """Directories to look for modules in, and directories by the prefix mentions use."""

    def __init__(
        self,
        paths: Sequence[str | Path] | None = None,
        mention_mappings: dict[str, Path] | None = None,
    ) -> None:
        self._paths = [Path(path) for path in paths or ()]
        self._mentions = dict(mention_mappings or {})

    def get_module_paths(self) -> list[Path]:
        """Return the directories (a copy)."""
        return list(self._paths)

    def get_mention_mappings(self) -> dict[str, Path]:
        """Return the directories by prefix (a copy)."""
        return dict(self._mentions)


async def resolve_module(resolver: Any, module_id: str, hint: Any) -> Path:
    """Return where a module is, whichever of the published signatures the resolver has.

    Args:
        hint: What the mount plan says about its source.

    Raises:
        ModuleNotFoundError: The resolver does not know.
        ModuleLoadError: It is no resolver, or what it returned is no source.
    """
    function = getattr(resolver, "async_resolve", None) or getattr(resolver, "resolve", None)
    if not callable(function):
        raise _no_source(module_id, resolver, "it has no resolve()")
    positional, keywords = _arguments(function, hint)
    source = await awaited(function(module_id, *positional, **keywords))
    if source is None:
        raise ModuleNotFoundError(f"The resolver has no source for module '{module_id}'")
    if isinstance(source, str | PathLike):
        return Path(source)
    resolve = getattr(source, "resolve", None)
    if not callable(resolve):
        found = f"its answer is {type(source).__name__}, neither a path nor a source with resolve()"
        raise _no_source(module_id, resolver, found)
    place = await awaited(resolve())
    if not isinstance(place, str | PathLike):
        found = f"its source resolved to {type(place).__name__}, not to a path"
        raise _no_source(module_id, resolver, found)
    return Path(place)


def _no_source(module_id: str, resolver: Any, found: str) -> BrokenModuleError:
    who = type(resolver).__name__
    return BrokenModuleError(
        f"Module '{module_id}' can't be found by the module source resolver {who}: {found}",
        reason_code="missing_source",
    )


def _arguments(function: Any, hint: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    names = ("source_hint", "profile_hint")
    missing = missing_keywords(function, names)
    known = {name: hint for name in names if name not in missing}
    takes_it = not known and 1 < positional_parameters(function) < MANY
    return (hint,) if takes_it else (), known
