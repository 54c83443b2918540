"""Actions about prompts and turns: sending, trying again, taking back, answering."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from amplifier_tui.ui.app.actions.agents import tell_opened
from amplifier_tui.ui.app.actions.shell import run_draft
from amplifier_tui.ui.app.mode_steps import CYCLE
from amplifier_tui.ui.app.session_app import in_open_session, in_session
from amplifier_tui.ui.keys.actions import BY_ID, BY_SLASH
from amplifier_tui.ui.keys.module_commands import (
    by_typed_name,
    is_command,
    is_mistyped,
    no_command,
)
from amplifier_tui.ui.prompt.shell import shell_draft
from amplifier_tui.ui.state.formats import typed_number

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.host.events import CommandCard, Mode
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.conversation.entries import ConversationEntry, ErrorEntry
    from amplifier_tui.ui.state.session import SessionState


async def send(app: SessionApp, text: str, *, queue: bool) -> None:
    """Run a slash command or a shell's, or send a prompt; with `queue`, for after the turn."""
    if text.startswith("/"):
        if await _run_slash(app, text):
            return
        # It becomes a prompt of many words: nothing to steer with.
        queue = queue or _is_of_module(app, text)
    command = shell_draft(text)
    if command is not None and app.link is not None and not app.link.opening:
        run_draft(app, command)
    elif tell_opened(app, text):
        return
    elif app.link is None:
        app.early.append((text, queue))
    elif not app.link.submit(text, queue=queue):
        app.main.prompt.restore(text)
        return
    app.main.say_left_open("")
    app.main.action_bottom()


async def _run_slash(app: SessionApp, text: str) -> bool:
    """Run a slash command; False when it is none or has to wait for the session."""
    name, _, argument = text[1:].strip().partition(" ")
    action = BY_SLASH.get(name)
    if _is_of_module(app, text) or (action is None and (app.link is None or app.link.opening)):
        return False
    if "\n" in text.strip() and action is not BY_ID["shell.terminal"]:
        return False
    if action is None:
        known = (*BY_SLASH, *by_typed_name(_cards(app)))
        if not is_mistyped(name, argument, known):
            return False
        app.main.prompt.restore(text)
        app.say(no_command(name, known, "/ lists them."), "warning")
        return True
    if action.in_session and (app.link is None or app.link.opening):
        return False
    app.main.take_refusal_off()
    await app.run_by_id(action.id, argument.strip())
    return True


def _is_of_module(app: SessionApp, text: str) -> bool:
    """Whether a draft is a command of one of the session's modules."""
    name = (text[1:].split(maxsplit=1) or [""])[0]
    return name not in BY_SLASH and is_command(name, _cards(app))


def _cards(app: SessionApp) -> tuple[CommandCard, ...]:
    return app.state.commands.cards if app.state is not None else ()


