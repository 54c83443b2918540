"""Which modules there are to load, without importing one of them."""

import importlib.metadata
import importlib.util
import logging
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path
from time import monotonic
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel.mounting.packages.finding import (
    ENTRY_POINT_GROUP,
    TYPE_TO_MOUNT_POINT,
    find_package_dir,
    kind_by_name,
    read_toml,
)
from amplifier_tui.kernel.mounting.packages.search_path import program_path

logger = logging.getLogger(__name__)


FOLDER_PREFIX: Final = "amplifier-module-"
"""Folders of a search path that are modules start with this; the rest of the name is the id."""

PROGRAM: Final = "amplifier-tui"
"""Distribution of the built-in modules."""

NO_VERSION: Final = "1.0.0"
"""Version of a module that does not tell it."""

_DECLARED_TYPE: Final = re.compile(
    r"""^__amplifier_module_type__\s*(?::[^=\n]+)?=\s*["'](\w+)["']""", re.MULTILINE
)


@dataclass(frozen=True)
class FoundModule:
    """A module that can be loaded by its id.

    Attributes:
        kind: What it says it is, else what its id suggests.
        version: Version of the distribution it comes with.
        distribution: Name of that distribution; empty for a folder of a search path.
        location: The file or folder it lives in; empty if that can't be told without importing.
        entry_point: ``"package.module:function"`` of an installed one; empty for a folder.
    """

    id: str
    kind: str
    version: str
    distribution: str
    location: str
    entry_point: str = ""


def search_dirs() -> list[Path]:
    """Return the directories the environment variable ``AMPLIFIER_MODULES`` names."""
    named = os.environ.get("AMPLIFIER_MODULES", "")
    return [Path(part) for part in named.split(os.pathsep) if part]


def find_modules(search_paths: Sequence[Path] | None = None) -> list[FoundModule]:
    """Return the installed modules, then those in the search paths.

    The paths are directories with ``amplifier-module-*`` folders, :func:`search_dirs` by default;
    one that is missing or can't be read is logged.
    """
    found = [described(name, entry) for name, entry in installed_modules().items()]
    for folder in search_dirs() if search_paths is None else search_paths:
        if not folder.is_dir():
            logger.warning("Module search path %s does not exist", folder)
            continue
        try:
            children = sorted(folder.iterdir())
        except OSError as error:
            logger.error("Module search path %s can't be read: %s", folder, error)
            continue
        found += [
            _in_folder(child)
            for child in children
            if child.name.startswith(FOLDER_PREFIX) and child.is_dir()
        ]
    return found


def described(module_id: str, entry_point: EntryPoint) -> FoundModule:
    """Return what is known of an installed module without importing it."""
    distribution = getattr(entry_point, "dist", None)
    version = getattr(distribution, "version", None)
    file = _source_file(entry_point.value.partition(":")[0].strip())
    return FoundModule(
        id=module_id,
        kind=declared_kind(module_id, file),
        version=version if isinstance(version, str) else NO_VERSION,
        distribution=str(getattr(distribution, "name", None) or ""),
        location=str(file or ""),
        entry_point=entry_point.value,
    )


def _in_folder(folder: Path) -> FoundModule:
    module_id = folder.name.removeprefix(FOLDER_PREFIX)
    package = find_package_dir(module_id, folder)
    project = read_toml(folder / "pyproject.toml").get("project")
    version = project.get("version") if isinstance(project, dict) else None
    return FoundModule(
        id=module_id,
        kind=declared_kind(module_id, package / "__init__.py" if package else None),
        version=version if isinstance(version, str) else NO_VERSION,
        distribution="",
        location=str(folder),
    )


