"""Actions of the user's own shell commands."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from amplifier_tui.base.commands.environment import users_shell
from amplifier_tui.base.messages.sub_sessions import exit_words
from amplifier_tui.base.text import clean, one_line
from amplifier_tui.ui.app.session_app import in_open_session
from amplifier_tui.ui.prompt.shell import ShellDraft

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.host.events import TerminalWanted
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.session import SessionState

_QUIET = "!!"
"""Before a command that the agent is not told of."""


@in_open_session
def run(
    app: SessionApp,
    client: SessionClient,
    state: SessionState,
    command: str = "",
    *,
    tell: bool = True,
) -> None:
    """Run a command line; without one, begin it in the draft."""
    prompt = app.main.prompt.input
    if not command:
        if not prompt.text:
            prompt.set_draft("!" if tell else _QUIET)
        prompt.focus()
    else:
        client.shell(command, tell=tell)


def run_quietly(app: SessionApp, command: str = "") -> None:
    """Run a command line the agent is not told of."""
    run(app, command, tell=False)


def run_draft(app: SessionApp, draft: ShellDraft) -> None:
    """Run what was sent with `!` before it."""
    app.main.leave_agent()
    if draft.command:
        run(app, draft.command, tell=draft.tell)
    else:
        app.say("Write a command behind the !.")


@in_open_session
def in_terminal(
    app: SessionApp, client: SessionClient, state: SessionState, command: str = ""
) -> None:
    """Run a command line in the terminal itself; without one, put the last one into the draft."""
    from amplifier_tui.ui.state.conversation.entries import ShellEntry

    prompt = app.main.prompt.input
    last = next((e for e in reversed(state.entries) if isinstance(e, ShellEntry)), None)
    if command:
        quiet = command.startswith(_QUIET)
        client.shell(command.removeprefix(_QUIET).strip(), tell=not quiet, in_terminal=True)
    elif last is None:
        app.say("Write a command behind it: /terminal make menuconfig.")
    elif prompt.text:
        app.say("Send or clear the draft first.")
    else:
        # Seen before it runs: it may be long ago, and have been for another folder.
        quiet_mark = "" if last.told else _QUIET
        prompt.offer(f"{quiet_mark}{last.arguments['command']}", behind="/terminal ")
        prompt.focus()


@in_open_session
def give_terminal(
    app: SessionApp, client: SessionClient, state: SessionState, wanted: TerminalWanted
) -> None:
    """Give the terminal to a command until it ends."""
    from amplifier_tui.ui.terminal.foreground import run_in_terminal, say, wait_for_enter

    began = time.monotonic()
    try:
        with app.suspend():
            shell = [users_shell(), "-c", wanted.command]
            if not wanted.full_screen:
                say(f"$ {clean(wanted.command)}")
            status = run_in_terminal(shell, Path(state.facts.cwd))
            seconds = time.monotonic() - began
            if not wanted.full_screen:
                wait_for_enter(f"[{exit_words(status)}] enter goes back ")
    except SuspendNotSupported:
        app.say("This terminal cannot be handed to a program.", "warning")
    except OSError as error:
        app.say(f"It cannot be started: {one_line(str(error))}", "warning")
    else:
        tell = wanted.told
        client.note_shell(wanted.command, exit_code=status, seconds=seconds, tell=tell)
    app.main.prompt.input.focus()


@in_open_session
def withhold(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Send nothing along of what the user's own commands printed."""
    client.withhold_shell()


@in_open_session
def jobs(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """List what the agent runs in the background."""
    from amplifier_tui.ui.dialogs.jobs.listing import JobPicker

    app.push_screen(JobPicker(client, state))


@in_open_session
def stop_job(app: SessionApp, client: SessionClient, state: SessionState, job_id: str = "") -> None:
    """Stop a command in the background, the newest without an id."""
    running = state.jobs.running
    if job_id or running:
        client.stop_job(job_id.strip() or running[0].job_id)
    else:
        app.say("No command runs in the background.")


@in_open_session
def set_aside(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """List what was moved aside, as a command in the sandbox may have made it."""
    from amplifier_tui.ui.dialogs.jobs.set_aside import SetAsideList

    app.push_screen(SetAsideList(client))
