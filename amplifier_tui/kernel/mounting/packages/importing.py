"""Importing the package of a module, also anew from changed source."""

import importlib
import importlib.metadata
import importlib.util
import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from amplifier_tui.base.commands.installing import pip_install
from amplifier_tui.kernel.mounting.errors import BrokenModuleError, named_text
from amplifier_tui.kernel.mounting.packages.copies import (
    loaded_below,
    name_of,
    noted_imports,
    place_of_package,
)
from amplifier_tui.kernel.mounting.packages.finding import read_toml, require_package_dir
from amplifier_tui.kernel.mounting.packages.search_path import (
    add_path,
    refuse_other_copy,
    remove_paths,
)

_log = logging.getLogger(__name__)

_Stamp = tuple[tuple[str, int, int], ...]
_stamps: dict[Path, _Stamp] = {}
"""Name, time (ns) and size of each source file of a package, as it was imported."""
_MOST: Final = 1_000
"""Files of a package that are looked at, and folders."""


def import_package(module_id: str, package_dir: Path) -> ModuleType:
    """Import a module's package, whose parent is on ``sys.path``, under its own name.

    The package may be one file.

    Raises:
        BrokenModuleError: The import fails.
        ImportError: Another package of that name is loaded already.
    """
    name = name_of(package_dir)
    stamp = None
    if name not in sys.modules:
        importlib.invalidate_caches()
        # Before it runs: what is written meanwhile is another source.
        stamp = _stamp(package_dir)
    try:
        with noted_imports(package_dir.parent):
            module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise BrokenModuleError(
            f"Module '{module_id}' found at {package_dir.parent} but failed to load: "
            f"{named_text(error)}{advice(error, _dependencies(package_dir))}",
            reason_code="validation_failed",
        ) from error
    if stamp is not None:
        _stamps[package_dir] = stamp
    origin = place_of_package(module)
    if origin is not None and origin.resolve() != package_dir.resolve():
        refuse_other_copy(module_id, package_dir, origin)
    return module


def has_changed(package_dir: Path) -> bool:
    """Tell whether a package's source is another one than when `import_package` imported it."""
    before = _stamps.get(package_dir)
    return name_of(package_dir) in sys.modules and before not in (None, _stamp(package_dir))


def _stamp(package_dir: Path) -> _Stamp:
    """Return what differs where a file below was written since; empty where none can be read."""
    files = _sources(package_dir) if package_dir.is_dir() else [package_dir]
    try:
        # An editor's lock is a link to nowhere.
        there = (file for file in files if file.is_file())
        found = [(str(file), file.stat()) for file in islice(there, _MOST)]
    except OSError:
        return ()
    return tuple((file, stat.st_mtime_ns, stat.st_size) for file, stat in found)


def _sources(package_dir: Path) -> Iterator[Path]:
    """Return the source files, always in the same order: of very many only the first are looked at.

    It is read on the loop that runs the session: a folder with much else in it holds nobody up.
    """
    for folder, folders, files in islice(os.walk(package_dir), _MOST):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(files) if name.endswith(".py"))


@contextmanager
def code_set_aside(package: str) -> Iterator[None]:
    """Have what is imported inside run from its source anew, though the package is loaded.

    When something is raised inside, the package is the one that was loaded before.
    """
    before = loaded_below(package)
    for module in before.values():
        compiled = getattr(getattr(module, "__spec__", None), "cached", None)
        if not compiled:
            continue
        try:
            # Of a change within one second that keeps the size, Python itself sees nothing.
            Path(compiled).unlink(missing_ok=True)
        except OSError as error:
            # It sees all others.
            _log.info("%s can't be removed: %s", compiled, error)
    for name in before:
        del sys.modules[name]
    try:
        yield
    except BaseException:
        for name in loaded_below(package):
            del sys.modules[name]
        sys.modules.update(before)
        raise


_NAME: Final = re.compile(r"[\w.-]+")
_PACKAGES: Final = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "git": "GitPython",
    "jwt": "PyJWT",
    "PIL": "pillow",
    "serial": "pyserial",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