def _source_file(name: str) -> Path | None:
    """Return the file of a module; its parent packages are looked into, not imported."""
    top, *rest = name.split(".")
    try:
        spec: ModuleSpec | None = importlib.util.find_spec(top)
        full = top
        for part in rest:
            if spec is None:
                return None
            full = f"{full}.{part}"
            spec = PathFinder.find_spec(full, spec.submodule_search_locations)
    except (ImportError, ValueError, AttributeError, KeyError):
        # The last one: a folder without __init__.py, whose parent would have to be imported.
        return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def declared_type(file: Path | None) -> str | None:
    """Return the ``__amplifier_module_type__`` a source file sets, without executing it."""
    try:
        text = read_regular(file).decode() if file is not None else ""
    except (OSError, ValueError):
        return None
    declared = _DECLARED_TYPE.search(text)
    return declared[1] if declared is not None else None


def declared_type_of(module_id: str) -> str | None:
    """Return the kind that a module without a source says it is; None if that can't be told."""
    entry_point = installed_modules().get(module_id)
    if entry_point is not None:
        return declared_type(_source_file(entry_point.value.partition(":")[0].strip()))
    for folder in search_dirs():
        path = folder / f"{FOLDER_PREFIX}{module_id}"
        if path.is_dir():
            package = find_package_dir(module_id, path)
            return declared_type(package / "__init__.py" if package else None)
    return None


def declared_kind(module_id: str, file: Path | None) -> str:
    """Return what a module that is not imported says it is, else what its id suggests."""
    declared = declared_type(file)
    return declared if declared in TYPE_TO_MOUNT_POINT else kind_by_name(module_id)


_original: Final = importlib.metadata.entry_points
_Stamp = tuple[tuple[str, int], ...]
_cache: dict[str, EntryPoint] = {}
_stamp: _Stamp = ()
LOOK_AGAIN = 0.1
"""Seconds for which what was seen of the folders counts: a session asks twice for each module."""
_looked = -LOOK_AGAIN


def installed_modules() -> dict[str, EntryPoint]:
    """Return the environment's entry points by module id.

    Of several with one id the built-in one counts, else the first on ``sys.path``. What is in
    folders that were put there for modules is not among them.

    Reading them walks every installed distribution, some milliseconds each time. So the result is
    kept, and read again when a directory of ``sys.path`` changed: something was installed. That is
    noticed within `LOOK_AGAIN` seconds.
    """
    global _cache, _stamp, _looked
    if importlib.metadata.entry_points is not _original:
        # Somebody replaced the lookup, a test most likely: believe it every time.
        return _read()
    now, path = monotonic(), program_path()
    if now - _looked >= LOOK_AGAIN or path != [each for each, _ in _stamp]:
        stamp = tuple((each, _changed_at(each)) for each in path)
        if stamp != _stamp:
            _cache, _stamp = _read(), stamp
        _looked = now
    return _cache


def _read() -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry_point in all_installed():
        if entry_point.name not in found or is_built_in(entry_point):
            found[entry_point.name] = entry_point
    return found


def all_installed() -> list[EntryPoint]:
    """Return the entry points of the program's environment, several of one name among them."""
    if importlib.metadata.entry_points is not _original:
        return list(importlib.metadata.entry_points(group=ENTRY_POINT_GROUP))
    path, seen = program_path(), set[str]()
    found: list[EntryPoint] = []
    for distribution in importlib.metadata.distributions(path=path):
        # A name is parsed out of a long text, so only those of distributions with modules are.
        if not distribution.entry_points.select(group=ENTRY_POINT_GROUP):
            continue
        name = _distribution_name(distribution)
        if name not in seen:
            seen.add(name)
            # Of two copies Python uses the first, be it one without modules.
            copies = iter(importlib.metadata.distributions(name=name, path=path))
            first = next(copies, distribution)
            found += first.entry_points.select(group=ENTRY_POINT_GROUP)
    return found


def is_built_in(entry_point: EntryPoint) -> bool:
    """Tell whether an entry point is one of the modules that come with the program."""
    return _distribution_name(getattr(entry_point, "dist", None)) == PROGRAM


@lru_cache(maxsize=256)
def _distribution_name(distribution: Distribution | None) -> str:
    return str(getattr(distribution, "name", ""))


def _changed_at(path: str) -> int:
    try:
        return os.stat(path or ".").st_mtime_ns
    except OSError:
        return 0
