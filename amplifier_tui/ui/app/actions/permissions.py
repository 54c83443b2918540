"""Actions on what runs without a question: the rules, why a call goes or not, the audit log."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.app.session_app import in_open_session
from amplifier_tui.ui.keys.actions import BY_ID

if TYPE_CHECKING:
    from amplifier_tui.host.client import AuditCard, SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.session import SessionState

_CALL = "A command, or a tool and what it is about, such as write(src/app.py)"


@in_open_session
def show(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """List the rules, and change them."""
    from amplifier_tui.ui.dialogs.permissions.rules import RuleList

    def chosen(place: str) -> None:
        if place == "audit":
            audit(app)
        else:
            explain(app, listed=True)

    app.ask(RuleList(client, app.keymap), chosen, state)


@in_open_session
def explain(
    app: SessionApp,
    client: SessionClient,
    state: SessionState,
    call: str = "",
    *,
    listed: bool = False,
) -> None:
    """Say what would happen to a call; without one, ask for it.

    Args:
        listed: It was asked for in the list of rules, to which one goes back.
    """
    from amplifier_tui.ui.dialogs.questions import AskLine

    if call:
        app.run_worker(_explain(app, client, call, listed), group="explain", exclusive=True)
    else:
        line = AskLine("What would happen with", limit=2_000, about=_CALL, verb="Explain")
        app.ask(line, lambda text: explain(app, text, listed=listed))


async def _explain(app: SessionApp, client: SessionClient, call: str, listed: bool) -> None:
    from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice
    from amplifier_tui.ui.dialogs.permissions.details import DetailSheet
    from amplifier_tui.ui.dialogs.permissions.words import explanation
    from amplifier_tui.ui.keys.keymap import show_keys

    try:
        found = await asyncio.wrap_future(client.explain_call(call))
    except Exception as error:
        # What is no call, or could not be looked at: the reason is what the user needs.
        app.say(f"That cannot be explained: {one_line(str(error))}", "warning")
        return
    keys = {name: show_keys(app.keymap.keys_of(BY_ID[f"decision.{name}"])) for name in ("another",)}
    again = KeyChoice(keys["another"], "Another call", "another")

    def chosen(name: str) -> None:
        if name == "rules":
            show(app)
        else:
            explain(app, listed=listed)

    back = "rules" if listed else ""
    app.ask(DetailSheet(call, explanation(found), [again], back), chosen)


@in_open_session
def audit(app: SessionApp, client: SessionClient, state: SessionState, query: str = "") -> None:
    """List what was decided, by whom and why."""
    _audit(app, client, state, query=query)


def _audit(
    app: SessionApp, client: SessionClient, state: SessionState, at: str = "", query: str = ""
) -> None:
    from amplifier_tui.ui.dialogs.permissions.audit import AuditLog

    log = AuditLog(client.audit, at, query)
    app.ask(log, lambda key: _open(app, client, state, log.cards[key]))


def _open(app: SessionApp, client: SessionClient, state: SessionState, card: AuditCard) -> None:
    """Show the whole of a decision."""
    from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice
    from amplifier_tui.ui.dialogs.permissions import words
    from amplifier_tui.ui.dialogs.permissions.details import DetailSheet
    from amplifier_tui.ui.keys.keymap import show_keys

    def choice(name: str, said: str) -> KeyChoice:
        return KeyChoice(show_keys(app.keymap.keys_of(BY_ID[f"decision.{name}"])), said, name)

    def chosen(name: str) -> None:
        if name == "copy":
            app.copy(words.arguments_text(card), "call")
        elif name == "list":
            _audit(app, client, state, card.key)
        else:
            _go_to(app, state, card)

    choices = [choice("go", "Go to it"), choice("copy", "Copy"), choice("list", "Back to the log")]
    title = f"{card.tool or card.asker}  {words.about(card)}"
    body = words.decision(card, state.facts.session_id)
    app.ask(DetailSheet(title, body, choices, "list"), chosen)


def _go_to(app: SessionApp, state: SessionState, card: AuditCard) -> None:
    """Go to the moment of a decision in the conversation."""
    if card.session_id != state.facts.session_id:
        app.say(f"That was in another session: /resume {card.session_id[:8]} opens it.")
        return
    found = state.moments.entry_at(card.at, card.call_id, state.entries)
    if not app.main.show_entry(found):
        app.say("The conversation has nothing of that moment on screen.")
