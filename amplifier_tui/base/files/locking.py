"""Locks between processes, each on a file of its own."""

import contextlib
import errno
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.reading import FLAGS, NO_LINK, NO_WAIT, require_regular

try:
    import fcntl
except ImportError:  # Windows has no flock; there nothing is guarded.
    _flock = None
else:
    _flock = fcntl.flock
    _EXCLUSIVE = fcntl.LOCK_EX | fcntl.LOCK_NB
    _SHARED = fcntl.LOCK_SH | fcntl.LOCK_NB

logger = logging.getLogger(__name__)

_BUSY: Final = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)
_RETRY_SECONDS: Final = 0.01


class FileLockedError(OSError):
    """Another process, or another part of this one, holds the lock.

    Attributes:
        owner: The process id of the holder, where it noted one; else empty.
    """

    def __init__(self, path: Path, owner: str) -> None:
        super().__init__(errno.EAGAIN, "locked" + (f" by process {owner}" if owner else ""))
        self.filename = str(path)
        self.owner = owner


class FileLock:
    """A lock between processes (and threads), kept on a file of its own.

    It ends with the process, however that ends; the file stays. Where the system or the file
    system has no locks nothing is guarded.

    Args:
        path: The file to lock, which is not the file that is guarded.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def acquire(self, timeout: float = 0.0) -> None:
        """Take the lock.

        Args:
            timeout: Seconds to wait for another holder.

        Raises:
            FileLockedError: Another holder still has it.
            IsADirectoryError: The path is a folder.
            NotRegularFileError: It is a link, a pipe or a device.
            OSError: The file can't be made.
        """
        flags = os.O_RDWR | os.O_CREAT | NO_LINK | NO_WAIT | FLAGS
        handle = os.open(self.path, flags, 0o600)
        try:
            require_regular(self.path, os.fstat(handle).st_mode)
            self._wait(handle, time.monotonic() + timeout)
            os.ftruncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    def is_free(self) -> bool:
        """Whether nobody holds the lock just now; it is not taken, and no file is made.

        Raises:
            OSError: The file can't be looked at.
        """
        try:
            handle = os.open(self.path, os.O_RDONLY | NO_LINK | NO_WAIT | FLAGS)
        except FileNotFoundError:
            return True
        try:
            if _flock is not None:
                # Shared: whoever else looks at the same moment finds it free, too.
                _flock(handle, _SHARED)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            logger.warning("%s can't be locked: %s", self.path, error)
        finally:
            os.close(handle)
        return True

    def release(self) -> None:
        """Give the lock back; without it nothing happens."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            os.close(handle)

    def _wait(self, handle: int, deadline: float) -> None:
        while _flock is not None:
            try:
                return _flock(handle, _EXCLUSIVE)
            except OSError as error:
                if error.errno not in _BUSY:
                    logger.warning("%s can't be locked: %s", self.path, error)
                    return None
                if time.monotonic() >= deadline:
                    owner = os.read(handle, 20).decode("ascii", "replace").strip()
                    raise FileLockedError(self.path, owner if owner.isdigit() else "") from error
            time.sleep(_RETRY_SECONDS)
        return None


@contextlib.contextmanager
def locked(path: Path, timeout: float = 10.0) -> Iterator[None]:
    """Keep other processes from changing a file between reading it and writing it.

    Args:
        path: The guarded file; the lock is on `<name>.lock` beside it. The folder is made.
        timeout: Seconds to wait for another holder.

    Raises:
        FileLockedError: Another holder still has it.
        OSError: The lock file can't be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(path.name + ".lock"))
    lock.acquire(timeout)
    try:
        yield
    finally:
        lock.release()
