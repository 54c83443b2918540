"""Actions on the sessions of the window: one beside another, to and fro, closing one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_tui.ui.app.quitting import leave_saved
from amplifier_tui.ui.app.session_app import in_session
from amplifier_tui.ui.state.formats import typed_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amplifier_tui.host.client import SessionCard, SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.session import SessionState

_CLOSE_SECONDS = 5.0
_ALONE = "This session is the only one: {way} opens another beside it."


@in_session
def open_beside(
    app: SessionApp, client: SessionClient, state: SessionState, bundle: str = ""
) -> None:
    """Open a session beside this one, with the same bundle or another.

    The mode and the limit that the program was started with hold for it, too, and the models that
    were chosen since.
    """
    from amplifier_tui.host.client import OpenRequest

    if app.tabs is not None and (asked := app.asked) is not None:
        folder = Path(state.facts.cwd) if state.facts.opened else app.cwd
        name = bundle or state.facts.bundle
        request = OpenRequest(cwd=folder, bundle=name, mode=asked.mode, limit=asked.limit)
        if not (name or state.facts.opened or asked.resume):
            # What it is beside is still to be opened, with what was asked for.
            request = replace(request, bundle=asked.bundle, demo=asked.demo, model=asked.model)
        app.tabs.open_beside(request)


def resume(
    app: SessionApp, session_id: str, folder: str = "", *, beside: bool = False, show: bool = True
) -> bool:
    """Resume a stored session; one that is open in this window is shown.

    It takes the place of the one on screen, unless something runs there or `beside` says so.

    Args:
        folder: Where it works; empty for where the session on screen does.
        show: Show it, where it is opened beside.

    Returns:
        False where no more sessions can be open.
    """
    from amplifier_tui.host.client import OpenRequest

    if app.tabs is None or app.client is None or app.state is None:
        return False
    known, state = app.tabs.find(session_id), app.state
    if known is not None:
        if known is app.tabs.shown:
            app.say("This session is on screen.")
        app.tabs.show(known)
        return True
    place = folder or (state.facts.cwd if state.facts.opened else str(app.cwd))
    request = OpenRequest(cwd=Path(place), resume=session_id, shows_busy=True)
    if beside or state.work:
        return app.tabs.open_beside(request, show=show)
    client = app.client
    leave_saved(
        app, partial(client.open, request) if folder else partial(client.resume, session_id)
    )
    return True


def resume_all(app: SessionApp, cards: Sequence[SessionCard]) -> None:
    """Resume several sessions side by side and show the first of them."""
    from amplifier_tui.ui.state.open_sessions import is_empty

    first = app.tabs.shown if app.tabs is not None else None
    # An empty session gives its place to the first one.
    empty = first is not None and is_empty(first.tab.state)
    for number, card in enumerate(cards):
        if not resume(app, card.session_id, card.cwd, beside=number > 0 or not empty, show=False):
            way = app.keymap.way_to("session.left_open")
            said = (
                f"{number} of {len(cards)} resumed, as many as can be open: {way} lists the rest."
            )
            app.say(said, "warning")
            break


def show(app: SessionApp, number: str = "") -> None:
    """Show a session by its number; without one, the next."""
    if app.tabs is None:
        app.bell()
    elif not number:
        step(app)
    elif 0 < (place := typed_number(number) or 0) <= len(app.tabs.links):
        app.tabs.show(app.tabs.links[place - 1])
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
    from amplifier_tui.ui.app.quitting import close_saved, running_words

    def closing() -> None:
        if link in tabs.links and len(tabs.links) > 1:
            app.run_worker(tabs.close(link, _CLOSE_SECONDS))

    def save() -> None:
        close_saved(app, [link], "Close it", closing)

    if work := link.tab.state.work:
        from amplifier_tui.ui.dialogs.questions import Confirm

        question = running_words(work, "Closing the session")
        app.ask(Confirm(question, "Close it"), lambda yes: save() if yes else None)
    else:
        save()


def _say_alone(app: SessionApp) -> None:
    app.say(_ALONE.format(way=app.keymap.way_to("session.beside")))
