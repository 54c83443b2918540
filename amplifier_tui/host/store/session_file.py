"""A file of a session that goes on growing: what the disk does not take is kept for later."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import AppendFile, write_atomic

logger = logging.getLogger(__name__)

PENDING_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of lines that are kept while the disk does not take them."""

OnTrouble = Callable[["SessionFile", OSError | None], None]
"""Gets the error when writing begins to fail, and None when it works again."""


class SessionFile:
    """A file of lines. A line the disk does not take is written before the next one, in order.

    Args:
        path: The file; it and its folder are made when the first line comes.
        on_trouble: Told when writing begins to fail and when it works again.

    Attributes:
        trouble: Why the disk did not take what came last; None while it takes everything.
    """

    def __init__(self, path: Path, on_trouble: OnTrouble | None = None) -> None:
        self.path = path
        self._file = AppendFile(path)
        self._on_trouble = on_trouble
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._lost = 0
        self.trouble: OSError | None = None
        self._closed = False

    @property
    def unsaved(self) -> int:
        """Lines that wait for the disk, and those that were given up."""
        return sum(each.count(b"\n") for each in self._pending) + self._lost

    def append(self, line: bytes) -> int | None:
        """Write a line.

        Returns:
            Where in the file it begins. None when the disk did not take it and it is kept, and
            when the file is closed and it is lost.
        """
        if self._closed:
            logger.debug("A line for %s came after its end", self.path)
            return None
        try:
            self._write_pending()
            start = self._file.append(line)
        except OSError as error:
            self._keep(line)
            self._report(error)
            return None
        self._works()
        return start

    def flush(self) -> None:
        """Write what waits, as much of it as the disk takes now."""
        try:
            self._write_pending()
        except OSError as error:
            self._report(error)
        else:
            self._works()

    def replace(self, data: bytes) -> None:
        """Put other lines in place of all there are.

        Raises:
            OSError: The disk does not take them, or what waits for it; the file is as it was.
        """
        self._write_pending()
        write_atomic(self.path, data, mode=0o600, durable=True)
        self._file.close()

    def clear(self) -> None:
        """Empty the file."""
        self._pending.clear()
        self._pending_size = 0
        try:
            self._file.clear()
        except OSError as error:
            self._report(error)

    def close(self) -> None:
        """Write what waits, as much of it as the disk takes now, and close for good."""
        self._closed = True
        try:
            self._write_pending()
        except OSError as error:
            self.trouble = error
            logger.error("%d lines of %s were not saved: %s", self.unsaved, self.path, error)
        else:
            self.trouble = None
        try:
            self._file.close()
        except OSError as error:
            logger.warning("%s could not be closed: %s", self.path, error)

    def _write_pending(self) -> None:
        written = 0
        try:
            # One by one: a disk with little room takes the first of them.
            for line in self._pending:
                self._file.append(line)
                written += 1
        finally:
            self._pending_size -= sum(map(len, self._pending[:written]))
            del self._pending[:written]

    def _keep(self, line: bytes) -> None:
        self._pending.append(line)
        self._pending_size += len(line)
        while self._pending_size > PENDING_LIMIT and len(self._pending) > 1:
            given_up = self._pending.pop(0)
            self._pending_size -= len(given_up)
            self._lost += given_up.count(b"\n")

    def _report(self, error: OSError) -> None:
        known, self.trouble = self.trouble, error
        if known is None:
            logger.error("%s can't be written: %s", self.path, error)
            if self._on_trouble is not None:
                self._on_trouble(self, error)

    def _works(self) -> None:
        if self.trouble is not None:
            self.trouble = None
            if self._on_trouble is not None:
                self._on_trouble(self, None)
