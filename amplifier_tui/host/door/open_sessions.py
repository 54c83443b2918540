"""Which sessions each window has open, so that those of one that crashed can be offered.

Each session of a window keeps one file in the user's state folder and holds a lock as long as the
window lives. What the user ends removes its file; the files of a window that was killed, or ended
by a signal, stay.
"""

import logging
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any, Final
from uuid import uuid4

from amplifier_tui.base.files import FileLock, FileLockedError, locked
from amplifier_tui.base.jsonl import Row, read_object, write_object
from amplifier_tui.base.plain import plain
from amplifier_tui.host.client import SessionCard
from amplifier_tui.host.store import partial_file
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.sessions import LOCK_NAME, card_of
from amplifier_tui.host.store.turns.outcomes import DISPLAY
from amplifier_tui.paths import sessions_dir, user_state_dir

logger = logging.getLogger(__name__)

_FOLDER: Final = "windows"
_MOST: Final = 100
"""Files of dead windows that are looked at, and sessions of one."""
_SCAN_SECONDS: Final = 5.0
"""How long a scan of the records waits for another."""
_STARTED: Final = time()
"""When this process began to open sessions, in Unix seconds: tells one window from another."""


class OpenSessions:
    """The record of one place of this window: the session that is open there.

    Everything here blocks; what the disk refuses is only logged.

    Args:
        place: Where it is among the places of the window, counted from the first.
    """

    def __init__(self, place: int = 0) -> None:
        self._folder = user_state_dir() / _FOLDER
        self._path = self._folder / f"{uuid4()}.json"
        self._lock = FileLock(self._path.with_suffix(".lock"))
        self._held = False
        self._open: dict[str, str] = {}
        self._place = place
        self.stays = False
        """Whether what is open when it closes is offered again: the program is ended from outside,
        as by a terminal that goes away."""

    def opened(self, session_id: str, cwd: Path) -> None:
        """Note that a session is open, which works in a folder; nobody else offers it any more."""
        self._open[session_id] = str(cwd)
        self._write()
        self.dismiss([session_id])

    def closed(self, session_id: str) -> None:
        """Note that a session was closed in order."""
        if self._open.pop(session_id, None) is not None:
            self._write()

    def close(self) -> None:
        """The window ends in order: it leaves no record, unless it `stays`."""
        if self.stays and self._open:
            self._lock.release()
            return
        self._open.clear()
        try:
            for path in (self._path, self._lock.path):
                path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("What was open is still noted: %s", error)
        self._lock.release()

    def left(self) -> tuple[SessionCard, ...]:
        """Return the sessions that were open in windows that were killed or ended by a signal.

        The last window comes first; the sessions of a window are in the order it had them.
        """
        found: dict[str, tuple[tuple[float, int], SessionCard]] = {}
        with self._alone():
            for path in self._records():
                with _dead(path) as record:
                    for session_id, cwd in _sessions(record).items():
                        card = _card(session_id, cwd)
                        if card is not None:
                            found[session_id] = (_place(record), card)
        # What tells no place, as older versions wrote it, is in the order of its last use.
        newest = sorted(found.values(), key=lambda each: each[1].updated, reverse=True)
        return tuple(card for _, card in sorted(newest, key=lambda each: each[0]))

    def dismiss(self, session_ids: Collection[str]) -> None:
        """Offer sessions no more."""
        with self._alone():
            for path in self._records():
                with _dead(path) as record:
                    if record is not None:
                        _keep_without(path, record, session_ids)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Scan the records one at a time.

        A scan takes the lock of each record: to another at that moment its window would seem alive.
        """
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self._folder, _SCAN_SECONDS))
            except OSError as error:
                logger.warning("What was left open is looked at without a lock: %s", error)
            yield

    def _records(self) -> list[Path]:
        try:
            paths = [path for path in self._folder.glob("*.json") if path != self._path]
        except OSError as error:
            logger.warning("%s can't be listed: %s", self._folder, error)
            return []
        return sorted(paths)[:_MOST]

    def _write(self) -> None:
        data: Row = {"sessions": dict(self._open), "window": _STARTED, "place": self._place}
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self._held:
                self._lock.acquire()
                self._held = True
            write_object(self._path, plain(data), mode=0o600)
        except OSError as error:
            logger.warning("What is open is not noted: %s", error)


@contextmanager
def _dead(path: Path) -> Iterator[dict[str, Any] | None]:
    """Give the record of a window that is gone; None while the window lives."""
    lock = FileLock(path.with_suffix(".lock"))
    record: dict[str, Any] = {}
    try:
        lock.acquire()
        record = read_object(path)
    except FileLockedError:
        logger.debug("%s is of a window that lives", path)
        yield None
        return
    except (OSError, ValueError) as error:
        logger.warning("%s can't be read: %s", path, error)
    try:
        yield record
    finally:
        lock.release()


def _sessions(record: dict[str, Any] | None) -> dict[str, str]:
    """Return the sessions of a record, each with its folder."""
    listed = (record or {}).get("sessions")
    pairs = list(listed.items())[:_MOST] if isinstance(listed, dict) else []
    return {str(name): cwd for name, cwd in pairs if isinstance(cwd, str)}


def _place(record: dict[str, Any] | None) -> tuple[float, int]:
    """Return what a record is put in order by: the last window first, then its places."""
    told = record or {}
    window, place = told.get("window"), told.get("place")
    if not isinstance(window, int | float) or not isinstance(place, int):
        return (0.0, 0)
    return (-float(window), place)


def _keep_without(path: Path, record: dict[str, Any], session_ids: Collection[str]) -> None:
    """Take sessions, and those that hold nothing, off a dead window's record, which is held."""
    sessions = _sessions(record)
    kept = {
        name: cwd
        for name, cwd in sessions.items()
        if name not in session_ids and _transcript(name, cwd) is not None
    }
    if len(kept) == len(sessions) and kept:
        return
    try:
        if kept:
            write_object(path, plain({**record, "sessions": kept}), mode=0o600)
        else:
            path.unlink(missing_ok=True)
            path.with_suffix(".lock").unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s can't be written: %s", path, error)


def _transcript(session_id: str, cwd: str) -> Path | None:
    """Return the transcript of a session; None where nothing was said or done in it."""
    if "/" in session_id or "\\" in session_id or session_id in ("", ".", ".."):
        return None
    try:
        path = sessions_dir(Path(cwd)) / session_id / TRANSCRIPT
        beside = (path.with_name(name) for name in (partial_file.FILE_NAME, DISPLAY))
        work = path.stat().st_size or any(each.stat().st_size for each in beside if each.exists())
        return path if work else None
    except (OSError, ValueError) as error:
        logger.debug("%s is not there: %s", session_id, error)
        return None


def _card(session_id: str, cwd: str) -> SessionCard | None:
    """Return a session's card; None where there is none, or it is open somewhere."""
    path = _transcript(session_id, cwd)
    if path is None:
        return None
    try:
        if not FileLock(path.with_name(LOCK_NAME)).is_free():
            return None
        return replace(card_of(path.parent, path.stat().st_mtime), cwd=cwd)
    except OSError as error:
        logger.debug("%s is not offered: %s", session_id, error)
        return None
