"""Where a session works: the user's folder, or its own copy of what its bundle brings."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from amplifier_tui.foundation.bundle.model import BundleData, is_settings_origin
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.host.events import Level
from amplifier_tui.host.requests import SessionPlayback
from amplifier_tui.host.session.carrying import Carried
from amplifier_tui.host.session.places.workspaces import (
    WorkspaceError,
    beginning_of,
    make_workspace,
    template_of,
)
from amplifier_tui.host.store.session_store import SessionStore


async def working_folder(
    prepared: PreparedBundle,
    store: SessionStore,
    cwd: Path,
    carried: Carried | None,
    say: Callable[[Level, str, str], None],
    playback: SessionPlayback | None = None,
) -> Path:
    """Return the folder a session works in; its own copy is made, and noted in its card.

    Args:
        cwd: The user's folder.
        carried: The session it goes on from, whose copy may be its beginning.
        say: Shows a line to the user: level, text, and what it is about.
        playback: What stands in for its providers and tools, and says where it works then.
    """
    root = playback.folder.parent if playback is not None else None
    folder = await _folder_of(prepared, store, cwd, carried, say, root)
    if playback is None:
        return folder
    return await asyncio.to_thread(playback.begin, folder, cwd)


def _folder_of_template(bundle: BundleData) -> Path | None:
    """Return the folder of the bundle that names the template, which may be an included one."""
    origins = bundle.origins.get("session:workspace", [])
    origin = origins[-1] if origins else None
    if origin is None or origin.path is None or is_settings_origin(origin):
        return bundle.base_path
    return origin.path.parent


def _reason(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"


async def _folder_of(
    prepared: PreparedBundle,
    store: SessionStore,
    cwd: Path,
    carried: Carried | None,
    say: Callable[[Level, str, str], None],
    root: Path | None,
) -> Path:
    """Return the user's folder, or a copy below `root` of what the bundle brings."""
    try:
        template = template_of(prepared.mount_plan, _folder_of_template(prepared.bundle))
    except WorkspaceError as error:
        say("warning", f"Working in {cwd}: {error}", prepared.bundle.name)
        return cwd
    if template is None:
        return cwd

    def make() -> Path:
        # Of a stored session that is a copy, the metadata still name that of its origin.
        before = store.metadata.workspace if carried is None else carried.workspace
        return make_workspace(beginning_of(before, template), store.folder.name, root)

    try:
        scratch = await asyncio.to_thread(make)
    except OSError as error:
        # Where it works comes first: where there is little room the end is cut off.
        say("warning", f"Working in {cwd}: no scratch workspace ({_reason(error)})", "host")
        return cwd
    store.metadata.workspace = str(scratch)
    return scratch.resolve()
