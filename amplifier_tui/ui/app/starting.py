"""What happens between the first frame and a program that is ready."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from amplifier_tui.ui.app import appearance, pace
from amplifier_tui.ui.app.actions import program, turn
from amplifier_tui.ui.panes.table import PANES
from amplifier_tui.ui.terminal import leave

if TYPE_CHECKING:
    from amplifier_tui.host.client import OpenRequest, SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp

    Connect = Callable[[], tuple[SessionClient, OpenRequest]]

OPENING_PATIENCE = 1.0
"""Seconds for which what can wait leaves the interpreter to the session that is opening."""

_SCREEN_MODULES = (
    "amplifier_tui.ui.state.session",
    "amplifier_tui.ui.transcript.view",
    "amplifier_tui.ui.widgets.status_bar",
    *(row.module for row in PANES),
    "amplifier_tui.ui.session.tabs.tabs",
)
"""What the first frame does without."""


async def start_up(app: SessionApp, connect: Connect, problems: list[str]) -> None:
    """Open the session, and put panes, keys and themes in place.

    Args:
        app: The app, whose first frame is drawn.
        connect: Makes the client and says what to open; called in a thread.
        problems: What is said once there is a place to say it.
    """
    # The engine has the longer way: it sets out first. Imports hold the interpreter, not the
    # loop: keys are taken meanwhile.
    opening = asyncio.create_task(_open_session(app, connect))
    for name in _SCREEN_MODULES:
        await asyncio.to_thread(import_module, name)
    from amplifier_tui.ui.session.tabs.tabs import SessionTabs
    from amplifier_tui.ui.state.session import SessionState

    app.state = SessionState()
    remembered = app.preferences.panes(str(app.cwd))
    if remembered is not None:
        app.main.shown.intersection_update(remembered)
    await app.main.furnish(app.state, app.cwd)
    try:
        app.client = await opening
    except Exception as error:
        app.say(f"The session engine cannot start: {error}", "error")
        leave.write_report(error)
    else:
        resend = partial(turn.send, app)
        app.tabs = SessionTabs(app.main, app.client, app.state, app.early, resend, app.take_session)
    await program.load_keys(app)
    if app.link is not None:
        await app.link.wait_until_open(OPENING_PATIENCE)
    await appearance.load_themes(app)
    # The theme for this run may be one of those that are refused.
    for problem in dict.fromkeys((*app.theme_errors, *problems)):
        app.say(problem, "warning")
    pace.settle()


async def _open_session(app: SessionApp, connect: Connect) -> SessionClient:
    client, request = await asyncio.to_thread(connect)
    app.asked = request
    client.open(replace(request, models=app.preferences.models))
    return client
