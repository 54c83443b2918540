"""Actions on the session that is open: naming, copying, exporting, compacting, memories."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.app.quitting import leave_saved
from amplifier_tui.ui.app.session_app import in_open_session, in_session, say_none
from amplifier_tui.ui.state.formats import typed_number

if TYPE_CHECKING:
    from amplifier_tui.host.client import ExportRequest, SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.dialogs.compaction import CompactChoice
    from amplifier_tui.ui.state.conversation.entries import ConversationEntry, UserEntry
    from amplifier_tui.ui.state.session import SessionState

_EVERYWHERE = "--everywhere"
_MEMORY_SIZE = 4_000


@in_session
def bundles(app: SessionApp, client: SessionClient, state: SessionState, name: str = "") -> None:
    """Switch to a bundle, or open the picker."""
    if name:
        client.switch_bundle(name)
        return
    from amplifier_tui.ui.dialogs.bundle_picker import BundlePicker

    picker = BundlePicker(client.bundles, client.preview)
    switch = partial(client.switch_bundle, mode=app.first_mode)
    app.ask(picker, lambda found: switch(found, carry=picker.carry))


@in_session
def new_session(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Open an empty session with the same bundle; what is not open yet is opened again.

    It begins in the mode that the program was started with.
    """
    if state.facts.comes_again:
        client.open_again()
        return
    opens = partial(client.switch_bundle, state.facts.bundle, carry=False, mode=app.first_mode)
    leave_saved(app, opens)


