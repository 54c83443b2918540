"""Folders for what lasts no longer than a process, and removing those that a kill left behind."""

import logging
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.locking import FileLock, FileLockedError
from amplifier_tui.base.files.reading import open_regular

logger = logging.getLogger(__name__)

OWNER: Final = "owner.lock"
"""The file in a scratch folder that its process holds a lock on, with the process id in it."""
_PREFIX: Final = "amplifier-tui-"
_NAME: Final = re.compile(re.escape(_PREFIX) + r"[a-z0-9_]{8}")
_YOUNG: Final = 60.0
"""Seconds in which a folder that was just made may have no lock yet."""


class ScratchFolder:
    """A new folder that only the user may read, in the system's temporary folder. Blocking.

    Attributes:
        path: Where it is, links resolved.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        self._lock = FileLock(self.path / OWNER)
        try:
            self._lock.acquire()
        except OSError as error:
            # Without its mark it is never taken for one that was left behind.
            logger.warning("%s can't be marked: %s", self.path, error)

    def remove(self) -> None:
        """Remove it with everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


def remove_abandoned() -> int:
    """Remove the scratch folders whose process is gone; returns how many. Blocking.

    Only the user's own that hold the lock file of one, and whose lock is free: a folder of another
    user, a link, and what only has such a name are left alone.
    """
    removed = 0
    for path in _candidates(Path(tempfile.gettempdir())):
        lock = FileLock(path / OWNER)
        with suppress(OSError):
            if not _is_abandoned(path / OWNER) or not lock.is_free():
                continue
            try:
                # Held meanwhile, for another process may look for the same.
                lock.acquire()
            except FileLockedError:
                continue
            shutil.rmtree(path, ignore_errors=True)
            lock.release()
            removed += 1
    if removed:
        logger.info("Removed %d scratch folders that were left behind", removed)
    return removed


def _candidates(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [each.name for each in entries if _NAME.fullmatch(each.name)]
    except OSError as error:
        logger.warning("%s can't be listed: %s", folder, error)
        return
    for name in names:
        with suppress(OSError):
            status = (folder / name).lstat()
            if stat.S_ISDIR(status.st_mode) and _is_own(status):
                yield folder / name


def _is_abandoned(owner: Path) -> bool:
    """Whether a lock file says that its process is gone.

    Raises:
        OSError: It can't be read, or is none.
    """
    status = owner.lstat()
    if not _is_own(status) or time.time() - status.st_mtime < _YOUNG:
        return False
    with open_regular(owner, follow_links=False) as file:
        process = file.read(20)
    # Also where the file system has no locks the folder of a running process stays.
    return process.isdigit() and not _runs(int(process))


def _is_own(status: os.stat_result) -> bool:
    # Without users there is nothing to tell whose it is.
    return hasattr(os, "getuid") and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
