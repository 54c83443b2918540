"""Removing installed folders that newer commits of their sources have replaced.

A folder goes when another one of its source was used later, when it was not used itself for
`KEPT_DAYS`, and when no process that still runs has it on its path.
"""

import contextlib
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Final
from uuid import uuid4

from amplifier_tui.base.files import FileLock, FileLockedError, append, changed_at
from amplifier_tui.foundation.modules.apart import MARKER, ApartFolder, ApartFolders

KEPT_DAYS: Final = 14
_KEPT: Final = KEPT_DAYS * 86_400
_MOST: Final = 20
"""Folders that are removed at a time."""
_TORN_SECONDS: Final = 86_400
_NEW_SECONDS: Final = 60
"""A process that began so lately may not hold its lock yet."""

_log = logging.getLogger(__name__)


class FoldersInUse:
    """What this process uses of one cache, noted where other processes see it.

    Each process has a file with the names of its folders, and a lock beside it that ends with the
    process, however that ends.
    """

    def __init__(self, cache_dir: Path) -> None:
        self.place = ApartFolders(cache_dir).root / ".in-use"
        self._noted: set[str] = set()
        self._file: Path | None = None
        self._lock: FileLock | None = None

    def note(self, folder: Path) -> None:
        """Note that a folder is used from now on; a failure is logged, and costs nothing else."""
        if folder.name in self._noted:
            return
        try:
            if self._file is None:
                self.place.mkdir(exist_ok=True)
                file = self.place / f"{os.getpid()}-{uuid4().hex[:8]}"
                self._lock = FileLock(file.with_suffix(".lock"))
                self._lock.acquire()
                self._file = file
            append(self._file, f"{folder.name}\n".encode())
            os.utime(folder / MARKER)
        except OSError as error:
            _log.warning("That %s is in use can't be noted: %s", folder, error)
        self._noted.add(folder.name)

    def names(self) -> set[str]:
        """Return the names of the folders that any process uses; forgets those that ended."""
        found = set(self._noted)
        for lock_file in self.place.glob("*.lock"):
            names = lock_file.with_suffix("")
            if names == self._file:
                continue
            # Before the lock is taken, which writes into the file.
            begun = changed_at(lock_file)
            lock = FileLock(lock_file)
            try:
                lock.acquire()
            except FileLockedError:
                with contextlib.suppress(FileNotFoundError):
                    found.update(names.read_text(encoding="utf-8", errors="replace").split())
                continue
            if begun < time() - _NEW_SECONDS:
                names.unlink(missing_ok=True)
                lock_file.unlink(missing_ok=True)
            lock.release()
        return found


_in_use: dict[Path, FoldersInUse] = {}


def in_use(cache_dir: Path) -> FoldersInUse:
    """Return what this process uses of a cache."""
    return _in_use.setdefault(cache_dir, FoldersInUse(cache_dir))


def prune_installed(cache_dir: Path, now: float | None = None) -> int:
    """Remove old folders, at most `_MOST` of them; returns how many.

    Args:
        now: Unix time in seconds; None for the time it is.

    Raises:
        OSError: The cache can't be read.
    """
    now = time() if now is None else now
    folders = ApartFolders(cache_dir)
    for torn in folders.root.glob("*.tmp"):
        # Of an installation, or a removal, that was killed.
        if changed_at(torn) < now - _TORN_SECONDS:
            shutil.rmtree(torn, ignore_errors=True)
    old = [each for each in _replaced(folders) if changed_at(each.path / MARKER) < now - _KEPT]
    used = in_use(cache_dir).names() if old else set()
    gone = [each for each in old if each.path.name not in used][:_MOST]
    removals = 0
    for folder in gone:
        if changed_at(folder.path / MARKER) >= now - _KEPT:
            # Another process has begun to use it meanwhile.
            continue
        _log.info("Removing %s, commit %s of %s", folder.path, folder.commit[:12], folder.source)
        removed = folder.path.with_name(f"{folder.path.name}.{uuid4().hex[:8]}.tmp")
        folder.path.rename(removed)
        shutil.rmtree(removed, ignore_errors=True)
        for suffix in (".lock", ".log"):
            folder.path.with_name(folder.path.name + suffix).unlink(missing_ok=True)
        removals += 1
    return removals


def _replaced(folders: ApartFolders) -> Iterator[ApartFolder]:
    """Yield every folder whose source has one that was used later, the oldest first."""
    newest: dict[str, ApartFolder] = {}
    for folder in sorted(folders.all(), key=lambda each: changed_at(each.path / MARKER)):
        before = newest.get(folder.source)
        newest[folder.source] = folder
        if before is not None:
            yield before
