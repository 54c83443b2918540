"""Copies of one package in several folders, such as the worktrees of a repository."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from amplifier_tui.kernel.mounting.packages.search_path import first_on_path, was_put_there

_brought: dict[Path, set[str]] = {}
"""Packages that came with the modules of a folder, by that folder."""
_aside: dict[Path, dict[str, ModuleType]] = {}
"""What is loaded from a folder while a copy from another one has its names, by the folder."""


@contextmanager
def own_copy(package_dir: Path, *, only_loaded: bool = False) -> Iterator[None]:
    """Have the package that is imported inside be the one in a folder.

    Where a copy from another folder is loaded, it is set aside with what it brought from there.
    What runs from it goes on, and it comes back when it is asked for; what it imports by name only
    while it runs is of the copy that was loaded last. A package of the program's environment stays.
    When something is raised inside, the copy is the one that was loaded before.

    Args:
        package_dir: Directory of the package; or the one file it is.
        only_loaded: Nothing is set aside for a copy that was not imported before.
    """
    name, folder = name_of(package_dir), package_dir.parent
    there = place_of_package(sys.modules.get(name))
    if there is None:
        with first_on_path(folder):
            yield
        return
    is_it = there.resolve() == package_dir.resolve()
    if is_it or not was_put_there(there.parent) or (only_loaded and not _is_aside(name, folder)):
        yield
        return
    other = _taken_out(there.parent)
    mine = _aside.pop(folder, {})
    sys.modules.update(mine)
    try:
        with first_on_path(folder):
            yield
    except BaseException:
        _taken_out(folder)
        sys.modules.update(other)
        if mine:
            _aside[folder] = mine
        raise
    _aside[there.parent] = other


def _is_aside(package: str, folder: Path) -> bool:
    return package in _aside.get(folder, {})


@contextmanager
def noted_imports(folder: Path) -> Iterator[None]:
    """Note which packages of a folder are imported inside."""
    before = set(sys.modules)
    try:
        yield
    finally:
        tops = {name.partition(".")[0] for name in sys.modules.copy().keys() - before}
        places = {top: place_of_package(sys.modules.get(top)) for top in tops}
        own = {top for top, place in places.items() if place and place.parent == folder}
        _brought.setdefault(folder, set()).update(own)


def _taken_out(folder: Path) -> dict[str, ModuleType]:
    """Take out of ``sys.modules`` what came with the modules of a folder, and return it."""
    found: dict[str, ModuleType] = {}
    for top in _brought.get(folder, ()):
        place = place_of_package(sys.modules.get(top))
        if place is None or place.parent == folder:
            found |= loaded_below(top)
    for name in found:
        del sys.modules[name]
    return found


def loaded_below(package: str) -> dict[str, ModuleType]:
    """Return what is loaded of a package, by name; nothing for an empty name."""
    inside = f"{package}."
    # Another thread may be importing; only a copy holds still.
    found = ((name, module) for name, module in sys.modules.copy().items() if package)
    return {name: module for name, module in found if name == package or name.startswith(inside)}


def name_of(package_dir: Path) -> str:
    """Return the name of the package in a directory; or in one file."""
    return package_dir.stem if package_dir.is_file() else package_dir.name


def place_of_package(module: ModuleType | None) -> Path | None:
    """Return the directory a package was imported from, or its one file; None if not known."""
    file = getattr(module, "__file__", None)
    if not file:
        return None
    path = Path(file)
    return path.parent if path.name == "__init__.py" else path
