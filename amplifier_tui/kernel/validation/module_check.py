"""Checking a module as its author has it on disk: the project around the package too."""

import importlib
import re
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.kernel.mounting.discovery import (
    FOLDER_PREFIX,
    declared_kind,
    declared_type,
    find_modules,
)
from amplifier_tui.kernel.mounting.errors import named_text, place_of_error
from amplifier_tui.kernel.mounting.packages.finding import (
    TYPE_TO_MOUNT_POINT,
    declared_modules,
    find_package_dir,
    package_name,
    read_toml,
    toml_problem,
)
from amplifier_tui.kernel.mounting.packages.importing import imported_module
from amplifier_tui.kernel.validation.base import (
    ValidationCheck,
    ValidationResult,
    failure,
    success,
)
from amplifier_tui.kernel.validation.keywords import unknown_keywords
from amplifier_tui.kernel.validation.kinds import VALIDATORS
from amplifier_tui.kernel.validation.module_validator import ModuleTrial
from amplifier_tui.kernel.validation.trials import settle, strays, unawaited

_SNIPPET: Final = '[project.entry-points."amplifier.modules"]\n{id} = "{package}:mount"'
_SHOWN: Final = 5
"""Ids that are named where one is not found."""
_LINE: Final = re.compile(r"at line (\d+)")
_PREFIXES: Final = (FOLDER_PREFIX, "amplifier_module_")


@dataclass(frozen=True)
class CheckedModule:
    """A module and what was found in it."""

    module_id: str
    kind: str
    path: str
    result: ValidationResult


async def check_module(
    target: str,
    kind: str | None = None,
    config: dict[str, Any] | None = None,
    trial: ModuleTrial | None = None,
) -> CheckedModule:
    """Check a module.

    Args:
        target: Folder of the project or of the package, or the one file of a module that is no
            package; or the id of an installed module.
        kind: Kind to check it as. Defaults to what the module says it is, else what its id
            suggests.
        config: What to mount it with.
        trial: Looks at what it adds to another than the kernel; None for nothing.

    Raises:
        FileNotFoundError: There is neither such a path nor an installed module of that id, or the
            path is none of one module.
        ValueError: It is of a kind that nothing is known to check of.
    """
    place = _on_disk(target) or _installed(target)
    declared = declared_type(place.source)
    kind = _checkable(kind or declared_kind(place.module_id, place.source))
    result = ValidationResult(kind, place.path)
    if declared is not None and declared not in TYPE_TO_MOUNT_POINT:
        result.add(_unknown_type(declared, place))
    unread = place.project and _unread_project(place.project / "pyproject.toml")
    if unread:
        result.add(unread)
    if place.project and (no_list := _check_dependencies(place.project / "pyproject.toml")):
        result.add(no_list)
    if place.importable is None:
        result.add(_no_package(place))
    else:
        validator = VALIDATORS[kind](place.module_id, runs=True, trial=trial)
        with unawaited() as left, strays() as raised:
            found = await validator.validate(place.importable, place.entry_point, config)
            await settle()
        result.checks += found.checks
        # It may have been mounted more than once.
        result.checks += dict.fromkeys(map(_background_task, raised))
        for text, where in left.items():
            problem = f"{text}: nothing of it is run"
            result.fail("unawaited", problem, "Write `await` before that call", "warning", where)
        result.checks += unknown_keywords(_sources(place))
        if place.project is not None and found.checks[0].passed and not unread:
            result.add(_check_entry_point(place, place.project))
    return CheckedModule(place.module_id, kind, place.path, result)


@dataclass(frozen=True)
class _Place:
    """Where a module is: on disk, in a project, or installed under an entry point."""

    module_id: str
    path: str
    importable: str | Path | None
    source: Path | None
    entry_point: str | None = None
    project: Path | None = None
    declared: dict[str, str] = field(default_factory=dict)


def _sources(place: _Place) -> Path | None:
    """Return the package of a module, or the one file it is."""
    source = place.source
    return source.parent if source is not None and source.name == "__init__.py" else source


def _on_disk(target: str) -> _Place | None:
    path = Path(target)
    try:
        if not target or not path.exists():
            return None
    except OSError as error:
        raise FileNotFoundError(f"'{target}' can't be read: {error.strerror}") from error
    except ValueError:
        # No file system has names like that.
        return None
    if path.is_file() and path.suffix != ".py" and path.name != "pyproject.toml":
        raise FileNotFoundError(f"'{target}' is a file: give the folder of the module")
    folder = (path if path.is_dir() else path.parent).resolve()
    if path.suffix == ".py" and not (folder / "__init__.py").is_file():
        return _Place(_id_of(path.with_suffix(""), {}), str(path), path, path)
    project = _project_of(folder)
    declared = declared_modules(project)
    if folder == project and len(declared) > 1:
        raise FileNotFoundError(
            f"'{target}' declares {len(declared)} modules: give the folder of the package of one, "
            f"or the id of an installed one ({_some(declared)})"
        )
    module_id = _id_of(folder, declared)
    package = find_package_dir(module_id, folder)
    source = package / "__init__.py" if package is not None else None
    return _Place(module_id, str(path), package, source, project=project, declared=declared)


