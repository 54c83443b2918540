"""The drafts that no session keeps: on disk while the window lives, for when it is killed."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amplifier_tui.base.files import FileLock

_log = logging.getLogger(__name__)

_MOST: Final = 100
"""Files of dead windows that are looked at."""


class UnsentDrafts:
    """Keeps the drafts of one window in a file, and holds a lock as long as there are any.

    Everything here is for a thread; what the disk refuses is only logged.

    Args:
        folder: Where each window has its file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path: Path | None = None
        self._ended = False
        self._one_at_a_time = Lock()
        self.lock: FileLock | None = None
        """Held while the file is there: tells that the window lives."""

    def keep(self, drafts: Sequence[tuple[str, str]], *, ends: bool = False) -> None:
        """Have these drafts on disk in place of those before; without any there is no file.

        Args:
            drafts: Each with the folder that its session works in.
            ends: Whether the window ends in order: what is kept after that is not.
        """
        from uuid import uuid4

        from amplifier_tui.base.files import FileLock
        from amplifier_tui.base.jsonl import write_rows

        with self._one_at_a_time:
            if self._ended:
                return
            self._ended = ends
            try:
                if not drafts:
                    self._remove()
                    return
                if self._path is None or self.lock is None:
                    # A new name each time: who looks for dead windows may hold the one before.
                    path = self._folder / f"{uuid4()}.jsonl"
                    self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                    lock = FileLock(path.with_suffix(".lock"))
                    lock.acquire()
                    self._path, self.lock = path, lock
                at = round(time.time(), 3)
                write_rows(
                    self._path, [{"text": text, "at": at, "cwd": cwd} for text, cwd in drafts]
                )
            except OSError as error:
                _log.warning("A draft is not kept: %s", error)

    def _remove(self) -> None:
        if self._path is not None and self.lock is not None:
            path, lock = self._path, self.lock
            self._path = self.lock = None
            _unlink(path, lock)

    def take_left(self, history: Path) -> None:
        """Put what windows that died had not sent into a prompt history, at its end."""
        from amplifier_tui.base.files import FileLock, FileLockedError, locked
        from amplifier_tui.base.jsonl import append_rows, read_rows

        try:
            paths = sorted(self._folder.glob("*.jsonl"))[:_MOST]
        except OSError as error:
            _log.warning("%s can't be listed: %s", self._folder, error)
            return
        for path in paths:
            lock = FileLock(path.with_suffix(".lock"))
            try:
                lock.acquire()
            except FileLockedError:
                continue  # It is of a window that lives.
            except OSError as error:
                _log.warning("%s can't be read: %s", path, error)
                continue
            try:
                rows, _ = read_rows(path, repair=False)
                with locked(history):
                    append_rows(history, rows)
                _unlink(path, lock)
            except OSError as error:
                _log.warning("%s is not in the history: %s", path, error)
            finally:
                lock.release()


def _unlink(path: Path, lock: FileLock) -> None:
    """Remove a file, and its lock, which is held."""
    try:
        path.unlink(missing_ok=True)
        with suppress(OSError):
            lock.path.unlink(missing_ok=True)
    finally:
        lock.release()
