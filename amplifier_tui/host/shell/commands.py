"""Runs what the user types after `!`: as the user, so without a question and in no sandbox.

What a command printed waits for the next prompt and goes to the model with it. Every command is
noted on disk before it is shown, so that a resumed session shows it again.
"""

import asyncio
import logging
import os
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from time import monotonic
from typing import Final
from uuid import uuid4

from amplifier_tui.base.commands.beside import beside_confined, named_in
from amplifier_tui.base.commands.environment import quiet_environment, users_shell
from amplifier_tui.base.commands.process import CommandProcess, Leftovers
from amplifier_tui.base.commands.run import CommandRun, Output
from amplifier_tui.base.messages.sub_sessions import exit_words
from amplifier_tui.host.events import (
    ShellEnded,
    ShellProgress,
    ShellStarted,
    ShellWaiting,
    TerminalWanted,
)
from amplifier_tui.host.shell.screens import terminal_need
from amplifier_tui.host.stream.sender import Sender

logger = logging.getLogger(__name__)

OUTPUT_LIMIT: Final = 30_000
"""Characters of a command's output that are kept, half of them from its end."""
_PIECE: Final = 4_000
"""Characters of output that go up at once."""


class ShellCommands:
    """The user's commands of one session.

    Args:
        workspace: Where they run.
    """

    def __init__(self, sender: Sender, workspace: Path) -> None:
        self._sender = sender
        self._workspace = workspace
        self._running: dict[str, asyncio.Task[None]] = {}
        self._leftovers = Leftovers()
        self._waiting: dict[str, ShellEnded] = {}
        self._closed = False
        self._in_terminal = AsyncExitStack()
        """What holds while a front end may run a command in its own terminal."""

    @property
    def running(self) -> bool:
        """Whether a command runs."""
        return bool(self._running)

    @property
    def waiting(self) -> tuple[ShellEnded, ...]:
        """What goes along with the next prompt, in the order in which it ended."""
        return tuple(self._waiting.values())

    def with_output(self, text: str) -> str:
        """Return words of the user with what waits before them."""
        return "\n\n".join((*map(command_text, self._waiting.values()), text))

    async def take(self, command: str, *, tell: bool = True, in_terminal: bool = False) -> None:
        """Run a command line, or have the front end run one that needs its terminal."""
        need = await asyncio.to_thread(terminal_need, command)
        if in_terminal or need.needed:
            # One that a front end could not run is not noted: until the next one it may be running.
            await self._in_terminal.aclose()
            await self._in_terminal.enter_async_context(beside_confined(named_in(command), command))
            wanted = TerminalWanted(
                **self._sender.stamp(), command=command, told=tell, full_screen=need.full_screen
            )
            self._sender.send(wanted)
        else:
            self.start(command, tell=tell)

    def start(self, command: str, *, tell: bool) -> None:
        """Run a command line beside whatever else happens; after the end nothing runs any more."""
        if self._closed:
            return
        command_id = uuid4().hex[:12]
        shown = self._sender.redactor.text(command)
        stamp = self._sender.stamp()
        self._sender.send(ShellStarted(**stamp, command_id=command_id, command=shown, told=tell))
        work = self._run(command_id, command, shown, tell)
        task = asyncio.get_running_loop().create_task(work, name=f"shell {command_id}")
        self._running[command_id] = task
        task.add_done_callback(lambda _: self._running.pop(command_id, None))

    def stop(self) -> None:
        """End the command that was started last, if one runs."""
        if self._running:
            next(reversed(self._running.values())).cancel()

    async def close(self) -> None:
        """End every command, and what commands left running; no other begins."""
        self._closed = True
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._leftovers.end()
        await self._in_terminal.aclose()

    async def note(
        self, command: str, *, exit_code: int, seconds: float, tell: bool = True
    ) -> None:
        """Take note of a command that a front end ran in its own terminal."""
        await self._in_terminal.aclose()
        self._end(
            ShellEnded(
                **self._sender.stamp(),
                command_id=uuid4().hex[:12],
                command=self._sender.redactor.text(command),
                told=tell,
                exit_code=exit_code,
                in_terminal=True,
                duration_ms=seconds * 1000,
            )
        )

    def restore(self, ended: Iterable[ShellEnded]) -> None:
        """Have what a stored session had not sent wait again."""
        self._waiting = {event.command_id: event for event in ended if event.told}
        if self._waiting:
            self._say_waiting()

    def sent(self, command_ids: Iterable[str]) -> None:
        """Commands are part of a prompt that is on disk."""
        before = len(self._waiting)
        for command_id in command_ids:
            self._waiting.pop(command_id, None)
        if len(self._waiting) != before:
            self._say_waiting()

    def withhold(self) -> bool:
        """Send nothing of what waits along; returns whether anything did."""
        waited = bool(self._waiting)
        self.sent(tuple(self._waiting))
        return waited

    async def _run(self, command_id: str, command: str, shown: str, tell: bool) -> None:
        began = monotonic()
        output = Output(OUTPUT_LIMIT, _PIECE, self._sender.redactor.known)

        async def show(piece: str) -> None:
            shown = self._sender.redactor.text(piece)
            stamp = self._sender.stamp()
            self._sender.send(ShellProgress(**stamp, command_id=command_id, text=shown))

        run: CommandRun | None = None
        error, stopped = "", False
        try:
            environment = quiet_environment(os.environ)
            program = [users_shell(), "-c", command]
            process = await CommandProcess.start(program, self._workspace, environment)
            run = CommandRun(process, output, None, show)
            async with beside_confined(named_in(command), command):
                await run.finish()
            if run.left_running:
                self._leftovers.hold(process)
        except asyncio.CancelledError:
            # It is the user's stop, or the session's end: what was printed so far is kept.
            stopped = True
        except (OSError, ValueError) as problem:
            error = f"It can't be started: {problem}"
        self._end(
            ShellEnded(
                **self._sender.stamp(),
                command_id=command_id,
                command=shown,
                told=tell,
                exit_code=run.exit_code if run is not None else 0,
                output=self._sender.redactor.text(output.text()),
                output_size=output.size,
                error=self._sender.redactor.text(error),
                stopped=stopped,
                left_running=run is not None and run.left_running,
                duration_ms=(monotonic() - began) * 1000,
            )
        )

    def _end(self, event: ShellEnded) -> None:
        self._sender.send(event)
        if event.told:
            self._waiting[event.command_id] = event
            self._say_waiting()

    def _say_waiting(self) -> None:
        ids = tuple(self._waiting)
        self._sender.send(ShellWaiting(**self._sender.stamp(), command_ids=ids))


def command_text(event: ShellEnded) -> str:
    """Return a command and what came of it, for the model."""
    if event.error:
        state = event.error
    elif event.stopped:
        state = "stopped by the user"
    else:
        state = exit_words(event.exit_code)
    if event.in_terminal:
        state += "; it ran in the user's terminal, its output was not recorded"
    lines = ("The user ran a command:", f"$ {event.command}", event.output.rstrip("\n"))
    body = "\n".join((*filter(None, lines), f"[{state}]"))
    return f"<user_command>\n{body}\n</user_command>"
