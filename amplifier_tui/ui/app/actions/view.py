"""Actions that show or copy what there is: answer, plan, notices, events, links."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from amplifier_tui.base.text import one_line

if TYPE_CHECKING:
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.dialogs.sheets import EventSheet
    from amplifier_tui.ui.state.conversation.entries import ConversationEntry

_IMAGES: Final = {"auto": "drawn where the terminal can", "text": "a line of text each"}


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


def show_diff(app: SessionApp) -> None:
    """Show a change in full: that of the tool call with the cursor, or else the last one."""
    if app.state is None or app.client is None:
        return
    from amplifier_tui.ui.dialogs.diff_sheet import DiffSheet
    from amplifier_tui.ui.state.conversation.entries import ToolEntry

    view = app.main.transcript
    at_cursor = view.cursor if view is not None and view.has_focus else None
    tried = (at_cursor, *reversed(app.state.entries))
    found = next((e for e in tried if isinstance(e, ToolEntry) and e.diff), None)
    if found is None:
        app.say("No file has been changed yet.")
    else:
        app.push_screen(DiffSheet(found.tool, found.diff, app.client, app.keymap))


def show_image(app: SessionApp, entry: ConversationEntry | None = None) -> None:
    """Show the images of an entry; without one, of that with the cursor or else the last ones."""
    from amplifier_tui.ui.dialogs.image_sheet import ImageSheet
    from amplifier_tui.ui.images.showing import INSTALL, NO_LIBRARY, is_pdf
    from amplifier_tui.ui.state.conversation.entries import ToolEntry, UserEntry

    view = app.main.conversation
    if view is None or app.client is None:
        return
    at_cursor = view.cursor if view.has_focus else None
    for each in (entry, at_cursor, *reversed(view.entries)):
        found = each.images if isinstance(each, UserEntry | ToolEntry) else ()
        cards = [card for card in found if not is_pdf(card)]
        if each is not None and cards:
            break
    else:
        app.say("There is no image in this conversation.")
        return
    if why := app.why_no_images:
        app.say(f"Images can't be drawn: {why}.{f' {INSTALL}' if why == NO_LIBRARY else ''}")
    else:
        app.push_screen(ImageSheet(cards, each.agent, app.client.image, app.keymap))


def images(app: SessionApp, wanted: str = "") -> None:
    """Choose how images are shown; without a choice say it."""
    wanted = wanted.strip().lower()
    if wanted not in _IMAGES:
        now = app.preferences.images
        why = app.why_no_images
        words = f"as text, because {why}" if why and now == "auto" else _IMAGES[now]
        app.say(f"Images: {now} ({words}). /images auto or text.")
        return

    app.run_worker(_use_images(app, wanted))


async def _use_images(app: SessionApp, wanted: str) -> None:
    writing = app.writer.submit(app.preferences.set_images, wanted)
    if await app.written(writing, "That is not remembered"):
        app.draw_images()
        app.say(f"Images: {wanted} ({_IMAGES[wanted]}).")


def plan(app: SessionApp) -> None:
    """Show the agent's plan."""
    if app.state is not None:
        from amplifier_tui.ui.dialogs.sheets import PlanSheet

        app.push_screen(PlanSheet(app.state))


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


def show_moment(app: SessionApp, seq: int, *, past: bool) -> None:
    """Go to the moment of an event: in the conversation, or in modules and context."""
    state = app.state
    found = state.log.find(seq) if state is not None else None
    if state is None or found is None:
        app.say("That event has left memory; it is in events.jsonl.")
    elif past:
        state.look_at(found.at)
        app.main.show([])
        app.say("Modules and context show that moment; esc returns to now.")
    elif not app.main.show_entry(state.moments.entry_of(found, state.entries)):
        app.say("The conversation has nothing of that moment on screen.")


def show_events(app: SessionApp, entry: ConversationEntry) -> None:
    """Show the events that belong to an entry of the conversation."""
    state = app.state
    if state is None:
        return
    from amplifier_tui.ui.panes.events.pane import EventLogPane

    call_id = getattr(entry, "call_id", "")
    index = state.log.index_of_call(call_id) if call_id else None
    at = state.moments.time_of(entry.key)
    if index is None and at is not None:
        index = state.log.index_at(at)
    if index is None:
        app.say("No event of that moment is in memory; all of them are in events.jsonl.")
        return
    pane = app.main.show_pane("events")
    if isinstance(pane, EventLogPane):
        pane.update_from(state)
        app.call_after_refresh(pane.view.go_to, index)


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
        # Whatever the disk said: the part in memory stays on screen.
        app.say(f"The whole payload cannot be read: {one_line(str(error))}", "warning")
    else:
        sheet.set_payload(payload)