"""Packages by what is imported of them, where a package of that name is none or another one."""


def advice(error: BaseException, dependencies: Sequence[str] = ()) -> str:
    """Return what to do about a failed import, to be put behind its message; mostly nothing.

    Args:
        dependencies: What the module's project requires.
    """
    if isinstance(error, ModuleNotFoundError) and error.name:
        package, _, own = error.name.partition(".")
        if own and package.startswith("amplifier_module_"):
            return f". '{package}' has no '{own}': add that file, or correct the import."
        wanted = _requirements_of(package, dependencies)
        command = pip_install(wanted or [_PACKAGES.get(package, package.replace("_", "-"))])
        declare = (
            ", and name it in `dependencies` of the module's pyproject.toml, from which sessions "
            "install it"
        )
        return (
            f". Install what provides '{package}' for the Python that runs this program: "
            f"`{command}`{'' if wanted else declare}."
        )
    return ""


def _requirements_of(package: str, dependencies: Sequence[str]) -> list[str]:
    """Return the dependencies that may provide a package: those of its name, else the missing."""
    names = {_plain(package), _plain(_PACKAGES.get(package, package))}
    own = [each for each in dependencies if _plain(each) in names]
    return own or [each for each in dependencies if not _is_installed(_plain(each))]


def _plain(requirement: str) -> str:
    """Return the name in a requirement, as packages of one name are compared."""
    found = _NAME.match(requirement.strip())
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def _is_installed(name: str) -> bool:
    try:
        return bool(name) and importlib.metadata.distribution(name) is not None
    except importlib.metadata.PackageNotFoundError:
        return False


def _dependencies(package_dir: Path) -> list[str]:
    """Return what the project around a package requires, as written; empty where none is told."""
    above = (package_dir, package_dir.parent, package_dir.parent.parent)
    files = (folder / "pyproject.toml" for folder in above)
    file = next((each for each in files if each.is_file()), None)
    project = read_toml(file).get("project") if file is not None else None
    needed = project.get("dependencies") if isinstance(project, dict) else None
    return [each for each in needed if isinstance(each, str)] if isinstance(needed, list) else []


def import_module_from_path(module_path: str | Path) -> ModuleType:
    """Import a package directory, or a module that is one file; see `imported_module`."""
    with imported_module(module_path) as module:
        found: ModuleType = module
    return found


@contextmanager
def imported_module(module_path: str | Path, entry_point: str | None = None) -> Iterator[Any]:
    """Import a module as the kernel will, under its own name; inside, it finds its own files.

    Args:
        module_path: Its package directory, the folder that holds it, the one file it is, or the
            package's name.
        entry_point: ``"package.module:function"``; yields an object with its ``mount``,
            ``on_session_ready``, ``__file__`` and ``entry_point`` then, instead of the package.
            The mere name of an entry point says nothing more than the path does.

    Raises:
        ModuleValidationError: There is no package there.
        ModuleLoadError: It can't be imported.
        ImportError: A package of that name is loaded from elsewhere.
    """
    added: list[Path] = []
    path = Path(module_path)
    try:
        if path.suffix == ".py" and path.is_file() and path.name != "__init__.py":
            add_path(path.resolve().parent, added)
            package: Any = import_package(path.stem, path.resolve())
        elif path.exists():
            path = path.parent if path.name == "__init__.py" else path
            package_dir = require_package_dir(path.name, path.resolve())
            add_path(package_dir.parent, added)
            package = import_package(path.name, package_dir)
        else:
            package = importlib.import_module(str(module_path))
        refers = entry_point is not None and any(mark in entry_point for mark in ".:")
        yield _entry(entry_point or "") if refers else package
    finally:
        remove_paths(added)


def _entry(entry_point: str) -> Any:
    module_name, _, function = entry_point.partition(":")
    module: ModuleType = importlib.import_module(module_name)
    return SimpleNamespace(
        entry_point=entry_point,
        __file__=getattr(module, "__file__", None),
        mount=getattr(module, function or "mount", None),
        on_session_ready=getattr(module, "on_session_ready", None),
    )
