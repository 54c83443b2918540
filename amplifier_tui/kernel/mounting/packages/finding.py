"""Packages of modules on disk: finding them, importing them, telling their kind."""

import sys
from itertools import islice
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.kernel.mounting.errors import ModuleValidationError

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
_MOST_BYTES: Final = 1_000_000
"""Most that is read of a project's own file."""
_MOST_FOLDERS: Final = 500
"""Most folders of one depth that a module is looked for in, where its source has none."""

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
        return parsed_toml(path)
    except (OSError, ValueError):
        return {}


def parsed_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file says.

    Raises:
        OSError: It can't be read, is no file, or is larger than such files are.
        ValueError: It is no TOML.
    """
    text = read_regular(path, _MOST_BYTES).decode()
    import tomllib  # Most sessions read none.

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def toml_problem(path: Path) -> str:
    """Return why a TOML file that is there can't be read, with the line; empty where it can."""
    try:
        parsed_toml(path)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        return str(error)
    return ""


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
        problem = (
            f"Module '{module_id}' has no valid Python package at {path}: expected "
            f"{package_name(module_id)}/__init__.py there"
        )
        remedy = _remedy_below(module_id, path)
        raise ModuleValidationError(
            f"{problem}. {remedy}" if remedy else problem,
            reason_code="invalid_package_layout",
            reason=problem,
            remedy=remedy,
        )
    return found


def _remedy_below(module_id: str, path: Path) -> str:
    """Say how the source names a module that is one or two folders below; empty if none is."""
    name = package_name(module_id)
    for pattern in ("[!.]*", "[!.]*/[!.]*"):
        for folder in sorted(islice(path.glob(pattern), _MOST_FOLDERS)):
            places = (folder / name, folder / "src" / name)
            if any(map(_is_package, places)) or module_id in declared_modules(folder):
                inside = folder.relative_to(path).as_posix()
                return (
                    f"It is in {inside} there: add that to the source, to one of git as "
                    f"#subdirectory={inside}."
                )
    return ""


def _native_transport(path: Path) -> str | None:
    content = read_toml(path / "amplifier.toml")
    for section in (content, content.get("module"), content.get("amplifier")):
        if isinstance(section, dict) and section.get("transport") in _NATIVE_TRANSPORTS:
            return str(section["transport"])
    return None


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


_SECTIONS: Final = {
    "orchestrator": "session.orchestrator",
    "context": "session.context",
    "provider": "providers",
    "tool": "tools",
    "hook": "hooks",
}


def contradiction(module_id: str, kind: str, declared: Any) -> tuple[str, str]:
    """Return what is wrong with a module in the place of one kind that says it is of another.

    And what to do about it; both are empty where nothing is.
    """
    if declared == kind or declared not in _SECTIONS or kind not in _SECTIONS:
        return "", ""
    article = "an" if declared == "orchestrator" else "a"
    problem = f"{module_id} is {article} {declared}, and no {kind}"
    return problem, f"Its place is `{_SECTIONS[declared]}`."


def check_kind(module_id: str, kind: str, mount: Any) -> None:
    """Raise `ModuleValidationError` if a module says that it is of another kind."""
    function = getattr(mount, "__mount__", mount)
    for name in (getattr(function, "__module__", None), package_of(function)):
        declared = getattr(sys.modules.get(name or ""), "__amplifier_module_type__", None)
        problem, remedy = contradiction(module_id, kind, declared)
        if problem:
            raise ModuleValidationError(
                f"{problem}. {remedy}",
                reason_code="invalid_module_metadata",
                reason=problem,
                remedy=remedy,
            )
