"""Actions on the sessions of the window: one beside another, to and fro, closing one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_tui.ui.app.session_app import in_session

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.session import SessionState

_CLOSE_SECONDS = 5.0
_ALONE = "This session is the only one: {way} opens another beside it."


@in_session
def open_beside(
    app: SessionApp, client: SessionClient, state: SessionState, bundle: str = ""
) -> None:
    """Open a session beside this one, with the same bundle or another."""
    from amplifier_tui.host.client import OpenRequest

    if app.tabs is not None:
        folder = Path(state.facts.cwd) if state.facts.opened else app.cwd
        name = bundle or state.facts.bundle
        models = app.preferences.models
        app.tabs.open_beside(OpenRequest(cwd=folder, bundle=name, models=models))


def show(app: SessionApp, number: str = "") -> None:
    """Show a session by its number; without one, the next."""
    if app.tabs is None:
        app.bell()
    elif not number:
        step(app)
    elif number.isdecimal() and number.isascii() and 0 < int(number) <= len(app.tabs.links):
        app.tabs.show(app.tabs.links[int(number) - 1])
    elif len(app.tabs.links) == 1:
        _say_alone(app)
    else:
        app.say(f"There is no session {number}: {len(app.tabs.links)} are open.", "warning")


def step(app: SessionApp, step: int = 1) -> None:
    """Show the next session, or the one before."""
    if app.tabs is None:
        app.bell()
    elif not app.tabs.step(step):
        _say_alone(app)


def show_waiting(app: SessionApp) -> None:
    """Show the next session that waits for the user."""
    if app.tabs is None:
        app.bell()
    elif not app.tabs.show_waiting():
        app.say("No other session waits for you.")


def close(app: SessionApp) -> None:
    """Close the session on screen; asks where something runs in it."""
    tabs = app.tabs
    if tabs is None:
        app.bell()
        return
    if len(tabs.links) == 1:
        app.say(f"It is the only session: {app.keymap.way_to('app.quit')} ends the program.")
        return
    link = tabs.shown

    def closing() -> None:
        if link in tabs.links and len(tabs.links) > 1:
            app.run_worker(tabs.close(link, _CLOSE_SECONDS))

    if work := link.tab.state.activity.work:
        from amplifier_tui.ui.app.quitting import running_words
        from amplifier_tui.ui.dialogs.questions import Confirm

        question = running_words([work], "To close the session")
        app.ask(Confirm(question, "Close it"), lambda yes: closing() if yes else None)
    else:
        closing()


def _say_alone(app: SessionApp) -> None:
    app.say(_ALONE.format(way=app.keymap.way_to("session.beside")))
