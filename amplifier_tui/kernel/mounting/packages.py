"""Packages of modules on disk: finding them, importing them, telling their kind."""

import importlib
import importlib.util
import logging
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final, NoReturn

from amplifier_tui.kernel.mounting.errors import BrokenModuleError, ModuleValidationError

TYPE_TO_MOUNT_POINT: Final = {
    "orchestrator": "orchestrator",
    "provider": "providers",
    "tool": "tools",
    "hook": "hooks",
    "context": "context",
    "resolver": "module-source-resolver",
}

ENTRY_POINT_GROUP: Final = "amplifier.modules"
"""Entry points of this group are modules."""

# What a module's name says about its kind; the first that fits.
_NAMED: Final = (
    ("orchestrat", "orchestrator"),
    ("loop", "orchestrator"),
    ("provider", "provider"),
    ("tool", "tool"),
    ("hook", "hook"),
    ("context", "context"),
)
_NATIVE_TRANSPORTS: Final = frozenset({"wasm", "grpc", "rust"})

_INSTALLED: Final = re.compile(r"[\\/](site|dist)-packages$")

_log = logging.getLogger(__name__)

# Loaders of several sessions share sys.path: an entry stays until the last one is done with it.
_path_users: Counter[str] = Counter()
_path_lock = threading.Lock()

_Stamp = tuple[tuple[str, int, int], ...]
_stamps: dict[str, _Stamp] = {}
"""Name, time (ns) and size of each source file of a package, as it was imported."""
_MOST: Final = 1_000
"""Files of a package that are looked at, and folders."""


def package_name(module_id: str) -> str:
    """Return the package a module of this id lives in by convention."""
    return f"amplifier_module_{module_id.replace('-', '_')}"


def package_of(function: Any) -> str:
    """Return the package that the code of a module's function is in; empty when it can't be told.

    That is the outermost one, but for the program's own modules, which share theirs.
    """
    name = str(getattr(function, "__module__", None) or "")
    first, *inner = name.split(".")
    if first == __name__.partition(".")[0]:
        return str(getattr(sys.modules.get(name), "__package__", None) or "")
    # A namespace package is nobody's own.
    while inner and getattr(sys.modules.get(first), "__file__", None) is None:
        first += f".{inner.pop(0)}"
    return first


def find_package_dir(module_id: str, path: Path) -> Path | None:
    """Return the directory of a module's package, or None if there is no package.

    The path is the package itself, or the directory that holds it, directly or in ``src``.
    """
    if _is_package(path):
        return path
    if not path.is_dir():
        return None
    roots = [path, path / "src"]
    candidates = [root / package_name(module_id) for root in roots]
    candidates += [found for root in roots for found in sorted(root.glob("amplifier_module_*"))]
    declared = declared_modules(path)
    # A package of any name, as spec 000 has it, if the project's own entry point points to it.
    values = [declared[module_id]] if module_id in declared else list(declared.values())
    names = [value.partition(":")[0].partition(".")[0].strip() for value in values]
    candidates += [root / name for root in roots for name in names if name.isidentifier()]
    return next((candidate for candidate in candidates if _is_package(candidate)), None)


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").is_file()


def declared_modules(path: Path) -> dict[str, str]:
    """Return the modules a project's ``pyproject.toml`` declares, ``package:mount`` by id."""
    content = read_toml(path / "pyproject.toml")
    project = content.get("project")
    groups = project.get("entry-points") if isinstance(project, dict) else None
    group = groups.get(ENTRY_POINT_GROUP) if isinstance(groups, dict) else None
    if not isinstance(group, dict):
        return {}
    return {name: value for name, value in group.items() if isinstance(value, str)}


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file says; nothing if it can't be read."""
    try:
        text = path.read_text(encoding="utf-8")
        import tomllib  # Most sessions read none.

        return tomllib.loads(text)
    except (OSError, ValueError):
        return {}


def require_package_dir(module_id: str, path: Path) -> Path:
    """Return the directory of a module's package.

    Raises `ModuleValidationError` if there is none at ``path`` that this kernel can run.
    """
    if not path.exists():
        raise ModuleValidationError(
            f"Module '{module_id}' has no valid Python package at {path}: the path does not exist. "
            "Check the module's source in the bundle.",
            reason_code="missing_source",
        )
    transport = _native_transport(path)
    if transport is not None:
        raise ModuleValidationError(
            f"Module '{module_id}' at {path} asks for the transport '{transport}', and this kernel "
            "runs Python modules only",
            reason_code="invalid_package_layout",
        )
    found = find_package_dir(module_id, path)
    if found is None:
        raise ModuleValidationError(
            f"Module '{module_id}' has no valid Python package at {path}: expected "
            f"{package_name(module_id)}/__init__.py there",
            reason_code="invalid_package_layout",
        )
    return found


