"""Bundles as the picker shows them; nothing here runs a bundle's code or touches the network."""

import asyncio
from dataclasses import replace
from pathlib import Path

from amplifier_tui.foundation.checks.opening_report import check_session_modules
from amplifier_tui.foundation.checks.preview import BundleDescription
from amplifier_tui.foundation.checks.preview_modules import PreviewModule
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.client import BundleCard, BundlePreview, PlannedModule
from amplifier_tui.paths import shipped_bundles_dir


async def list_bundles(cwd: Path, active: str) -> tuple[BundleCard, ...]:
    """Return every bundle of a project, broken ones included."""
    previews = await _workspace(cwd).previews()
    return tuple([_card(await asyncio.to_thread(_judged, each), active) for each in previews])


async def preview_bundle(cwd: Path, name: str, active: str) -> BundlePreview:
    """Return what a bundle would mount."""
    found = await asyncio.to_thread(_judged, await _workspace(cwd).preview(name))
    return BundlePreview(
        card=_card(found, active),
        version=found.version,
        modules=tuple(_module(module) for module in found.modules),
        agents=tuple(agent.name for agent in found.agents),
        context_files=found.context_files,
        base_tokens=found.base_tokens,
        report=found.report,
    )


def _workspace(cwd: Path) -> Workspace:
    return Workspace.open(cwd, shipped=(shipped_bundles_dir(),))


def _judged(found: BundleDescription) -> BundleDescription:
    """Return what is known of a bundle, where `bundle validate` has an error with what that costs.

    A session goes without a module that is set wrongly, but for its own two.
    """
    from amplifier_tui.foundation.checks.findings import first_error

    wrong = first_error(found) if found.state in ("ready", "needs_key") else None
    if wrong is None or found.bundle is None:
        return found
    try:
        check_session_modules(found.bundle)
    except BundleError as error:
        return replace(found, state="invalid", error=str(error))
    return replace(found, state="incomplete", error=str(wrong))


def _card(found: BundleDescription, active: str) -> BundleCard:
    return BundleCard(
        name=found.name,
        description=found.description,
        origin=found.origin,
        state=found.state,
        error=found.error,
        active=found.name == active,
        missing=found.missing_keys,
    )


def _module(module: PreviewModule) -> PlannedModule:
    origin = module.origins[-1] if module.origins else None
    return PlannedModule(
        module_id=module.module_id,
        kind=module.kind,
        source=module.source or "built-in",
        origin=origin.bundle if origin is not None else "",
        detail="; ".join(part for part in (module.detail, module.problem) if part),
    )
