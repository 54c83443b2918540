"""From a bundle to a `PreparedBundle`."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplifier_tui.foundation.bundle.definitions import validate_modes
from amplifier_tui.foundation.bundle.entries import entries_of
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.modules.activator import ModuleActivator
from amplifier_tui.foundation.modules.resolver import BundleModuleResolver
from amplifier_tui.foundation.paths import get_amplifier_home
from amplifier_tui.foundation.protocols import ProgressCallback
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.trust.gate import TrustCallback, TrustGate

_log = logging.getLogger(__name__)


async def prepare(
    bundle: BundleData,
    install_deps: bool = True,
    source_resolver: Callable[[str, str], str] | None = None,
    progress_callback: ProgressCallback | None = None,
    strict: bool = False,
    *,
    trust: TrustCallback | None = None,
    fetch: FetchContext | None = None,
) -> PreparedBundle:
    """Activate every module that has a source, so that sessions can be created.

    Args:
        bundle: The bundle.
        install_deps: Install the modules' packages and what they need.
        source_resolver: Gets module id and source, returns the source to use.
        progress_callback: Gets an action and a detail as work goes on.
        strict: Raise when a module cannot be activated, instead of reporting it in
            `PreparedBundle.activation_failures`.
        trust: Asked before anything is fetched, installed or executed; the default allows
            only what ships with the program.
        fetch: How sources are fetched; replaces `trust` and `progress_callback` for fetching.

    Raises:
        ModuleActivationError: In strict mode, naming every module that failed.
    """
    plan = bundle.to_mount_plan()
    context = fetch or FetchContext(TrustGate(trust), progress_callback)
    activator = ModuleActivator(
        get_amplifier_home() / "cache",
        install_deps,
        bundle.base_path,
        strict,
        fetch=context,
        put_on_path=False,
    )
    if install_deps:
        await _activate_packages(bundle, activator, progress_callback)
    entries = modules_with_source(bundle)
    wanted = [
        {**entry, "source": source_resolver(entry["module"], entry["source"])}
        if source_resolver is not None
        else entry
        for entry in entries
    ]
    mode_warnings = await asyncio.to_thread(validate_modes, bundle)
    paths = await activator.activate_all(wanted, progress_callback)
    found, failed = activator.outcome()
    keys = {
        (entry["module"], entry["source"]): (used["module"], used["source"])
        for entry, used in zip(entries, wanted, strict=True)
    }
    return PreparedBundle(
        mount_plan=plan,
        resolver=BundleModuleResolver(
            paths,
            activator,
            sources={key: found[used] for key, used in keys.items() if used in found},
            failures={key: failed[used] for key, used in keys.items() if used in failed},
        ),
        bundle=bundle,
        bundle_package_paths=list(activator.bundle_package_paths),
        mode_warnings=mode_warnings,
        module_exports={module: str(path) for module, path in paths.items()},
        activation_failures=dict(activator.failures),
        notes=list(activator.notes),
    )


def modules_with_source(bundle: BundleData) -> list[dict[str, Any]]:
    """Return `module`, `source` and `included_by` of every entry with a source, agents' included.

    Entries without a source are left to what is installed.
    """
    found: list[dict[str, Any]] = []
    for entry in entries_of(bundle):
        module, source = entry.data.get("module"), entry.data.get("source")
        if isinstance(module, str) and module and isinstance(source, str) and source:
            owners = bundle.contributors(entry.origin)
            found.append({"module": module, "source": source, "included_by": owners})
    return found


def package_folders(bundle: BundleData) -> list[Path]:
    """Return the folders of a bundle that may be packages of its own, each once."""
    # The bundles of a folder share it, and following links takes its time.
    return list(dict.fromkeys(folder.resolve() for folder in bundle.folders()))


async def _activate_packages(
    bundle: BundleData, activator: ModuleActivator, progress: ProgressCallback | None
) -> None:
    for folder in package_folders(bundle):
        try:
            await activator.activate_bundle_package(folder, progress)
        except BundleError as error:
            _log.warning("The package of the bundle in %s is not installed: %s", folder, error)
            note = ReportItem(
                what=f"package {folder.name}",
                kind="failed",
                part="package",
                why=f"it is not installed: {error}",
                remedy=error.remedy or "Correct its pyproject.toml.",
                asked_by=bundle.name,
                where=str(folder / "pyproject.toml"),
            )
            activator.notes.append(note)
