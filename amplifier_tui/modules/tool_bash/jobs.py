"""Commands that run in the background, from their start to the end of the session."""

import asyncio
import contextvars
import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import field
from typing import Any, Final

from amplifier_tui.base.commands.beside import beside_confined, named_in
from amplifier_tui.base.commands.process import CommandProcess, Leftovers
from amplifier_tui.base.commands.run import CommandRun, Output
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.sub_sessions import NO_NETWORK, exit_words
from amplifier_tui.base.text import printed
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules.tool_bash import confining
from amplifier_tui.modules.tool_bash.confining import Confined, last_look, look_on
from amplifier_tui.modules.tool_bash.earlier_jobs import earlier_jobs
from amplifier_tui.modules.tool_bash.results import said_of_sandbox

logger = logging.getLogger(__name__)

STARTED: Final = "job:started"
PROGRESS: Final = "job:progress"
ENDED: Final = "job:ended"
JOBS: Final = "shell.jobs"
"""Capability with the `Jobs` of a session."""
EARLIER: Final = "ended with its session or before"
"""How one stands that ran before the session was opened again."""

_MOST_ENDED: Final = 50
"""Jobs that have ended and are kept with what they printed."""
_LOST: Final = "could not be followed"
_SAY_EVERY: Final = 1.0
"""Seconds between two pieces of progress."""


@dataclass
class Job:
    """A command in the background.

    Attributes:
        unread: What it printed since it was read last: the end of it, `skipped` characters less.
        tail: The last it printed, read or not.
        ended: Whether it has; `exit_code` counts then: negative for a signal, None where it is not
            known as the job could not be followed.
        no_network: It runs in the sandbox without network: nothing else reaches a port of it.
        earlier: It ran before the session was opened again.
        told: The model knows that it has ended.
    """

    job_id: str
    command: str
    output: Output
    no_network: bool = False
    started: float = field(default_factory=time.time)
    seconds: float = 0.0
    unread: str = ""
    skipped: int = 0
    tail: str = ""
    exit_code: int | None = 0
    ended: bool = False
    earlier: bool = False
    stopped: bool = False
    told: bool = False
    notes: list[str] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    @property
    def state(self) -> str:
        """How it stands, in words."""
        if not self.ended:
            return "running"
        if self.earlier:
            return EARLIER
        if self.stopped:
            return "stopped"
        return _LOST if self.exit_code is None else exit_words(self.exit_code)

    def facts(self) -> dict[str, Any]:
        """Return it as event data."""
        return {
            "job_id": self.job_id,
            "command": self.command,
            "started": self.started,
            "seconds": self.seconds if self.ended else time.time() - self.started,
            "ended": self.ended,
            "state": self.state,
            "exit_code": self.exit_code,
            "no_network": self.no_network,
            "earlier": self.earlier,
        }


