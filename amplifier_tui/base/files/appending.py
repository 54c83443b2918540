"""Files of lines that grow at their end."""

import contextlib
import logging
import os
from pathlib import Path

from amplifier_tui.base.files.reading import FLAGS, NO_WAIT

logger = logging.getLogger(__name__)


class AppendFile:
    """A file of lines that grows at its end.

    What is appended is in the file for other programs, and after this process dies, when `append`
    returns. Several processes may append to the same file.

    Args:
        path: The file; it and its folder are made when the first data comes.
        mode: Permissions of a new file.
    """

    def __init__(self, path: Path, mode: int = 0o600) -> None:
        self.path = path
        self._mode = mode
        self._handle: int | None = None

    @property
    def size(self) -> int:
        """Bytes in the file; 0 before the first data."""
        return 0 if self._handle is None else os.fstat(self._handle).st_size

    def append(self, lines: bytes) -> int:
        """Append lines, all or none.

        Args:
            lines: With their line ends.

        Returns:
            Where in the file they begin.

        Raises:
            OSError: The disk does not take them.
        """
        handle = self._open()
        start = os.fstat(handle).st_size
        view, written = memoryview(lines), 0
        try:
            # A disk that gets full takes a part of it, and says no only to the rest.
            while written < len(view):
                written += os.write(handle, view[written:])
        except OSError:
            self._take_back(handle, start, written)
            raise
        return start

    def clear(self) -> None:
        """Empty the file.

        Raises:
            OSError: It can't be done.
        """
        if self._handle is not None:
            os.ftruncate(self._handle, 0)

    def close(self) -> None:
        """Close the file; the next `append` opens it again."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            os.close(handle)

    def _open(self) -> int:
        if self._handle is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_WAIT | FLAGS
            handle = os.open(self.path, flags, self._mode)
            try:
                if os.fstat(handle).st_size:
                    os.lseek(handle, -1, os.SEEK_END)
                    if os.read(handle, 1) != b"\n":
                        # A process that was killed left half a line; the next one gets its own.
                        os.write(handle, b"\n")
            except OSError:
                os.close(handle)
                raise
            self._handle = handle
        return self._handle

    def _take_back(self, handle: int, start: int, written: int) -> None:
        """Remove half a line, unless another process appended after it meanwhile."""
        try:
            if os.fstat(handle).st_size == start + written:
                os.ftruncate(handle, start)
        except OSError:
            logger.warning("%s may have half a line at its end", self.path)


def append(path: Path, lines: bytes, *, mode: int = 0o600) -> None:
    """Append lines to a file once, all or none; see `AppendFile`.

    Raises:
        OSError: The file can't be written; it is as it was.
    """
    with contextlib.closing(AppendFile(path, mode)) as file:
        file.append(lines)
