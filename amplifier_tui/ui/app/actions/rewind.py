"""Actions that go back before a turn, and forward again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_tui.ui.app.session_app import in_open_session

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.conversation.entries import ConversationEntry
    from amplifier_tui.ui.state.session import SessionState


@in_open_session
def rewind(app: SessionApp, client: SessionClient, state: SessionState, turn: str = "") -> None:
    """Show what going back before a turn does; without its number, list the prompts."""
    if app.link is None:
        return
    if not turn:
        app.link.going_back.choose()
    elif turn.isdecimal() and turn.isascii():
        app.link.going_back.begin(int(turn))
    else:
        app.say("A turn is named by its number: /rewind lists your prompts.", "warning")


@in_open_session
def rewind_at(
    app: SessionApp, client: SessionClient, state: SessionState, entry: ConversationEntry
) -> None:
    """Show what going back before the turn of an entry does."""
    if app.link is not None:
        app.link.going_back.begin_at(entry)


@in_open_session
def undo(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Take back the last turn."""
    if app.link is not None:
        app.link.going_back.undo()


@in_open_session
def redo(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Bring back what was taken back last."""
    if state.activity.running:
        app.say("A turn is running: the conversation has gone on.", "warning")
    else:
        client.undo_rewind()
