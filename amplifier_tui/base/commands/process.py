"""A command in a process group of its own, whose output can be read and which can be ended."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.watcher import RUN_VARIABLE, run_mark, watcher
from amplifier_tui.base.watcher.process import group_members, has_proc

TERM_GRACE: Final = 0.5
"""Seconds a process group gets to end by itself before it is killed."""

_READ: Final = 64 * 1024
_POLL: Final = 0.02
_LOOK_EVERY: Final = 1.0


class ProcessGroup:
    """A program that runs in a process group of its own, with whatever it started."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid

    async def wait(self) -> int:
        """Return the exit code once the program has ended; negative for a signal."""
        return await self._process.wait()

    @property
    def group_alive(self) -> bool:
        """Whether a process of the group is left, but for dead ones that nobody collected."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return not has_proc() or bool(group_members(self.pid))

    async def gone(self, every: float) -> None:
        """Wait for the end of the whole group, looking every few seconds: no event tells it."""
        while True:
            if not self.group_alive:
                return
            await asyncio.sleep(every)

    async def end(self) -> None:
        """End the group: ask first, then kill. Takes at most about :data:`TERM_GRACE` seconds."""
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(TERM_GRACE):
                await self._process.wait()
                await self.gone(_POLL)
        except TimeoutError:
            pass
        finally:
            # Also when this is cancelled: the second stop does not wait.
            self.kill()
        await self._process.wait()

    def kill(self) -> None:
        """Kill the group."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


async def start_group(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    pipes: tuple[int, int, int],
    more: Sequence[int] = (),
) -> asyncio.subprocess.Process:
    """Start a program in a group of its own, which ends at the latest when this program does.

    Args:
        pipes: Its input, output and stderr, as `asyncio.create_subprocess_exec` takes them.
        more: Further descriptors it gets, under the same numbers.

    Raises:
        OSError: It can't be started.
        ValueError: It holds a NUL.
    """
    # First, so that it knows of the command whenever this program may be killed.
    watcher().start()
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            stdin=pipes[0],
            stdout=pipes[1],
            stderr=pipes[2],
            pass_fds=more,
            cwd=cwd,
            env={**env, RUN_VARIABLE: run_mark()},
            start_new_session=True,
        )
    )
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # Stopped while it starts, asyncio would kill the program at once, and leave its children.
        # A second stop does not reach the task.
        ending = asyncio.ensure_future(_end_started(starting))
        _ending.add(ending)
        ending.add_done_callback(_ending.discard)
        await asyncio.shield(ending)
        raise
    watcher().watch_group(process.pid)
    return process


_ending: set[asyncio.Future[None]] = set()


async def _end_started(starting: asyncio.Future[asyncio.subprocess.Process]) -> None:
    with contextlib.suppress(OSError, ValueError):
        await ProcessGroup(await starting).end()


class ReadingPipe:
    """A pipe of this program's own that others write to. Create it with :meth:`open`.

    asyncio's would make `wait` wait for every process that holds it, and a program may leave some
    behind.

    Attributes:
        reader: What was written.
        handle: Where others write, until `hand_over`.
    """

    def __init__(
        self, reader: asyncio.StreamReader, transport: asyncio.ReadTransport, handle: int
    ) -> None:
        self.reader = reader
        self.handle = handle
        self._transport = transport

    @classmethod
    async def open(cls, limit: int, *, terminal: bool = False) -> ReadingPipe:
        """Open a pipe; `limit` is how many bytes of a line are read at most.

        Args:
            terminal: A terminal of 80 columns in its place.

        Raises:
            OSError: There are too many open files.
        """
        read_end, write_end = _terminal() if terminal else os.pipe()
        reader = asyncio.StreamReader(limit=limit)
        try:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", 0)
            )
        except BaseException:
            os.close(write_end)
            raise
        return cls(reader, transport, write_end)

    def hand_over(self) -> None:
        """Close the writing end, which the program that was started has now."""
        os.close(self.handle)

    def close(self) -> None:
        """Read no more."""
        self._transport.close()


def _terminal() -> tuple[int, int]:
    """Return both ends of a terminal: the one to read from, and the one to print to."""
    # Not every system has them, and this file is imported on all.
    import pty
    import termios

    read_end, write_end = pty.openpty()
    termios.tcsetwinsize(write_end, (24, 80))
    return read_end, write_end


class CommandProcess(ProcessGroup):
    """A running command. Create it with :meth:`start`."""

    def __init__(self, process: asyncio.subprocess.Process, pipe: ReadingPipe) -> None:
        super().__init__(process)
        self._pipe = pipe

    @classmethod
    async def start(
        cls, command: Sequence[str], cwd: Path, env: Mapping[str, str], *, terminal: bool = False
    ) -> CommandProcess:
        """Start a program, which ends at the latest when this one does, however that ends.

        Args:
            terminal: What it prints goes to a terminal. It reads from none.

        Raises:
            OSError: It can't be started.
            ValueError: It holds a NUL.
        """
        pipe = await ReadingPipe.open(_READ, terminal=terminal)
        try:
            process = await start_group(
                command, cwd, env, (asyncio.subprocess.DEVNULL, pipe.handle, pipe.handle)
            )
        except BaseException:
            pipe.close()
            raise
        finally:
            pipe.hand_over()
        return cls(process, pipe)

    async def read(self) -> bytes:
        """Return what the command printed, as soon as there is something; empty at the end."""
        try:
            return await self._pipe.reader.read(_READ)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            # So ends a terminal that nobody has open any more.
            return b""

    def close(self) -> None:
        """Read no more; the group has ended."""
        watcher().forget_group(self.pid)
        self._pipe.close()


class Leftovers:
    """Keeps background processes alive until the session ends.

    What they print is read on: with a closed or full pipe they would die or hang.
    """

    def __init__(self) -> None:
        self._readers: dict[CommandProcess, asyncio.Task[None]] = {}

    def hold(
        self, process: CommandProcess, beside: Coroutine[Any, Any, None] | None = None
    ) -> None:
        """Take over a process group whose shell has ended.

        Args:
            process: Of the group.
            beside: What goes on as long as it does. It is cancelled once `end` has ended the group.
        """
        both = (_read(process), *(() if beside is None else (beside,)))
        task = asyncio.create_task(_all(both), name=f"background:{process.pid}")
        self._readers[process] = task
        task.add_done_callback(lambda _: self._forget(process))

    async def end(self) -> None:
        """End everything that is left."""
        left = dict(self._readers)
        try:
            await asyncio.gather(*(process.end() for process in left), return_exceptions=True)
        finally:
            # Only now: what goes on beside a group also sees what that does at its end.
            for task in left.values():
                task.cancel()
            if left:
                await asyncio.wait(left.values())
            for process in left:
                self._forget(process)

    def _forget(self, process: CommandProcess) -> None:
        if self._readers.pop(process, None) is not None:
            process.close()


async def _all(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do several things at once; none of them is left when this has ended."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _read(process: CommandProcess) -> None:
    while await process.read():
        pass
    await process.gone(_LOOK_EVERY)
