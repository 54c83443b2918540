"""Appending lines to a file that has to survive: crashes, full disks, read-only disks."""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

PENDING_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of lines that are kept while the disk does not take them."""

OnTrouble = Callable[["AppendFile", OSError | None], None]
"""Gets the error when writing begins to fail, and None when it works again."""


class AppendFile:
    """A file of lines, appended one at a time.

    A line is in the file, as far as other programs and a killed process are concerned, when
    `append` returns True; there is no fsync. When the disk does not take a line it is kept and
    written before the next one, in order, and the session goes on.

    Args:
        path: The file; it and its folder are made when the first line comes.
        on_trouble: Told when writing begins to fail and when it works again.
    """

    def __init__(self, path: Path, on_trouble: OnTrouble | None = None) -> None:
        self.path = path
        self._on_trouble = on_trouble
        self._handle: int | None = None
        self._size = 0
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._lost = 0
        self._failing = False
        self._closed = False

    @property
    def size(self) -> int:
        """Bytes in the file, once something was written."""
        return self._size

    @property
    def unsaved(self) -> int:
        """Lines that wait for the disk, and those that were given up."""
        return len(self._pending) + self._lost

    def append(self, line: bytes) -> bool:
        """Write a line.

        Args:
            line: Without its line end.

        Returns:
            False when the disk did not take it; then it is kept for later. Also when the file
            is closed; then it is lost.
        """
        if self._closed:
            logger.debug("A line for %s came after its end", self.path)
            return False
        data = line + b"\n"
        try:
            if self._pending:
                self._write(b"".join(self._pending))
                self._pending.clear()
                self._pending_size = 0
            self._write(data)
        except OSError as error:
            self._keep(data)
            self._report(error)
            return False
        if self._failing:
            self._failing = False
            if self._on_trouble is not None:
                self._on_trouble(self, None)
        return True

    def clear(self) -> None:
        """Empty the file."""
        self._pending.clear()
        self._pending_size = 0
        if self._handle is None:
            return
        try:
            os.ftruncate(self._handle, 0)
            self._size = 0
        except OSError as error:
            self._report(error)

    def close(self) -> None:
        """Write what waits, if the disk takes it now, and close for good."""
        self._closed = True
        if self._pending:
            try:
                self._write(b"".join(self._pending))
                self._pending.clear()
            except OSError as error:
                logger.error("%d lines of %s were not saved: %s", self.unsaved, self.path, error)
        if self._handle is not None:
            try:
                os.close(self._handle)
            except OSError as error:
                logger.warning("%s could not be closed: %s", self.path, error)
            self._handle = None

    def _write(self, data: bytes) -> None:
        handle = self._open()
        start = self._size
        view = memoryview(data)
        try:
            while view:
                written = os.write(handle, view)
                self._size += written
                view = view[written:]
        except OSError:
            # Half a line would spoil the next one.
            try:
                os.ftruncate(handle, start)
                self._size = start
            except OSError:
                logger.warning("%s may have half a line at its end", self.path)
            raise

    def _open(self) -> int:
        if self._handle is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            self._handle = os.open(self.path, flags, 0o600)
            self._size = os.fstat(self._handle).st_size
            if self._size and not _ends_with_line(self.path):
                # A process that was killed left half a line; the next one gets its own.
                self._size += os.write(self._handle, b"\n")
        return self._handle

    def _keep(self, data: bytes) -> None:
        self._pending.append(data)
        self._pending_size += len(data)
        while self._pending_size > PENDING_LIMIT and len(self._pending) > 1:
            self._pending_size -= len(self._pending.pop(0))
            self._lost += 1

    def _report(self, error: OSError) -> None:
        if not self._failing:
            self._failing = True
            logger.error("%s can't be written: %s", self.path, error)
            if self._on_trouble is not None:
                self._on_trouble(self, error)


def _ends_with_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
