"""One writer per session folder."""

import errno
import logging
import os
from pathlib import Path

logger = logging.getLogger(__name__)

try:
    import fcntl
except ImportError:  # Windows has no flock; there the folder is not guarded.
    _flock = None
else:
    _flock = fcntl.flock
    _EXCLUSIVE = fcntl.LOCK_EX | fcntl.LOCK_NB


class SessionBusyError(Exception):
    """Another process has the session open."""


class SessionLock:
    """Held while a session is open; it ends with the process, however that ends.

    Args:
        folder: The session's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "session.lock"
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            SessionBusyError: Somebody else holds it.
            OSError: The folder can't be written.
        """
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            if _flock is not None:
                _flock(handle, _EXCLUSIVE)
        except OSError as error:
            owner = _owner(handle)
            os.close(handle)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN):
                # A file system without locks: better an unguarded session than none.
                logger.warning("%s can't be locked: %s", self._path, error)
                return
            raise SessionBusyError(
                f"The session {self._path.parent.name} is open in another window"
                f"{f' (process {owner})' if owner else ''}; close it there first"
            ) from error
        try:
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode("ascii"), 0)
        except (OSError, AttributeError) as error:
            logger.debug("The owner of %s was not noted: %s", self._path, error)
        self._handle = handle

    def release(self) -> None:
        """Give the lock back; without it nothing happens."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            os.close(handle)


def _owner(handle: int) -> str:
    try:
        text = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
    except (OSError, AttributeError):
        return ""
    return text if text.isdigit() else ""
