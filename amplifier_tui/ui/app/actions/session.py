"""Actions that open, name and copy sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_tui.ui.app.session_app import in_open_session, in_session

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.conversation.entries import UserEntry
    from amplifier_tui.ui.state.session import SessionState


@in_session
def bundles(app: SessionApp, client: SessionClient, state: SessionState, name: str = "") -> None:
    """Switch to a bundle, or open the picker."""
    if name:
        client.switch_bundle(name)
        return
    from amplifier_tui.ui.dialogs.bundle_picker import BundlePicker

    picker = BundlePicker(client.bundles, client.preview)

    app.ask(picker, lambda found: client.switch_bundle(found, carry=picker.carry))


@in_session
def sessions(
    app: SessionApp, client: SessionClient, state: SessionState, session_id: str = ""
) -> None:
    """Resume a session, or open the picker."""
    if session_id:
        client.resume(session_id)
        return
    from amplifier_tui.ui.dialogs.pickers import SessionPicker

    current = state.facts.session_id

    def chosen(found: str) -> None:
        if found != current:
            client.resume(found)

    app.ask(SessionPicker(client.sessions, current), chosen)


@in_session
def new_session(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Open an empty session with the same bundle."""
    client.switch_bundle(state.facts.bundle, carry=False)


@in_session
def demo(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Open the offline demo in a session of its own."""
    from amplifier_tui.host.client import OpenRequest

    client.open(OpenRequest(cwd=app.cwd, demo=True))


@in_session
def rename(app: SessionApp, client: SessionClient, state: SessionState, title: str = "") -> None:
    """Give the session a title; without one, ask for it."""

    def named(text: str) -> None:
        client.rename(text)
        state.facts.set_title(text)
        app.main.show([])

    if title:
        named(title)
        return
    from amplifier_tui.ui.dialogs.questions import AskLine

    app.ask(AskLine("Title of this session", state.facts.title), named)


@in_open_session
def fork(
    app: SessionApp, client: SessionClient, state: SessionState, before: UserEntry | None = None
) -> None:
    """Copy the conversation, or what came before a prompt, into a new session and open that."""
    if app.link is not None:
        app.link.forks.begin(before)
