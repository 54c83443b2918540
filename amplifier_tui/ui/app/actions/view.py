"""Actions that show or copy what there is: answer, plan, notices, events, links."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.dialogs.sheets import EventSheet


def copy_answer(app: SessionApp) -> None:
    """Copy the agent's last words."""
    if app.state is None:
        return
    from amplifier_tui.ui.state.conversation.entries import TextEntry

    entries = reversed(app.state.entries)
    last = next((e for e in entries if isinstance(e, TextEntry) and e.text), None)
    if last is None:
        app.say("There is no answer to copy yet.")
    else:
        app.copy(last.text, "answer")


def plan(app: SessionApp) -> None:
    """Show the agent's plan."""
    if app.state is not None:
        from amplifier_tui.ui.dialogs.sheets import PlanSheet

        app.push_screen(PlanSheet(app.state.todo.items))


def notices(app: SessionApp) -> None:
    """Show what the status bar has said."""
    if app.state is None:
        return
    from amplifier_tui.ui.dialogs.pickers import NoticeHistory

    history = list(app.state.notices.history)
    app.ask(NoticeHistory(history), lambda at: app.copy(history[int(at)].notice.text, "notice"))


def open_link(app: SessionApp, url: str) -> None:
    """Ask whether to open an address: it is data from the model."""
    from amplifier_tui.ui.dialogs.questions import OpenLink

    def chosen(what: str) -> None:
        if what == "open":
            app.open_url(url)
        else:
            app.copy(url, "address")

    app.ask(OpenLink(url), chosen)


def inspect(app: SessionApp, seq: int) -> None:
    """Show an event of the log, and the rest of a long one once it was read from disk."""
    if app.state is None or app.client is None:
        return
    found = app.state.log.find(seq)
    if found is None:
        app.say("That event has left memory; it is in events.jsonl.")
        return
    from amplifier_tui.ui.dialogs.sheets import EventSheet

    sheet = EventSheet(found)
    app.push_screen(sheet)
    if found.size > len(found.data):
        app.run_worker(_load_payload(app, sheet, seq), group="payload", exclusive=True)


async def _load_payload(app: SessionApp, sheet: EventSheet, seq: int) -> None:
    if app.client is None:
        return
    try:
        payload = await asyncio.wrap_future(app.client.payload(seq))
    except Exception as error:
        from amplifier_tui.base.text import one_line

        # Whatever the disk said: the part in memory stays on screen.
        app.say(f"The whole payload cannot be read: {one_line(str(error))}", "warning")
    else:
        sheet.set_payload(payload)
