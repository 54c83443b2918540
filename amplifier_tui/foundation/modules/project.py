"""What a module folder says about itself; nothing of it is executed."""

import importlib.metadata
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_REQUIREMENT = re.compile(rf"^\s*({_NAME})\s*(?:\[[^\]]*\])?\s*(.*)")
_PROVIDED = {"amplifier-core", "amplifier-foundation"}
"""Distributions whose place this program takes inside its own process."""
_NATIVE = ("rust", "wasm", "grpc")


@dataclass(frozen=True, slots=True)
class Project:
    """The parts of a module folder that matter for its installation.

    `is_package` when its `pyproject.toml` describes a package, `requirements` when it has a
    `requirements.txt`; `transport` is `python` or what `amplifier.toml` names instead, and
    `problem` why `pyproject.toml` cannot be read.
    """

    path: Path
    name: str = ""
    dependencies: tuple[str, ...] = ()
    is_package: bool = False
    requirements: bool = False
    transport: str = "python"
    problem: str = ""

    @property
    def is_native(self) -> bool:
        """Whether it is no Python module, so that nothing is to be installed."""
        return self.transport in _NATIVE

    @property
    def is_installed(self) -> bool:
        """Whether a distribution of its name is installed."""
        return bool(self.name) and installed_version(self.name) is not None

    def missing_dependencies(self) -> list[str]:
        """Return the names of dependencies that are not installed; versions are not compared."""
        names = [name for name in map(requirement_name, self.dependencies) if name]
        wanted = [name for name in names if normalised(name) not in _PROVIDED]
        return [name for name in wanted if installed_version(name) is None]

    def git_overrides(self) -> list[str]:
        """Return `name==version` for every git dependency that is installed already."""
        matches = filter(None, map(_REQUIREMENT.match, self.dependencies))
        names = [each[1] for each in matches if each[2].startswith("@") and "git+" in each[2]]
        versions = ((name, installed_version(name)) for name in names)
        return [f"{name}=={version}" for name, version in versions if version is not None]


def read_project(path: Path) -> Project:
    """Read what a module folder says about itself."""
    transport = _transport(path / "amplifier.toml")
    requirements = (path / "requirements.txt").is_file()
    try:
        data = tomllib.loads((path / "pyproject.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Project(path, requirements=requirements, transport=transport)
    except (OSError, ValueError) as error:
        return Project(path, is_package=True, transport=transport, problem=str(error))
    table = data.get("project")
    table = table if isinstance(table, dict) else {}
    dependencies = table.get("dependencies")
    return Project(
        path=path,
        name=str(table.get("name") or ""),
        dependencies=tuple(map(str, dependencies if isinstance(dependencies, list) else ())),
        is_package="project" in data or "build-system" in data,
        requirements=requirements,
        transport=transport,
    )


def requirement_name(text: str) -> str:
    """Return the distribution a requirement text names; empty if it names none."""
    match = _REQUIREMENT.match(text)
    return match[1] if match else ""


def normalised(name: str) -> str:
    """Return a distribution name in its one spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None


def _transport(file: Path) -> str:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "python"
    for table in (data.get("module"), data):
        if isinstance(table, dict) and isinstance(table.get("transport"), str):
            return str(table["transport"]).lower()
    return "python"
