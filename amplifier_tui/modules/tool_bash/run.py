"""Following a command from its start to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from amplifier_tui.modules.tool_bash.output import Output
from amplifier_tui.modules.tool_bash.process import CommandProcess

logger = logging.getLogger(__name__)

_SHOW_EVERY: Final = 0.1
"""Seconds between two pieces of progress."""

_LAST_WORDS: Final = 0.2
"""Seconds after the shell's end in which output is still waited for."""


class Run:
    """One command, until its shell ends.

    Args:
        process: The command.
        output: Where its output goes.
        timeout: Seconds it may take.
        show: Gets the output in pieces, as it comes.

    Attributes:
        exit_code: Of the shell; negative for a signal.
        timed_out: Whether it was ended because it took too long.
        left_running: Whether processes of it go on after the shell's end.
    """

    def __init__(
        self,
        process: CommandProcess,
        output: Output,
        timeout: float,
        show: Callable[[str], Awaitable[None]],
    ) -> None:
        self.process = process
        self.timeout = timeout
        self.exit_code = 0
        self.timed_out = False
        self.left_running = False
        self._output = output
        self._show = show

    async def finish(self) -> None:
        """Follow the command to its end.

        Raises:
            asyncio.CancelledError: This was cancelled; the command and its children are gone.
        """
        reading = asyncio.create_task(self._read())
        showing = asyncio.create_task(self._show_pieces())
        try:
            await self._wait(reading)
        except BaseException:
            reading.cancel()
            await self._end_and_close()
            raise
        finally:
            await _stopped(showing)
        self._output.feed(b"")
        if self._output.waiting:
            await self._show(self._output.take_piece())

    async def _wait(self, reading: asyncio.Task[None]) -> None:
        try:
            async with asyncio.timeout(self.timeout):
                self.exit_code = await self.process.wait()
        except TimeoutError:
            self.timed_out = True
            await self.process.end()
            self.exit_code = await self.process.wait()
        # What is in the pipe comes at once; a process left behind may hold it open for ever.
        await asyncio.wait([reading], timeout=_LAST_WORDS)
        ended = reading.done()
        await _stopped(reading)
        self.left_running = self.process.group_alive or not ended
        if not self.left_running:
            self.process.close()

    async def _end_and_close(self) -> None:
        try:
            await self.process.end()
        finally:
            self.process.close()

    async def _read(self) -> None:
        while data := await self.process.read():
            self._output.feed(data)

    async def _show_pieces(self) -> None:
        while True:
            await asyncio.sleep(_SHOW_EVERY)
            if self._output.waiting:
                await self._show(self._output.take_piece())


async def _stopped(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait for its end."""
    task.cancel()
    # Not `await task`: suppressing its cancellation would suppress our own as well.
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("A command's output could not be followed", exc_info=error)
