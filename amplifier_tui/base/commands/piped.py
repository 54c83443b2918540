"""A program that is spoken to: lines go in and come out, and its complaints come apart."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.process import ProcessGroup, ReadingPipe, start_group
from amplifier_tui.base.watcher import watcher

_COMPLAINT: Final = 64 * 1024
"""Bytes of a line of stderr that are read at once."""
_GRACE: Final = 0.5
"""Seconds it gets to end by itself after its input was closed."""
_LOOKS: Final = 50


class PipedProcess(ProcessGroup):
    """A running program with pipes to and from it. Create it with :meth:`start`."""

    def __init__(
        self, process: asyncio.subprocess.Process, out: ReadingPipe, complaints: ReadingPipe
    ) -> None:
        super().__init__(process)
        self._out = out
        self._complaints = complaints

    @classmethod
    async def start(
        cls, command: Sequence[str], cwd: Path, env: Mapping[str, str], longest: int
    ) -> PipedProcess:
        """Start a program, which ends at the latest when this one does, however that ends.

        Args:
            longest: Bytes of a line that it may write.

        Raises:
            OSError: It can't be started.
            ValueError: It holds a NUL.
        """
        out = await ReadingPipe.open(longest)
        try:
            complaints = await ReadingPipe.open(_COMPLAINT)
        except BaseException:
            out.hand_over()
            out.close()
            raise
        try:
            process = await start_group(
                command, cwd, env, (asyncio.subprocess.PIPE, out.handle, complaints.handle)
            )
        except BaseException:
            out.close()
            complaints.close()
            raise
        finally:
            out.hand_over()
            complaints.hand_over()
        return cls(process, out, complaints)

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    async def read_line(self) -> bytes:
        """Return the next line of its output with its end; empty where there are no more.

        Raises:
            ValueError: The line is longer than it may be.
        """
        return await self._out.reader.readline()

    async def read_complaint(self) -> bytes:
        """Return what came on stderr, as soon as there is something; empty at the end."""
        return await self._complaints.reader.read(_COMPLAINT)

    async def write(self, data: bytes) -> None:
        """Write to its input, as fast as it reads.

        Raises:
            OSError: It reads no more.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def end(self) -> None:
        """Close its input, and end it and all it started. Takes about a second at most."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            # `wait` would also wait for others that hold its pipes.
            for _ in range(_LOOKS):
                if self.exit_code is not None:
                    break
                await asyncio.sleep(_GRACE / _LOOKS)
            await super().end()
        except BaseException:
            # Cancelled: who ends it has forgotten it then.
            self.kill()
            raise
        finally:
            watcher().forget_group(self.pid)
            self._out.close()
            self._complaints.close()
