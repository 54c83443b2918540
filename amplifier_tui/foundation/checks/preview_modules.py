"""What a bundle would mount and where each module comes from; no module is imported."""

import asyncio
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.foundation.bundle.entries import ModuleEntry, entries_of
from amplifier_tui.foundation.bundle.model import BundleData, ModuleKind, Origin
from amplifier_tui.foundation.exceptions import BundleError, SourceNotFetchedError
from amplifier_tui.foundation.paths import parse_uri, redact_uri
from amplifier_tui.foundation.settings.expand import expand_variables
from amplifier_tui.foundation.sources.local import package_folder
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.keys.addresses import missing_keys
from amplifier_tui.kernel.mounting import discovery
from amplifier_tui.kernel.mounting.discovery import FOLDER_PREFIX, declared_type_of, search_dirs
from amplifier_tui.kernel.mounting.errors import ModuleValidationError
from amplifier_tui.kernel.mounting.packages.finding import contradiction, require_package_dir

ModuleState = Literal["ready", "not_fetched", "missing"]


@dataclass(frozen=True, slots=True)
class PreviewModule:
    """One module a bundle would mount.

    Attributes:
        instance: The entry's own `id`, if it has one.
        source: As written, credentials taken out; empty for what is installed.
        origins: Who contributed the entry, the last one with the last word.
        detail: What distinguishes the entry, e.g. a provider's model.
        problem: Why it is not ready.
        remedy: What to do, where it is a module of another kind.
        missing_keys: Variables a provider needs and does not find.
    """

    module_id: str
    kind: ModuleKind
    instance: str = ""
    source: str = ""
    origins: tuple[Origin, ...] = ()
    state: ModuleState = "ready"
    detail: str = ""
    problem: str = ""
    remedy: str = ""
    missing_keys: tuple[str, ...] = ()


async def preview_modules(
    bundle: BundleData, sources: SimpleSourceResolver, environ: Mapping[str, str]
) -> list[PreviewModule]:
    """Describe the modules of a bundle with its settings applied, in mount order.

    `sources` is used to look only, so it should be offline.
    """
    installed = installed_modules()
    known = installed | with_source(bundle)
    return [
        await _describe(entry, bundle, sources, environ, installed, known)
        for entry in entries_of(bundle)
        if not entry.agent and entry.section != "spawn"
    ]


def installed_modules() -> set[str]:
    """Return the ids of the modules that need no source, the built-in ones among them.

    They are installed, or in a folder that ``AMPLIFIER_MODULES`` names; none is imported.
    """
    folders = (each for path in search_dirs() for each in path.glob(f"{FOLDER_PREFIX}*"))
    found = {each.name.removeprefix(FOLDER_PREFIX) for each in folders if each.is_dir()}
    return found.union(discovery.installed_modules())


def with_source(bundle: BundleData) -> set[str]:
    """Return the ids of the modules that a bundle says where to find."""
    return {entry.module for entry in entries_of(bundle) if entry.data.get("source")} - {""}


_ALIKE: Final = 0.75
"""How much alike two ids are, of which one may be meant for the other: kinds begin them alike."""


def not_installed(module: str, installed: set[str], known: Set[str] = frozenset()) -> str:
    """Return the problem of an entry without a source, with the nearest id; empty for none.

    Args:
        known: Ids that may be meant beside those that are installed.
    """
    if module in installed or package_folder(f"amplifier_module_{module}") is not None:
        return ""
    near = did_you_mean(module, sorted((installed | known) - {module}), least=_ALIKE)
    return f"No module '{module}' is installed{near}"


def wrong_kind(entry: ModuleEntry) -> tuple[str, str]:
    """Return what is wrong with a module of another kind than its place asks for, and a remedy.

    Both are empty where nothing is, and where that can't be told without running its code.
    """
    if entry.data.get("source") or not entry.module:
        return "", ""
    return contradiction(entry.module, entry.kind, declared_type_of(entry.module))


async def _describe(
    found: ModuleEntry,
    bundle: BundleData,
    sources: SimpleSourceResolver,
    environ: Mapping[str, str],
    installed: set[str],
    known: set[str],
) -> PreviewModule:
    entry, module = found.data, found.module
    source = entry.get("source")
    state: ModuleState = "ready"
    problem = remedy = ""
    if isinstance(source, str) and source:
        try:
            resolved = await sources.resolve(source)
            if module and parse_uri(source).is_file:
                problem = await asyncio.to_thread(_no_package, module, resolved.active_path)
                state = "missing" if problem else state
        except SourceNotFetchedError as error:
            state, problem = "not_fetched", error.message
        except BundleError as error:
            state, problem = "missing", error.message
    else:
        problem, remedy = wrong_kind(found)
        problem = problem or not_installed(module, installed, known)
        state = "missing" if problem else state
    missing = missing_keys(entry, environ) if found.kind == "provider" else []
    return PreviewModule(
        module_id=module,
        kind=found.kind,
        instance=str(entry.get("id") or ""),
        source=redact_uri(str(source or "")),
        origins=tuple(bundle.origins.get(found.origin, ())),
        state=state,
        detail=_detail(entry, environ),
        problem=problem,
        remedy=remedy,
        missing_keys=tuple(missing),
    )


def _no_package(module: str, path: Path) -> str:
    """Return why a folder on this machine, from which nothing is built, holds no such module."""
    if not path.is_dir():
        return f"A module is a folder with a Python package, and {path} is none"
    try:
        require_package_dir(module, path)
    except ModuleValidationError as error:
        return str(error).removeprefix(f"Module '{module}' ")
    return ""


def _detail(entry: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    config = entry.get("config")
    if not isinstance(config, Mapping):
        return ""
    value = config.get("default_model") or config.get("model") or ""
    return str(expand_variables(value, environ)) if isinstance(value, str) else ""