@in_session
def demo(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Open the offline demo in a session of its own."""
    from amplifier_tui.host.client import OpenRequest

    leave_saved(app, partial(client.open, OpenRequest(cwd=app.cwd, demo=True, mode=app.first_mode)))


@in_open_session
def take_over(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Go on with a session that another window had open."""
    if state.facts.held is None:
        app.say("This session is open in no other window.")
    else:
        client.take_over()


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

    app.ask(AskLine("Title of this session", state.facts.title), named, state)


@in_open_session
def fork(
    app: SessionApp, client: SessionClient, state: SessionState, before: UserEntry | None = None
) -> None:
    """Go on in a copy of the conversation, or of what came before a prompt."""
    if app.link is not None:
        if before is None:
            app.link.forks.begin()
        else:
            app.link.forks.begin(before.turn, before.text)


@in_open_session
def export(app: SessionApp, client: SessionClient, state: SessionState, path: str = "") -> None:
    """Write the conversation to a file, in the form its name ends like; without it, ask."""
    from amplifier_tui.host.client import ExportRequest, form_of

    if path:
        _begin_export(app, client, ExportRequest(path=path, form=form_of(path)))
    else:
        _ask_export(app, client, _export_at_first(state))


@in_open_session
def export_from(
    app: SessionApp, client: SessionClient, state: SessionState, entry: ConversationEntry
) -> None:
    """Ask how to write the conversation from the turn of an entry on."""
    prompt = state.prompt_of(entry)
    turn = prompt.turn if prompt is not None else 1
    _ask_export(app, client, replace(_export_at_first(state), from_turn=turn))


@in_open_session
def export_events(app: SessionApp, client: SessionClient, state: SessionState, events: str) -> None:
    """Ask how to write the events that pass a filter."""
    from amplifier_tui.ui.dialogs.export.options import file_name

    path = file_name(f"events {state.facts.title}", state.facts.session_id, "jsonl")
    _ask_export(
        app, client, replace(_export_at_first(state), form="jsonl", path=path, events=events)
    )


def _export_at_first(state: SessionState) -> ExportRequest:
    from amplifier_tui.host.client import ExportRequest
    from amplifier_tui.ui.dialogs.export.options import file_name

    path = file_name(state.facts.title, state.facts.session_id, "html")
    return ExportRequest(path=path, form="html")


def _ask_export(
    app: SessionApp, client: SessionClient, request: ExportRequest, problem: str = ""
) -> None:
    from amplifier_tui.ui.dialogs.export.sheet import ExportSheet

    sheet = ExportSheet(request, client.rewind_points, app.main.keymap, problem)
    app.ask(sheet, lambda chosen: _begin_export(app, client, chosen))


def _begin_export(app: SessionApp, client: SessionClient, request: ExportRequest) -> None:
    app.run_worker(_write_export(app, client, request))


async def _write_export(app: SessionApp, client: SessionClient, request: ExportRequest) -> None:
    from amplifier_tui.ui.dialogs.questions import Confirm
    from amplifier_tui.ui.state.exports import exported

    app.say(f"Writing {one_line(request.path, 400)}…")
    try:
        done = await asyncio.wrap_future(client.export(request))
    except Exception as error:
        # Whatever the session could not do is said; it may have been closed meanwhile.
        app.say(f"Nothing was written: {one_line(str(error), 300)}", "warning")
        return
    said = exported(done, request.form)
    if done.exists:
        question = f"{one_line(done.path, 1_000)} is there already."
        again = replace(request, replace=True)
        app.say(question)
        app.ask(
            Confirm(question, "Replace it"), lambda yes: _answer_replace(app, client, again, yes)
        )
    elif done.problem:
        app.say(said, "warning")
        _ask_export(app, client, request, said)
    else:
        app.say(said, "warning" if done.unreadable else "info")


def _answer_replace(
    app: SessionApp, client: SessionClient, request: ExportRequest, yes: bool
) -> None:
    if yes:
        _begin_export(app, client, request)
    else:
        _ask_export(app, client, replace(request, replace=False))


@in_open_session
def report(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Show what the session goes without, since it was opened or later, and what helps."""
    if not state.modules.amiss:
        if state.notices.warned_of("bundle"):
            app.say("Nothing is missing, but its files have mistakes: see /notices.", "warning")
        else:
            app.say("Nothing is missing: the session has all that its bundle asks for.")
        return
    from amplifier_tui.ui.dialogs.opening_report import OpeningReport

    sheet = OpeningReport(state.modules.amiss)
    app.ask(sheet, lambda at: app.copy(sheet.text_of(at), "report"))


@in_open_session
def compact(
    app: SessionApp,
    client: SessionClient,
    state: SessionState,
    instructions: str = "",
    *,
    instruct: bool = False,
) -> None:
    """Show what compacting would do, and do it when the user says so."""
    from amplifier_tui.ui.dialogs.compaction import CompactionSheet

    link = app.link

    def chosen(choice: CompactChoice) -> None:
        if link is not None:
            link.compact(choice.instructions)

    sheet = CompactionSheet(
        client.compaction,
        lambda: state.activity.running,
        budget=state.budget,
        instructions=instructions,
        instruct=instruct or bool(instructions),
    )
    app.ask(sheet, chosen, state)


@in_open_session
def remember(app: SessionApp, client: SessionClient, state: SessionState, text: str = "") -> None:
    """Store a memory; without a text, ask for it."""
    first, _, rest = text.strip().partition(" ")
    everywhere = first == _EVERYWHERE
    said = rest.strip() if everywhere else text.strip()

    def written(line: str) -> None:
        client.remember(line, everywhere=everywhere)

    if said:
        written(said)
        return
    from amplifier_tui.ui.dialogs.questions import AskLine

    label = "Remember everywhere" if everywhere else "Remember for this project"
    app.ask(AskLine(label, limit=_MEMORY_SIZE), written, state)


@in_session
def ask_trust_again(
    app: SessionApp, client: SessionClient, state: SessionState, shown: bool = False
) -> None:
    """Ask again about what was refused when the session was opened, or kept one from opening."""
    if not (state.facts.opened or state.facts.unopened):
        say_none(app, state)
    elif state.activity.running:
        app.say("A turn is running: stop it first.", "warning")
    else:
        client.ask_trust_again(shown=shown)


@in_open_session
def memories(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Show what was remembered."""
    from amplifier_tui.ui.dialogs.pickers import MemoryList

    memories = MemoryList(client.memories, client.forget)
    app.ask(memories, lambda memory_id: app.copy(memories.text_of(memory_id), "memory"), state)


@in_open_session
def forget(
    app: SessionApp, client: SessionClient, state: SessionState, memory_id: str = ""
) -> None:
    """Delete a memory by its number; without one, show them."""
    number = memory_id.strip().removeprefix("#")
    if not number:
        memories(app)
    elif (known := typed_number(number)) is not None:
        client.forget(known)
    else:
        app.say("A memory is named by its number: /memories shows them.", "warning")