def _installed(module_id: str) -> _Place:
    modules = find_modules()
    for found in modules:
        if found.id == module_id:
            source = Path(found.location) if found.entry_point else None
            importable = found.entry_point.partition(":")[0] or found.location
            return _Place(module_id, found.location, importable, source, found.entry_point or None)
    raise FileNotFoundError(
        f"There is no folder '{module_id}', and no module of that id is installed"
        f"{did_you_mean(module_id, [found.id for found in modules]) or '.'}"
    )


def _some(module_ids: Iterable[str]) -> str:
    shown = [*module_ids]
    return ", ".join(shown[:_SHOWN] + ["..."] * (len(shown) > _SHOWN))


def _checkable(kind: str) -> str:
    if kind not in VALIDATORS:
        raise ValueError(
            f"There is nothing to check a module of kind '{kind}' by; "
            f"kinds are: {', '.join(sorted(VALIDATORS))}"
        )
    return kind


def _project_of(folder: Path) -> Path:
    """Return the folder, or the one above it that has the ``pyproject.toml``."""
    for candidate in (folder, folder.parent, folder.parent.parent):
        if (candidate / "pyproject.toml").is_file():
            return candidate
        if candidate.name != "src" and not (candidate / "__init__.py").is_file():
            break
    return folder


def _id_of(folder: Path, declared: dict[str, str]) -> str:
    for module_id, value in declared.items():
        if len(declared) == 1 or value.partition(":")[0].partition(".")[0] == folder.name:
            return module_id
    name = folder.name or str(folder)
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name.replace("_", "-")


def _unknown_type(declared: str, place: _Place) -> ValidationCheck:
    return failure(
        "module_type",
        f"__amplifier_module_type__ is '{declared}', which is no kind of module",
        f"Valid types are: {', '.join(sorted(TYPE_TO_MOUNT_POINT))}",
        where=str(place.source or ""),
    )


def _unread_project(file: Path) -> ValidationCheck | None:
    """Return what is wrong with a file that sessions refuse, whatever the code is like."""
    wrong = toml_problem(file)
    if not wrong:
        return None
    line = _LINE.search(wrong)
    return failure(
        "pyproject",
        f"pyproject.toml can't be read: {wrong}",
        "Correct that place, then validate it again",
        where=f"{file}:{line[1]}" if line else str(file),
    )


def _check_dependencies(file: Path) -> ValidationCheck | None:
    """Return what is wrong with the packages that a project needs; None for nothing."""
    project = read_toml(file).get("project")
    needed = project.get("dependencies", []) if isinstance(project, dict) else []
    if isinstance(needed, list):
        return None
    return failure(
        "pyproject",
        f"dependencies in pyproject.toml should be a list, got {type(needed).__name__}: "
        "no session installs them",
        'Write: dependencies = ["package"]',
        "warning",
        str(file),
    )


def _no_package(place: _Place) -> ValidationCheck:
    return failure(
        "module_importable",
        f"Failed to import module: no Python package found in {place.path}",
        f"Put the code into {package_name(place.module_id)}/__init__.py, or point the entry point "
        "in pyproject.toml to the package",
    )


def _background_task(error: BaseException) -> ValidationCheck:
    return failure(
        "background_task",
        f"A background task failed: {named_text(error)}",
        "Correct that line, or catch the error there; a session goes on without the task",
        "warning",
        place_of_error(error),
    )


def _check_entry_point(place: _Place, project: Path) -> ValidationCheck:
    name, package = "entry_point", Path(place.importable or "")
    snippet = _SNIPPET.format(id=place.module_id, package=package.name)
    remedy = f"Write into pyproject.toml:\n{snippet}"
    file = project / "pyproject.toml"
    if not file.is_file():
        return failure(
            name, "No pyproject.toml: the module mounts from a path only", remedy, "warning"
        )
    where = str(file)
    if not place.declared:
        return failure(
            name,
            "pyproject.toml has no entry point for the module: it mounts from a path only",
            remedy,
            "warning",
            where=where,
        )
    value = place.declared.get(place.module_id) or next(iter(place.declared.values()))
    module_name, _, function = value.partition(":")
    try:
        with imported_module(package):
            mount = getattr(importlib.import_module(module_name.strip()), function.strip(), None)
    except Exception as error:
        return failure(name, f"Entry point '{value}' can't be loaded: {error}", remedy, where=where)
    if not callable(mount):
        if value.replace(" ", "") == f"{package.name}:mount":
            remedy = "pyproject.toml is right about it: define mount() in that package"
        return failure(name, f"Entry point '{value}' is not a function", remedy, where=where)
    return success(name, f"Entry point '{value}' is a function")
