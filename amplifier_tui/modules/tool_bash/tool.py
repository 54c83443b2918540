"""``bash``."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.capabilities.client_terminals import CAPABILITY as CLIENT_TERMINALS
from amplifier_tui.base.capabilities.client_terminals import ClientTerminals
from amplifier_tui.base.commands.process import CommandProcess, Leftovers
from amplifier_tui.base.commands.run import CommandRun, Output
from amplifier_tui.base.messages.tool_calls import BACKGROUND_KEYS, in_background
from amplifier_tui.base.secrets import secret_values
from amplifier_tui.base.text import one_line
from amplifier_tui.kernel import events
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.models import ToolResult, interrupted_with
from amplifier_tui.modules._shared.places import place_problem, require_folder
from amplifier_tui.modules._shared.tool import DescribedTool, ToolProblem, failed
from amplifier_tui.modules.tool_bash.confining import (
    GITS_OWN_LINE,
    OUTSIDE_SANDBOX,
    Confined,
    Confining,
    SandboxMissingError,
    last_look,
    look_on,
)
from amplifier_tui.modules.tool_bash.earlier_jobs import started as started_job
from amplifier_tui.modules.tool_bash.in_client import run_in_client
from amplifier_tui.modules.tool_bash.jobs import Jobs
from amplifier_tui.modules.tool_bash.keeping import PERSIST, Keeping
from amplifier_tui.modules.tool_bash.results import result_of_run, said_of_sandbox, so_far
from amplifier_tui.modules.tool_bash.settings import BashSettings, command_environment, refusal

PROGRESS: Final = "tool:progress"
_OF_JOBS: Final = "jobs"
"""The source of what the user is told of such processes: it stays in the conversation."""
_NO_COMMAND: Final = "`command` is missing: give a command line."
_SHOWN: Final = 60
"""Characters of a command."""

_PIECE: Final = 4_000
"""Characters of one ``tool:progress`` event."""


_SERVERS: Final = (
    "What goes on for long, such as a server or a watcher, is run with `run_in_background`, not "
    "with &."
)
_FILES: Final = "Redirect the output of background processes to a file."
_FOLDER: Final = {
    "type": "string",
    "description": "Where it runs: relative to the workspace, or absolute. Default the workspace.",
}
_TERMINAL: Final = {
    "type": "boolean",
    "description": (
        "Have it print to a terminal of 80 columns, which some programs want. There is no input "
        "all the same."
    ),
}
_BACKGROUND: Final = {
    "type": "boolean",
    "description": (
        "Return at once, while the command goes on until it ends, is stopped, or the session ends. "
        "Read on with bash_job; there is no time limit."
    ),
}


class BashTool(DescribedTool):
    """Runs command lines.

    Args:
        settings: How.
        coordinator: Says where the workspace is, and takes the progress.

    Raises:
        ValueError: There is no shell.
    """

    name = "bash"

    def __init__(self, settings: BashSettings, coordinator: Any) -> None:
        self._settings = settings
        self._shell = settings.find_shell()
        self._denials = settings.denials()
        self._coordinator = coordinator
        self._leftovers = Leftovers()
        self._confining = Confining(coordinator)
        self.jobs = Jobs(coordinator, settings.max_jobs, settings.max_output_chars, self._leftovers)
        self.in_background = settings.max_jobs > 0 and coordinator.parent_id is None
        """Whether commands may run there: those of an agent would end with its answer."""
        self.keeping = Keeping(
            coordinator, self._shell, settings.working_dir, always=settings.persist
        )
        self.at_end: list[Callable[[], object]] = []
        """Called when the tool is closed."""

    @property
    def description(self) -> str:
        """What it does, for the model."""
        return (
            "Run a command line in the workspace with bash and get its output and exit code. Each "
            "call is a new shell: `cd` and variables carry over only with `persist`. There "
            "is no input: pass flags such as -y instead of waiting for questions. "
            + (_SERVERS if self.in_background else _FILES)
        )

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""
        properties: dict[str, Any] = {
            "command": {"type": "string", "description": "The command line."},
            "timeout": {
                "type": "number",
                "description": (
                    f"Seconds it may take. Default {self._settings.timeout:g}, at most "
                    f"{self._settings.longest:g}."
                ),
            },
        }
        properties["cwd"] = _FOLDER
        properties[PERSIST] = self.keeping.schema
        properties["terminal"] = _TERMINAL
        if self.in_background:
            properties["run_in_background"] = _BACKGROUND
        if self._confining.offered:
            properties["outside_sandbox"] = OUTSIDE_SANDBOX
            properties["command"] = GITS_OWN_LINE
        return {"type": "object", "properties": properties, "required": ["command"]}

    def refused_place(self, arguments: Mapping[str, Any]) -> str:
        """Return why a call is refused whatever a user would answer.

        It has no command, or the workspace is gone.
        """
        command = arguments.get("command")
        if not isinstance(command, str) or not command.strip():
            return _NO_COMMAND
        return place_problem(lambda: require_folder(self.keeping.workspace()))

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Run a command.

        Raises:
            asyncio.CancelledError: The call was cancelled; the command and its children are gone.
                With what it had printed, if anything, see `kernel.models.interrupted_with`.
        """
        command = input.get("command")
        if not isinstance(command, str) or not command.strip():
            return failed(_NO_COMMAND, "invalid_arguments")
        timeout = self._timeout(input.get("timeout"))
        if timeout is None:
            return failed(
                f"`timeout` must be a number of seconds, not {input['timeout']!r}.",
                "invalid_arguments",
            )
        background = in_background(input)
        terminal = input.get("terminal") or False
        problem = self._no_background(input)
        if not isinstance(terminal, bool):
            problem = f"`terminal` must be true or false, not {terminal!r}."
        if problem:
            return failed(problem, "invalid_arguments")
        reason = refusal(command, self._denials)
        if reason is not None:
            return failed(
                f"Refused: {reason}. The command was not run; tool-bash never runs such commands.",
                "denied_command",
            )
        try:
            persists, folder = self.keeping.asked(input), self.keeping.folder(input)
            terminals = None if persists or background else await self._client_terminals()
            if terminals is not None:
                confined = await self._confined(command, folder, terminal=True)
                line, environment = confined.command, confined.environment
                return await run_in_client(
                    terminals, line, folder, environment, timeout, self._output()
                )
            with self.jobs.beginning() if background else nullcontext():
                started = await self._start(
                    command, folder, terminal=terminal, tells=persists and not background
                )
        except ToolProblem as error:
            return error.result()
        except SandboxMissingError as error:
            return failed(str(error), "no_sandbox")
        except (OSError, RuntimeError, ValueError) as error:
            return failed(f"The command can't be started: {error}.", type(error).__name__)
        process, confined, left = started
        output = self._output()
        if background:
            job = await self.jobs.start(command, process, confined, output)
            return ToolResult(output=started_job(job.job_id, alone=job.no_network))
        run = CommandRun(process, output, timeout, self._show)
        began = time.monotonic()
        try:
            await run.finish()
        except asyncio.CancelledError as stopped:
            if not output.size:
                raise
            raise interrupted_with(so_far(output)) from stopped
        finally:
            notes: list[str] = []
            if run.left_running:
                # First: whoever stops the call in the look leaves it in the session's hands.
                self._leftovers.hold(process, look_on(process, confined, notes))
                notes += await asyncio.to_thread(confined.look)
            else:
                notes += await last_look(process, confined)
        if confined.scratch is not None:
            said = (command, output.text())
            notes += await asyncio.to_thread(confined.goes_with_the_session, *said)
        notes += said_of_sandbox(confined.terms, run.exit_code, output)
        if run.left_running:
            await self._tell_left(command)
        if left is not None:
            notes += await asyncio.to_thread(self.keeping.take, left, confined.environment)
        return result_of_run(run, output, time.monotonic() - began, notes)

    async def _tell_left(self, command: str) -> None:
        """Tell the user of what goes on that is no job."""
        text = f"Left running in the background until the session ends: {one_line(command, _SHOWN)}"
        notice = {"message": text, "level": "info", "source": _OF_JOBS}
        await self._coordinator.hooks.emit(events.USER_NOTIFICATION, notice)

    async def _start(
        self, command: str, folder: Path, *, terminal: bool, tells: bool
    ) -> tuple[CommandProcess, Confined, Path | None]:
        """Start a command; where it `tells`, also return the file in which it says what it leaves.

        Raises:
            SandboxMissingError: It may only run in a sandbox, and there is none.
            OSError: It can't be started.
            ValueError: It holds a NUL.
        """
        confined = await self._confined(command, folder, terminal=terminal)
        line, left = list(confined.command), None
        if tells:
            left = await asyncio.to_thread(self.keeping.place, confined.scratch)
            inside = confined.scratch is not None
            seen = Path(confined.environment["TMPDIR"], left.name) if inside else left
            line[-1] = self.keeping.telling(command, seen)
        try:
            process = await CommandProcess.start(
                line, folder, confined.environment, terminal=terminal
            )
        except BaseException:
            # Stopped while it started, it may have made something.
            await asyncio.to_thread(confined.finish)
            raise
        confined.begin(process.pid)
        return process, confined, left

    async def _confined(self, command: str, folder: Path, *, terminal: bool) -> Confined:
        """Return what to start for a command line; raises what `Confining.confine` does."""
        environment = command_environment(os.environ, self._settings)
        if terminal and "TERM" not in self._settings.env:
            environment["TERM"] = "xterm-256color"
        return await self._confining.confine(
            [self._shell, "-c", command], self.keeping.workspace(), folder, environment
        )

    async def _client_terminals(self) -> ClientTerminals | None:
        """Return the client's terminals; None where it has none, or commands may be confined."""
        terminals: ClientTerminals | None = self._coordinator.get_capability(CLIENT_TERMINALS)
        return None if terminals is None or await self._confining.used() else terminals

    def _output(self) -> Output:
        return Output(self._settings.max_output_chars, _PIECE, secret_values(os.environ))

    async def close(self) -> None:
        """End what commands left running."""
        for end in self.at_end:
            end()
        await self.jobs.close()
        await self._leftovers.end()
        await asyncio.to_thread(self._confining.close)
        await asyncio.to_thread(self.keeping.close)

    def _no_background(self, given: Mapping[str, Any]) -> str:
        """Return why a command can't run in the background, if it is to; else nothing."""
        # The dialog says of other tools' names for it, too, that the command goes on.
        for name in BACKGROUND_KEYS:
            if not isinstance(given.get(name) or False, bool):
                return f"`{name}` must be true or false, not {given[name]!r}."
        wanted = in_background(given)
        if wanted and not self.in_background:
            return "`run_in_background` is not possible in this session: run the command and wait."
        if wanted and self.jobs.full:
            return (
                f"{self._settings.max_jobs} background commands run already, and no more may: stop "
                "one with bash_job first."
            )
        return ""

    def _timeout(self, wanted: Any) -> float | None:
        if wanted is None:
            return self._settings.timeout
        try:
            seconds = float(wanted)
        except (TypeError, ValueError):
            return None
        return min(seconds, self._settings.longest) if seconds > 0 else None

    async def _show(self, text: str) -> None:
        call = {"tool_name": self.name, "tool_call_id": current_tool_call_id(), "text": text}
        await self._coordinator.hooks.emit(PROGRESS, call)