@in_open_session
def skills(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Choose a skill, or another command of a module, for the prompt."""
    from amplifier_tui.ui.dialogs.modules.commands import ModuleCommandPicker

    app.ask(ModuleCommandPicker(state.commands.cards), app.main.prompt.restore)


def retry_last(app: SessionApp) -> None:
    """Go on with the prompt that failed last."""
    if app.state is not None:
        retry(app, app.state.conversation.failures.newest)


def retry_without(app: SessionApp) -> None:
    """Go on with the prompt that failed last, without the context source that failed."""
    if app.state is None:
        return
    failed = app.state.conversation.failures.newest
    if failed is not None and failed.source:
        retry(app, failed, failed.source)
    else:
        app.say("No source of the context has failed.")


@in_session
def retry(
    app: SessionApp,
    client: SessionClient,
    state: SessionState,
    failed: ErrorEntry | None,
    without: str = "",
) -> None:
    """Go on with the prompt of a failure; one the session did not take is sent again.

    Without `failed` the session knows what to go on with; `without` leaves a context source out.
    """
    if state.activity.running:
        if failed is not None and failed is state.conversation.failures.newest and app.link:
            # Its turn has failed and is about to end.
            app.link.after_turn = partial(retry, app, failed, without)
        else:
            app.say("A turn is running.")
        return
    draft = app.main.prompt.input
    if failed is not None and failed.prompt and draft.draft == failed.prompt:
        # It was given back to the draft when it failed.
        draft.clear_draft()
    if failed is not None and failed.prompt and not failed.taken:
        if app.link is not None and not app.link.submit(failed.prompt, queue=False):
            app.main.prompt.restore(failed.prompt)
    elif not state.facts.opened:
        app.say("There is nothing to try again.")
    else:
        client.retry(without=without)


@in_session
def unqueue(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Take the last queued prompt back into the draft."""
    queue = state.queue
    if not queue.items:
        app.say("Nothing is queued.")
    elif app.main.prompt.input.text:
        app.say("Send or clear the draft first.")
    elif app.link is not None:
        app.link.take_back(queue.ids[-1], queue.items[-1])


@in_session
def queue(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Show what waits, to be changed, put in order, dropped or sent."""
    from amplifier_tui.ui.prompt.queue_sheet import QueueSheet

    def too_late(text: str) -> None:
        draft = app.main.prompt.input
        # A draft is never overwritten: the words are next in the history.
        kept = bool(draft.text)
        if kept:
            draft.past.add(text)
            app.store_prompt(text)
        else:
            draft.set_draft(text)
        where = "the history of the prompt" if kept else "the draft"
        app.say(f"That prompt was sent as it was: your changes are in {where}.", "warning")

    app.push_screen(QueueSheet(client, state, too_late, app.main.prompt.input.past.add))


@in_session
def send_queued(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Send the prompt that waits first; a turn that runs gets it at its next step."""
    if state.queue.ids:
        client.send_queued(state.queue.ids[0])
        app.main.action_bottom()
    else:
        app.say("Nothing is queued.")


def approvals(app: SessionApp) -> None:
    """Show what waits for the user: the question of trust, the oldest request, or a card."""
    if app.tabs is None or not app.tabs.show_what_waits():
        app.say("Nothing waits for you.", until="asked")


@in_session
def next_mode(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Go on from plan to ask to edits, and back to plan."""
    app.mode_steps.step(client, state)


@in_session
def mode(app: SessionApp, client: SessionClient, state: SessionState, name: str = "") -> None:
    """Choose what goes through without a question."""
    from amplifier_tui.ui.dialogs.permissions.mode_picker import MODES, ModePicker, auto_words
    from amplifier_tui.ui.dialogs.questions import Confirm

    app.mode_steps.forget()
    known = next((each for each in CYCLE if each == name), None)
    if known is not None:
        client.set_mode(known)
        return
    if name and name not in MODES:
        app.say(f"There is no mode {name}: {', '.join(MODES)}.", "warning")
        return

    def confirmed(yes: bool) -> None:
        if yes:
            client.set_mode("auto")

    def chosen(found: str) -> None:
        if found == "auto":
            question = auto_words(state.facts.sandbox, state.facts.uncopied)
            app.ask(Confirm(question, "Go to auto"), confirmed, state)
        else:
            client.set_mode(next(each for each in CYCLE if each == found))

    if name:
        chosen(name)
    else:
        facts = state.facts
        app.ask(ModePicker(facts.mode, facts.sandbox, facts.uncopied), chosen, state)


@in_open_session
def do_plan(
    app: SessionApp, client: SessionClient, state: SessionState, mode: Mode = "ask"
) -> None:
    """Have what plan mode ended in done."""
    client.carry_out(mode)


def do_plan_with_edits(app: SessionApp) -> None:
    """Have it done without a question about each edit."""
    do_plan(app, mode="edits")


@in_open_session
def dismiss_plan(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Go on planning: what is typed next says what is to be different."""
    changes = state.dismiss_plan()
    if changes:
        app.main.show(changes)
        app.main.prompt.input.focus()
    else:
        app.say("There is no plan: plan mode ends in one.")


@in_open_session
def rewind(app: SessionApp, client: SessionClient, state: SessionState, turn: str = "") -> None:
    """Show what going back before a turn does; without its number, list the prompts."""
    if app.link is None:
        return
    if not turn:
        app.link.going_back.choose()
    elif (number := typed_number(turn)) is not None:
        app.link.going_back.begin(number)
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
