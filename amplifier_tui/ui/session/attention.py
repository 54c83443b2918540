"""Telling the user about a session that waits or has ended, when they look elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from amplifier_tui.host.events import (
    ApprovalRequested,
    HostEvent,
    LimitAsked,
    QuestionsAsked,
    TrustAsked,
    TurnEnded,
)
from amplifier_tui.ui.state.open_sessions import name_of
from amplifier_tui.ui.terminal import guard
from amplifier_tui.ui.terminal.notifying import notification, run_command

if TYPE_CHECKING:
    from textual.app import App

    from amplifier_tui.ui.app.preferences import Preferences
    from amplifier_tui.ui.session.tabs.tab import SessionTab

Kind = Literal["decision", "end"]

_STATUS = {
    "success": "The turn is done",
    "incomplete": "The turn reached its limit",
    "cancelled": "The turn was stopped",
    "error": "The turn failed",
}


class _Remembers(Protocol):
    """The app, as far as it is asked for what the user chose."""

    @property
    def preferences(self) -> Preferences: ...


def call_user(app: App[Any], tab: SessionTab, event: HostEvent) -> None:
    """Notify the user of something that waits for them, or of the end of a turn.

    Nothing is said to who looks at it. One who looks at another session hears the bell, when a
    decision waits.
    """
    words = _words(event)
    if words is None or (app.app_focus and tab.shown):
        return
    kind, text = words
    if app.app_focus:
        if kind == "decision":
            app.bell()
        return
    facts = tab.state.facts
    name = name_of(tab.state, 60)
    preferences = cast("_Remembers", app).preferences
    if preferences.notify != "off":
        sequence = notification(name, text, os.environ)
        if preferences.notify == "bell" or sequence == "\x07":
            app.bell()
        else:
            guard.write(app, sequence)
    command = preferences.notify_command
    if command:
        said = {"kind": kind, "session_id": facts.session_id, "title": name, "text": text}

        async def run() -> None:
            if problem := await run_command(command, said):
                tab.say(f"Notifying: {problem}", "warning")

        app.run_worker(run(), group="notify")


def _words(event: HostEvent) -> tuple[Kind, str] | None:
    match event:
        case TurnEnded(agent="main"):
            return "end", event.remark or _STATUS[event.status]
        case ApprovalRequested():
            return "decision", event.action
        case QuestionsAsked():
            return "decision", event.questions[0].question
        case TrustAsked():
            return "decision", event.title
        case LimitAsked():
            return "decision", event.why
        case _:
            return None