def _native_transport(path: Path) -> str | None:
    content = read_toml(path / "amplifier.toml")
    for section in (content, content.get("module"), content.get("amplifier")):
        if isinstance(section, dict) and section.get("transport") in _NATIVE_TRANSPORTS:
            return str(section["transport"])
    return None


def import_package(module_id: str, package_dir: Path) -> ModuleType:
    """Import a module's package, whose parent is on ``sys.path``, under its own name.

    The package may be one file.

    Raises:
        BrokenModuleError: The import fails.
        ImportError: Another package of that name is loaded already.
    """
    name = package_dir.stem if package_dir.is_file() else package_dir.name
    stamp = None
    if name not in sys.modules:
        importlib.invalidate_caches()
        # Before it runs: what is written meanwhile is another source.
        stamp = _stamp(package_dir)
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise BrokenModuleError(
            f"Module '{module_id}' found at {package_dir.parent} but failed to load: "
            f"{type(error).__name__}: {error}{advice(error)}",
            reason_code="validation_failed",
        ) from error
    if stamp is not None:
        _stamps[name] = stamp
    file = getattr(module, "__file__", None)
    origin = Path(file).resolve() if file else None
    if origin is not None and not package_dir.is_file():
        origin = origin.parent
    if origin is not None and origin != package_dir.resolve():
        refuse_other_copy(module_id, package_dir, origin)
    return module


def has_changed(package_dir: Path) -> bool:
    """Tell whether a package's source is another one than when `import_package` imported it."""
    name = package_dir.stem if package_dir.is_file() else package_dir.name
    return name in sys.modules and name in _stamps and _stamps[name] != _stamp(package_dir)


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
    before = _loaded_below(package)
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
        for name in _loaded_below(package):
            del sys.modules[name]
        sys.modules.update(before)
        raise


def _loaded_below(package: str) -> dict[str, ModuleType]:
    inside = f"{package}."
    # Another thread may be importing; only a copy holds still.
    found = ((name, module) for name, module in sys.modules.copy().items() if package)
    return {name: module for name, module in found if name == package or name.startswith(inside)}


def refuse_other_copy(module_id: str, wanted: Path, loaded: Path) -> NoReturn:
    """Raise ``ImportError``: a package of this name is loaded from elsewhere."""
    raise ImportError(
        f"Refusing to load '{module_id}' from {wanted}: it is already loaded from {loaded}. "
        "One process holds one copy of a module; restart with --resume to use the other."
    )


def advice(error: BaseException) -> str:
    """Return what to do about a failed import, to be put behind its message; mostly nothing."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f". Install what provides '{error.name.partition('.')[0]}'."
    return ""


def kind_by_name(module_id: str) -> str:
    """Return the kind a module's id suggests; "tool" if it suggests none."""
    return next((kind for part, kind in _NAMED if part in module_id), "tool")


def kind_of(module_id: str, module: Any) -> str:
    """Return what an imported module says it is, else what its id suggests.

    Raises:
        ModuleValidationError: It says a kind that does not exist.
    """
    declared = getattr(module, "__amplifier_module_type__", None)
    if declared is None:
        return kind_by_name(module_id)
    if declared not in TYPE_TO_MOUNT_POINT:
        raise ModuleValidationError(
            f"Module '{module_id}' declares __amplifier_module_type__ = {declared!r}; "
            f"valid types are: {', '.join(sorted(TYPE_TO_MOUNT_POINT))}",
            reason_code="invalid_module_metadata",
        )
    return str(declared)


def add_path(path: Path, added: list[Path], *, as_installed: bool = False) -> None:
    """Put a directory first on ``sys.path``, and into ``added``, unless it is there for good.

    With ``as_installed`` it comes right before what is installed: behind Python's own modules and
    behind what was put there earlier.
    """
    text = str(path)
    with _path_lock:
        if path in added or (text in sys.path and not _path_users[text]):
            return
        if text not in sys.path:
            places = (index for index, each in enumerate(sys.path) if _INSTALLED.search(each))
            sys.path.insert(next(places, len(sys.path)) if as_installed else 0, text)
        _path_users[text] += 1
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
        entry_point: ``"package.module:function"``; yields an object with its ``mount`` and
            ``on_session_ready`` then, instead of the package. The mere name of an entry point
            says nothing more than the path does.

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
        mount=getattr(module, function or "mount", None),
        on_session_ready=getattr(module, "on_session_ready", None),
    )
