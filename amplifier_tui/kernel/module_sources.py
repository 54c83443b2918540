"""Where modules come from: contracts for applications that decide it (spec 000, module sources)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

__all__ = [
    "FileSystemModuleSource",
    "ModuleLoadError",
    "ModuleNotFoundError",
    "ModuleSource",
    "ModuleSourceResolver",
]


class ModuleNotFoundError(Exception):
    """No attempt to find a module succeeded; not Python's error of that name."""


class ModuleLoadError(Exception):
    """A module was found, but can't be loaded."""


class ModuleSource(ABC):
    """A place a module can be imported from."""

    @abstractmethod
    def resolve(self) -> Path:
        """Return the directory that holds the importable package.

        Raises:
            ModuleNotFoundError: The source can't be resolved.
            OSError: The file system refuses.
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
    """Directories to look for modules in, and prefixes that mentions may use for them.

    Args:
        paths: The directories.
        mention_mappings: Directories by prefix.
    """

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
