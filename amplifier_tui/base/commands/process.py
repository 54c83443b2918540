"""A command in a process group of its own, whose output can be read and which can be ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.base.watcher import RUN_VARIABLE, run_mark, watcher
from amplifier_tui.base.watcher.process import group_members, has_proc

TERM_GRACE: Final = 0.5
"""Seconds a process group gets to end by itself before it is killed."""

_READ: Final = 64 * 1024
_POLL: Final = 0.02
_LOOK_EVERY: Final = 1.0


class CommandProcess:
    """A running command. Create it with :meth:`start`."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        pipe: asyncio.ReadTransport,
    ) -> None:
        self._process = process
        self._reader = reader
        self._pipe = pipe
        self.pid = process.pid

    @classmethod
    async def start(
        cls, command: Sequence[str], cwd: Path, env: Mapping[str, str]
    ) -> CommandProcess:
        """Start a program, which ends at the latest when this one does, however that ends.

        Raises:
            OSError: It can't be started.
            ValueError: It holds a NUL.
        """
        # First, so that it knows of the command whenever this program may be killed.
        watcher().start()
        # A pipe of our own: asyncio's would make `wait` wait for every process that holds it, and
        # a command may leave some behind.
        read_end, write_end = os.pipe()
        reader = asyncio.StreamReader(limit=_READ)
        pipe: asyncio.ReadTransport | None = None
        try:
            pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", 0)
            )
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                cwd=cwd,
                env={**env, RUN_VARIABLE: run_mark()},
                start_new_session=True,
            )
        except BaseException:
            if pipe is not None:
                pipe.close()
            raise
        finally:
            os.close(write_end)
        watcher().watch_group(process.pid)
        return cls(process, reader, pipe)

    async def read(self) -> bytes:
        """Return what the command printed, as soon as there is something; empty at the end."""
        return await self._reader.read(_READ)

    async def wait(self) -> int:
        """Return the exit code once the shell has ended; negative for a signal."""
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

    def close(self) -> None:
        """Read no more; the group has ended."""
        watcher().forget_group(self.pid)
        self._pipe.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


class Leftovers:
    """Keeps background processes alive until the session ends.

    What they print is read on: with a closed or full pipe they would die or hang.
    """

    def __init__(self) -> None:
        self._readers: dict[CommandProcess, asyncio.Task[None]] = {}

    def hold(self, process: CommandProcess) -> None:
        """Take over a process group whose shell has ended."""
        task = asyncio.create_task(_read(process), name=f"background:{process.pid}")
        self._readers[process] = task
        task.add_done_callback(lambda _: self._forget(process))

    async def end(self) -> None:
        """End everything that is left."""
        left = dict(self._readers)
        for task in left.values():
            task.cancel()
        await asyncio.gather(*(process.end() for process in left), return_exceptions=True)
        for process in left:
            self._forget(process)

    def _forget(self, process: CommandProcess) -> None:
        if self._readers.pop(process, None) is not None:
            process.close()


async def _read(process: CommandProcess) -> None:
    while await process.read():
        pass
    await process.gone(_LOOK_EVERY)
