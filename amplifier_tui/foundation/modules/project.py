"""What a module folder says about itself; nothing of it is executed."""

import importlib.metadata
import re
from pathlib import Path

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.sources.uv import UvPackage, UvSource, read_uv_sources

PROVIDED = frozenset({"amplifier-core", "amplifier-foundation"})
"""Distributions whose place this program takes inside its own process."""
_NATIVE = ("rust", "wasm", "grpc")


@dataclass(frozen=True, slots=True)
class Project:
    """The parts of a module folder that matter for its installation.

    `is_package` when its `pyproject.toml` describes a package, `requirements` when it has a
    `requirements.txt`; `transport` is `python` or what `amplifier.toml` names instead, `problem`
    why `pyproject.toml` cannot be read, and `is_dynamic` that only building it tells what it needs.
    `sources` says where some of its dependencies come from, `fetched` those that are here.
    """

    path: Path
    name: str = ""
    dependencies: tuple[str, ...] = ()
    is_package: bool = False
    requirements: bool = False
    transport: str = "python"
    problem: str = ""
    is_dynamic: bool = False
    sources: tuple[UvSource, ...] = ()
    fetched: tuple[UvPackage, ...] = ()

    @property
    def is_native(self) -> bool:
        """Whether it is no Python module, so that nothing is to be installed."""
        return self.transport in _NATIVE

    @property
    def is_provided(self) -> bool:
        """Whether it is a package whose place this program takes."""
        return normalised(self.name) in PROVIDED


def read_project(path: Path) -> Project:
    """Read what a module folder says about itself."""
    from amplifier_tui.kernel.mounting.packages.finding import parsed_toml

    transport = _transport(path / "amplifier.toml")
    requirements = (path / "requirements.txt").is_file()
    try:
        data = parsed_toml(path / "pyproject.toml")
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
        is_dynamic="dependencies" in (table.get("dynamic") or ()),
        sources=read_uv_sources(data, path),
    )


@dataclass(frozen=True, slots=True)
class SourceCommit:
    """A source as written, and its commit or the digest of what was downloaded.

    A folder of a fetched bundle has the commit of the bundle.
    """

    source: str
    commit: str = ""


def _transport(file: Path) -> str:
    from amplifier_tui.kernel.mounting.packages.finding import read_toml

    data = read_toml(file)
    for table in (data.get("module"), data):
        if isinstance(table, dict) and isinstance(table.get("transport"), str):
            return str(table["transport"]).lower()
    return "python"


def normalised(name: str) -> str:
    """Return a distribution name in its one spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_version(name: str) -> str | None:
    """Return the version of a distribution in the program's environment, or None."""
    from amplifier_tui.kernel.mounting.packages.search_path import program_path

    try:
        for found in importlib.metadata.distributions(name=name, path=program_path()):
            return found.version
    except ValueError:
        return None
    return None