class Jobs:
    """The background commands of a session.

    Args:
        coordinator: Whose hooks are told.
        most: How many may run at once.
        kept: Characters of each that are kept.
        leftovers: Takes over what their commands leave running.
    """

    def __init__(self, coordinator: Any, most: int, kept: int, leftovers: Leftovers) -> None:
        self._coordinator = coordinator
        self._most = most
        self._kept = kept
        self._leftovers = leftovers
        self._jobs: dict[str, Job] = {}
        self._count = 0
        self._beginning = 0

    @property
    def full(self) -> bool:
        """Whether no other may run beside those that do, or are about to."""
        return len(self._running()) + self._beginning >= self._most

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """Keep room for a command that is being started: others may be side by side with it."""
        self._beginning += 1
        try:
            yield
        finally:
            self._beginning -= 1

    def cards(self) -> list[dict[str, Any]]:
        """Return what is known of each job, the newest first."""
        return [{**job.facts(), "tail": job.tail} for job in reversed(self._jobs.values())]

    def take_up(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Know of the jobs of a stored conversation, which ended with the session at the latest."""
        self._count, commands = earlier_jobs(messages)
        for job_id, command in commands.items():
            nothing = Output(0, 1)
            self._jobs[job_id] = Job(
                job_id, command, nothing, started=0.0, ended=True, earlier=True
            )

    async def start(
        self, command: str, process: CommandProcess, confined: Confined, output: Output
    ) -> Job:
        """Follow a command that was started from here on."""
        self._count += 1
        self._forget()
        job_id, no_network = f"job-{self._count}", NO_NETWORK in confined.terms
        job = self._jobs[job_id] = Job(job_id, command, output, no_network)
        work = self._follow(job, process, confined)
        # It is no part of the call, nor of the turn, that began it.
        job.task = asyncio.create_task(
            work, name=f"background {job.job_id}", context=contextvars.Context()
        )
        # One that was cancelled before it begins could not end the command.
        await asyncio.sleep(0)
        await self._say(STARTED, job)
        return job

    def take(self, job_id: str) -> tuple[Job, str] | None:
        """Return a job and what it printed since it was read last; None for an unknown one."""
        job = self._jobs.get(job_id)
        if job is None:
            return None
        text, skipped = job.unread, job.skipped
        job.unread, job.skipped = "", 0
        job.told = job.told or job.ended
        return job, f"[… {skipped} characters …]\n{text}" if skipped else text

    def text(self, job_id: str) -> str:
        """Return what a job printed, the middle of very much left out; raises `KeyError`."""
        return self._jobs[job_id].output.text()

    async def stop(self, job_id: str) -> bool:
        """End a job; False where it does not run."""
        job = self._jobs.get(job_id)
        if job is None or job.ended or job.task is None:
            return False
        job.stopped = True
        job.task.cancel()
        await asyncio.wait([job.task])
        return True

    async def close(self) -> None:
        """End every job."""
        tasks = [job.task for job in self._running() if job.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def remind(self, event: str, data: dict[str, Any]) -> HookResult:
        """``provider:request``: tell the model, once, which jobs have ended."""
        ended = [job for job in self._jobs.values() if job.ended and not job.told]
        if not ended:
            return HookResult(action="continue")
        for job in ended:
            job.told = True
        lines = "\n".join(map(_ending, ended))
        return HookResult(
            action="inject_context",
            context_injection=(
                '<system-reminder source="tool-bash">\nThese background commands have ended; not '
                f"a message of the user. Read what they printed with bash_job.\n{lines}\n"
                "</system-reminder>"
            ),
            context_injection_role="user",
            # What the conversation says of them else, that they run, stays in it, too. And a resume
            # would tell of the end again, knowing less.
            ephemeral=False,
        )

    def _forget(self) -> None:
        """Drop the oldest of those that have ended; first those the model knows of."""
        ended = sorted(
            (job for job in self._jobs.values() if job.ended), key=lambda job: not job.told
        )
        for job in ended[: max(0, len(ended) - _MOST_ENDED)]:
            del self._jobs[job.job_id]

    def _running(self) -> list[Job]:
        return [job for job in self._jobs.values() if not job.ended]

    async def _follow(self, job: Job, process: CommandProcess, confined: Confined) -> None:
        shown = 0.0

        async def show(piece: str) -> None:
            nonlocal shown
            text = job.unread + piece
            start = job.output.begin(text, self._kept)
            job.skipped += start
            job.unread = text[start:]
            job.tail = _last_line(piece, job.output) or job.tail
            if time.monotonic() - shown >= _SAY_EVERY:
                shown = time.monotonic()
                await self._say(PROGRESS, job, tail=job.tail)

        run = CommandRun(process, job.output, None, show)
        # It may go on for days; what it makes must not take effect until then.
        looking = asyncio.create_task(_look(job, confined))
        try:
            # What the user let run may make what it names.
            free = confined.made is None
            async with beside_confined(named_in(job.command)) if free else nullcontext():
                await run.finish()
            job.exit_code = run.exit_code
            job.notes += said_of_sandbox(confined.terms, run.exit_code, job.output)
        except asyncio.CancelledError:
            job.stopped = True
            raise
        except Exception as error:
            # Nobody awaits it: it is part of what the job printed.
            logger.exception("The command of %s could not be followed", job.job_id)
            job.notes.append(f"It could not be followed: {error}")
            job.exit_code = None
        finally:
            looking.cancel()
            job.ended, job.seconds = True, time.time() - job.started
            try:
                if run.left_running:
                    self._leftovers.hold(process, look_on(process, confined, job.notes))
                    job.notes += await asyncio.to_thread(confined.look)
                else:
                    job.notes += await last_look(process, confined)
            finally:
                await self._say(ENDED, job, tail=job.tail)

    async def _say(self, event: str, job: Job, **more: Any) -> None:
        await self._coordinator.hooks.emit(event, {**job.facts(), **more})


def _ending(job: Job) -> str:
    if job.earlier:
        return f"{job.job_id}: {EARLIER}, and does not run any more"
    return f"{job.job_id}: {job.state}, after {job.seconds:.0f} s"


async def _look(job: Job, confined: Confined) -> None:
    while True:
        await asyncio.sleep(confining.LOOK_EVERY)
        job.notes += await asyncio.to_thread(confined.look)


def _last_line(text: str, output: Output) -> str:
    lines: Iterable[str] = reversed(printed(text[output.begin(text, 2_000) :]).splitlines())
    line = next((line.strip() for line in lines if line.strip()), "")
    return line[: output.end(line, 200)]
