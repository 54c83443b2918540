"""Where a package's dependencies come from when its `pyproject.toml` says so for uv alone.

`[tool.uv.sources]` names a repository, a folder or a member of a workspace instead of a version.
Other installers ignore it, and uv would fetch whatever it names; so these are resolved here, like
every other source: asked about, fetched into the cache, and installed from there.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.paths import with_subdirectory

_REFS: Final = ("rev", "tag", "branch")


@dataclass(frozen=True, slots=True)
class UvSource:
    """Where a dependency comes from.

    `name` is in its one spelling; `uri` is a git URI or the path of a folder, or empty where
    `problem` says why there is none.
    """

    name: str
    uri: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class UvPackage:
    """A dependency that was fetched from its own source: its folder, and what that was."""

    name: str
    path: Path
    uri: str
    commit: str = ""


def read_uv_sources(data: Mapping[str, Any], folder: Path) -> tuple[UvSource, ...]:
    """Return what the `pyproject.toml` of a folder names; nothing is executed or fetched."""
    table = _table(data, "tool", "uv", "sources")
    if not table:
        return ()
    from packaging.utils import canonicalize_name

    return tuple(
        _source(canonicalize_name(str(name)), given, folder) for name, given in table.items()
    )


def _source(name: str, given: Any, folder: Path) -> UvSource:
    chosen = given
    if isinstance(given, list):
        chosen = next((each for each in given if _is_for_here(each)), {})
    if not isinstance(chosen, Mapping):
        return UvSource(name, problem=f"its source for uv is no table: {given!r}"[:200])
    path, git = chosen.get("path"), chosen.get("git")
    if isinstance(git, str):
        ref = next((f"@{chosen[key]}" for key in _REFS if chosen.get(key)), "")
        uri, inside = f"git+{git.removeprefix('git+')}{ref}", chosen.get("subdirectory")
        return UvSource(name, with_subdirectory(uri, str(inside)) if inside else uri)
    if isinstance(path, str) and "\0" not in path:
        return UvSource(name, os.path.realpath(folder / path))
    if chosen.get("workspace"):
        member = _member(name, folder)
        missing = "the workspace that has it is not there"
        return UvSource(name, str(member)) if member else UvSource(name, problem=missing)
    kinds = ", ".join(map(str, chosen)) or "nothing for this platform"
    return UvSource(name, problem=f"its source for uv ({kinds}) is none that is read here")


def _is_for_here(given: Any) -> bool:
    from packaging.markers import (
        InvalidMarker,
        Marker,
        UndefinedComparison,
        UndefinedEnvironmentName,
    )

    marker = given.get("marker") if isinstance(given, Mapping) else None
    try:
        return not marker or Marker(str(marker)).evaluate({"extra": ""})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return False


def _member(name: str, folder: Path) -> Path | None:
    """Find a package of the workspace that a folder belongs to."""
    from packaging.utils import canonicalize_name

    for root in (folder, *folder.parents):
        workspace = _table(_facts_of(root), "tool", "uv", "workspace")
        if not workspace:
            continue
        patterns = workspace.get("members")
        for pattern in patterns if isinstance(patterns, list) else ():
            for member in _matching(root, str(pattern)):
                if canonicalize_name(str(_table(_facts_of(member), "project").get("name"))) == name:
                    return member
        return None
    return None


def _matching(root: Path, pattern: str) -> list[Path]:
    """Return the folders below a workspace that a pattern of its members means."""
    if not pattern or pattern.startswith("/") or ".." in Path(pattern).parts:
        return []
    return sorted(path for path in root.glob(pattern) if path.is_dir())


def _table(data: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Return a table within tables; empty where there is none."""
    found: Any = data
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _facts_of(folder: Path) -> dict[str, Any]:
    from amplifier_tui.kernel.mounting.packages.finding import read_toml

    return read_toml(folder / "pyproject.toml")
