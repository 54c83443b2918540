"""What of `sys.path` was put there for modules: shared by the loaders of all sessions."""

import importlib
import importlib.util
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Final, NoReturn

from amplifier_tui.kernel.mounting.packages.from_source import import_from_source

_INSTALLED: Final = re.compile(r"[\\/](site|dist)-packages$")

# Loaders of several sessions share sys.path: an entry stays until the last one is done with it.
_path_users: Counter[str] = Counter()
_put_there: set[str] = set()
"""What was there for modules at some time: what was imported from it may still be loaded."""
_path_lock = threading.Lock()


def refuse_other_copy(module_id: str, wanted: Path, loaded: Path) -> NoReturn:
    """Raise ``ImportError``: a package of this name is loaded from elsewhere."""
    raise ImportError(
        f"Refusing to load '{module_id}' from {wanted}: a package of that name is already loaded "
        f"from {loaded}. One process holds one package of a name: give one of the two packages "
        "another name, or, if both are copies of one module, restart with --resume to "
        "use the other."
    )


def add_path(
    path: Path, added: list[Path], *, as_installed: bool = False, compiled: bool = False
) -> None:
    """Put a directory first on ``sys.path``, and into ``added``, unless it is there for good.

    Args:
        path: The directory.
        added: What to give to :func:`remove_paths`.
        as_installed: It comes right before what is installed: behind Python's own modules and
            behind what was put there earlier.
        compiled: What Python compiled from its files may be used: nobody else writes there.
    """
    text = str(path)
    with _path_lock:
        if path in added or (text in sys.path and not _path_users[text]):
            return
        if text not in sys.path:
            places = (index for index, each in enumerate(sys.path) if _INSTALLED.search(each))
            sys.path.insert(next(places, len(sys.path)) if as_installed else 0, text)
            if not compiled:
                import_from_source(path)
        _path_users[text] += 1
        _put_there.add(text)
        added.append(path)


def program_path() -> list[str]:
    """Return ``sys.path`` without what was put there for modules."""
    return [each for each in sys.path if not _path_users[each]]


def is_in_environment(package: str) -> bool:
    """Tell whether a package can be imported without what was put there for modules."""
    spec = importlib.util.find_spec(package)
    return spec is not None and (not _is_apart(spec.origin) or _on_program_path(package))


def require_environment(module_id: str, module: ModuleType | None) -> None:
    """Raise ``ImportError`` if a module is loaded from what was put there for another one."""
    file = getattr(module, "__file__", None)
    if file and _is_apart(file):
        refuse_other_copy(module_id, Path("the program's environment"), Path(file).parent)


def _is_apart(file: str | None) -> bool:
    return bool(file) and any(Path(str(file)).is_relative_to(each) for each in tuple(_path_users))


def was_put_there(folder: Path) -> bool:
    """Tell whether a folder is, or was, on ``sys.path`` for modules only."""
    return str(folder) in _put_there and str(folder) not in program_path()


@contextmanager
def first_on_path(folder: Path) -> Iterator[None]:
    """Have what is imported inside be looked for in a folder before all others."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _on_program_path(package: str) -> bool:
    return PathFinder.find_spec(package, program_path()) is not None


def remove_paths(added: list[Path]) -> None:
    """Take back what :func:`add_path` added, the last one first, and empty the list."""
    with _path_lock:
        for path in reversed(added):
            text = str(path)
            _path_users[text] -= 1
            if _path_users[text] <= 0:
                del _path_users[text]
                if text in sys.path:
                    sys.path.remove(text)
        added.clear()
