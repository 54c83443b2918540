"""Appending lines to a file without holding up the loop."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

logger = logging.getLogger(__name__)

Line = Callable[[], str]
"""Makes a line; called in the writing thread."""

FLUSH_AFTER: Final = 0.5
"""Seconds after which a line is written."""

FLUSH_AT: Final = 500
"""Waiting lines at which they are written at once."""

MOST_WAITING: Final = 20_000
"""Waiting lines beyond which new ones are dropped: the disk does not keep up."""


class LineWriter:
    """Writes lines to the end of a file, in their order.

    Args:
        path: The file; it and its folder are made with the first line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: list[Line] = []
        self._lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._dropped = 0
        self._broken = False

    def add(self, line: Line) -> None:
        """Take a line; it is written soon."""
        if self._broken:
            return
        if len(self._waiting) >= MOST_WAITING:
            self._dropped += 1
            return
        self._waiting.append(line)
        if len(self._waiting) >= FLUSH_AT:
            self._start()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_AFTER, self._start)

    async def flush(self) -> None:
        """Write everything that waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        async with self._lock:
            lines, self._waiting = self._waiting, []
            if not lines or self._broken:
                return
            try:
                await asyncio.to_thread(self._write, lines)
            except OSError as error:
                self._broken = True
                logger.error(
                    "The event log %s can't be written, logging ends: %s", self._path, error
                )
            if self._dropped:
                logger.warning("%d events are missing from %s", self._dropped, self._path)
                self._dropped = 0

    def _start(self) -> None:
        self._timer = None
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.get_running_loop().create_task(self.flush())

    def _write(self, lines: list[Line]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{_made(line)}\n" for line in lines)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        handle = os.open(self._path, flags, 0o600)
        with os.fdopen(handle, "a+b") as file:
            if _is_torn(file):
                text = f"\n{text}"
            file.write(text.encode("utf-8", "backslashreplace"))


def _is_torn(file: BinaryIO) -> bool:
    """Whether the last line has no end: a program was killed while it wrote it."""
    if file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"


def _made(line: Line) -> str:
    try:
        return line()
    except Exception as error:
        logger.exception("An event could not be written down")
        return f'{{"lvl": "ERROR", "event": "log:failed", "error": "{type(error).__name__}"}}'
