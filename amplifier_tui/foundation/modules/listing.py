"""Every module that can be mounted, where it comes from, and which of several wins."""

import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from urllib.parse import unquote, urlsplit

from amplifier_tui.base.commands.programs import find_program
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.modules.apart import ApartFolders
from amplifier_tui.foundation.modules.install_state import InstallStateManager
from amplifier_tui.foundation.settings.settings import BUILT_IN
from amplifier_tui.kernel.mounting.discovery import (
    all_installed,
    declared_kind,
    described,
    find_modules,
    is_built_in,
)
from amplifier_tui.kernel.mounting.packages.finding import find_package_dir


@dataclass(frozen=True, slots=True)
class ListedModule:
    """One place a module id can come from.

    Attributes:
        origin: In words: `built-in`, a package, a source, a folder, a variable.
        location: The file or folder; empty if that can't be told without importing.
        wins: Whether it is what the id means in an entry without a source.
        only_named: It is mounted only where a bundle names its source.
        remedy: The command that removes it, where an earlier version of this program installed it
            into the environment for a bundle.
    """

    id: str
    kind: str
    version: str
    origin: str
    location: str
    wins: bool = False
    only_named: bool = False
    remedy: str = ""


def list_modules(
    home: Path, project: Path, environ: Mapping[str, str] | None = None
) -> list[ListedModule]:
    """Return every module, by id, what wins first.

    Args:
        home: The Amplifier home.
        project: The folder whose `.amplifier/modules` counts.
        environ: Where `AMPLIFIER_MODULE_<ID>` are looked up; None for nowhere.
    """
    cache = home / "cache"
    found = [*_given(project, environ or {}), *_installed(cache), *_on_search_paths()]
    found += _fetched(cache)
    winners: set[str] = set()
    rows: list[ListedModule] = []
    for module in found:
        wins = not module.only_named and module.id not in winners
        if wins:
            winners.add(module.id)
        rows.append(replace(module, wins=wins))
    return sorted(rows, key=lambda row: (row.id, not row.wins, row.only_named))


def _given(project: Path, environ: Mapping[str, str]) -> list[ListedModule]:
    """What takes the place of a source wherever the id is named."""
    prefix = "AMPLIFIER_MODULE_"
    rows = [
        _in_folder(name.removeprefix(prefix).lower().replace("_", "-"), Path(value), f"${name}")
        for name, value in environ.items()
        if name.startswith(prefix) and value
    ]
    folder = project / ".amplifier" / "modules"
    children = sorted(folder.iterdir()) if folder.is_dir() else []
    return [*rows, *(_in_folder(each.name, each, "project") for each in children if each.is_dir())]


def _in_folder(module_id: str, folder: Path, origin: str) -> ListedModule:
    package = find_package_dir(module_id, folder)
    kind = declared_kind(module_id, package / "__init__.py" if package else None)
    return ListedModule(module_id, kind, "", f"{origin}: {folder}", str(folder))


def _installed(cache: Path) -> list[ListedModule]:
    points = sorted(all_installed(), key=lambda point: not is_built_in(point))
    state = InstallStateManager(cache)
    rows: list[ListedModule] = []
    for point in points:
        facts = described(point.name, point)
        origin = BUILT_IN if is_built_in(point) else f"package {facts.distribution}"
        remedy = _removal(point, cache, state)
        rows.append(
            ListedModule(facts.id, facts.kind, facts.version, origin, facts.location, remedy=remedy)
        )
    return rows


def _removal(point: EntryPoint, cache: Path, state: InstallStateManager) -> str:
    """Return what removes a module that was installed from a fetched source; else nothing."""
    distribution = getattr(point, "dist", None)
    if distribution is None or is_built_in(point):
        return ""
    try:
        direct = json.loads(distribution.read_text("direct_url.json") or "{}")
        place = Path(unquote(urlsplit(str(direct["url"])).path))
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    if not (place.is_relative_to(cache) or state.is_known(place)):
        return ""
    pip = [sys.executable, "-m", "pip", "uninstall", distribution.name]
    if find_program("uv"):
        pip = ["uv", "pip", "uninstall", "--python", sys.executable, distribution.name]
    return shlex.join(pip)


def _on_search_paths() -> list[ListedModule]:
    return [
        ListedModule(each.id, each.kind, each.version, each.location, each.location)
        for each in find_modules()
        if not each.entry_point
    ]


def _fetched(cache: Path) -> list[ListedModule]:
    rows: list[ListedModule] = []
    for folder in ApartFolders(cache).all():
        commit = f" at {folder.commit[:8]}" if folder.commit else ""
        for module_id, package in folder.modules().items():
            kind = declared_kind(module_id, package / "__init__.py")
            origin = f"{folder.source}{commit}"
            rows.append(ListedModule(module_id, kind, "", origin, str(package), only_named=True))
    return rows
