"""Following a command from its start to its end, and keeping what it prints."""

import asyncio
import codecs
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from amplifier_tui.base.commands.process import CommandProcess
from amplifier_tui.base.secrets import LONGEST_PRIVATE_KEY, cut_after, cut_before, unfinished
from amplifier_tui.base.text import printed

logger = logging.getLogger(__name__)

_SHOW_EVERY: Final = 0.1
"""Seconds between two pieces of progress."""

_LAST_WORDS: Final = 0.2
"""Seconds after the shell's end in which output is still waited for."""

_LOOK_EVERY: Final = 0.01

_AROUND: Final = LONGEST_PRIVATE_KEY
"""Characters that are kept around a cut, to see whether it is within a secret."""


class Output:
    """Collects output in bounded space: `limit` characters, half of them from the end.

    It is passed on in pieces of at most `piece` characters. Neither these nor what is kept begin or
    end within a secret: whoever replaces secrets later would not know the half of one.

    Args:
        values: Secrets that are known, beside what looks like one.
    """

    def __init__(self, limit: int, piece: int, values: Iterable[str] = ()) -> None:
        self._half = limit // 2
        self._piece = piece
        self._values = tuple(values)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = ""
        self._tail = ""
        self._pending = ""
        self._skipped = 0
        self._total = 0
        self._ended = False
        self.size = 0

    def feed(self, data: bytes) -> None:
        """Take what was read; empty data means the end."""
        self.size += len(data)
        self._ended = not data
        text = self._decoder.decode(data, final=not data)
        self._total += len(text)
        room = self._half + _AROUND - len(self._head)
        if room > 0:
            self._head += text[:room]
            kept = text[room:]
        else:
            kept = text
        self._tail = (self._tail + kept)[-(self._half + _AROUND) :]
        self._pending += text
        most = self._piece + _AROUND
        if len(self._pending) > most:
            self._skipped += len(self._pending) - most
            self._pending = self._pending[-most:]

    @property
    def waiting(self) -> bool:
        """Whether there may be something to pass on."""
        return bool(self._pending)

    def take_piece(self) -> str:
        """Return what came since the last piece; of very much, the end.

        What may be the beginning of a secret waits for the rest of it, until the end.
        """
        text, skipped = self._pending, self._skipped
        held = 0 if self._ended else unfinished(text, self._values)
        end = cut_before(text, len(text) - held, self._values) if held else len(text)
        start = 0
        if skipped or end > self._piece:
            start = min(end, cut_after(text, max(0, end - self._piece), self._values))
        self._pending, self._skipped = text[end:], 0
        left_out = skipped + start
        piece = text[start:end]
        return f"[… {left_out} characters …]\n{piece}" if left_out else piece

    def begin(self, text: str, most: int) -> int:
        """Return where the last `most` characters of a text begin, or later: within no secret."""
        return cut_after(text, len(text) - most, self._values) if len(text) > most else 0

    def end(self, text: str, most: int) -> int:
        """Return where the first `most` characters of a text end, or before: within no secret."""
        return cut_before(text, most, self._values) if len(text) > most else len(text)

    def text(self) -> str:
        """Return the output for the model: plain text, the middle of very much left out."""
        head, tail = self._head, self._tail
        if self._total <= 2 * self._half:
            return printed(head + tail)
        if self._total == len(head) + len(tail):
            head = tail = head + tail
        head = head[: cut_before(head, self._half, self._values)]
        tail = tail[cut_after(tail, len(tail) - self._half, self._values) :]
        left_out = self._total - len(head) - len(tail)
        return (
            f"{printed(head)}\n"
            f"[… {left_out} of {self._total} characters left out ({self.size} bytes in all) …]\n"
            f"{printed(tail)}"
        )


class CommandRun:
    """One command, until its shell ends or its `timeout` in seconds, if it has one, is over.

    `exit_code` is negative for a signal; `left_running` says that processes of it go on after the
    shell's end.
    """

    def __init__(
        self,
        process: CommandProcess,
        output: Output,
        timeout: float | None,
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
            try:
                # What it says to its end is read on.
                await self._end_and_close()
            finally:
                reading.cancel()
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
        if self.process.group_alive:
            # The last process of a sandbox ends a moment after the shell.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_WORDS):
                    await self.process.gone(_LOOK_EVERY)
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
            piece = self._output.take_piece() if self._output.waiting else ""
            if piece:
                await self._show(piece)


async def _stopped(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait for its end."""
    task.cancel()
    # Not `await task`: suppressing its cancellation would suppress our own as well.
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("A command's output could not be followed", exc_info=error)
