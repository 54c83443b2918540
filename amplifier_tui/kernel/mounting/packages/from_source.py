"""Importing from source only, for folders of which a user agreed to the source.

What was compiled earlier says itself which source it was made from, so that anybody can write it.
"""

import sys
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from typing import Any, Final, NoReturn

_folders: set[Path] = set()


class _SourceLoader(SourceFileLoader):
    """Neither reads nor writes what is compiled."""

    def path_stats(self, path: Any) -> NoReturn:
        raise OSError(f"{path} is read as source")


_finder_of: Final = FileFinder.path_hook(
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (_SourceLoader, SOURCE_SUFFIXES),
    # One that has no source counts as code of its own where the user is asked.
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)


def import_from_source(folder: Path) -> None:
    """Have what is imported from a folder, from now on, be its source as it is then."""
    if folder in _folders:
        return
    _folders.add(folder)
    if _find not in sys.path_hooks:
        sys.path_hooks.insert(0, _find)
    # What is below has the folder's name in it: few paths are to be taken apart.
    known = [path for path in sys.path_importer_cache.copy() if folder.name in path]
    for path in filter(_is_below, known):
        sys.path_importer_cache.pop(path, None)


def _find(path: str) -> Any:
    if not _is_below(path):
        raise ImportError(f"{path} is not imported from source only", path=path)
    return _finder_of(path)


def _is_below(path: str) -> bool:
    """Whether a folder is, or is in, one of them; an environment in it is none of its code."""
    here = Path(path)
    return any(
        each in _folders and "site-packages" not in here.relative_to(each).parts
        for each in (here, *here.parents)
    )
