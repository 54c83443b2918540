"""Deleted sessions: they lie in a bin beside the stored ones until somebody empties it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from amplifier_tui.base.files import FileLock
from amplifier_tui.host.client import SessionCard
from amplifier_tui.host.store.sessions import (
    card_of,
    children_of,
    folder_of,
    hold,
    only_fitting,
)
from amplifier_tui.paths import sessions_dir


def delete_session(folder: Path) -> None:
    """Put a session and its sub-agents into the bin.

    Raises:
        SessionBusyError: It is open.
        OSError: It can't be moved; what was moved is in the bin, and the next try goes on.
    """
    lock = FileLock(folder / "session.lock")
    hold(lock)
    try:
        place = folder.parent.parent / "bin" / folder.name
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The session last: as long as it is listed it can be deleted again.
        for each in (*children_of(folder), folder):
            each.rename(place / each.name)
    finally:
        lock.release()


def restore(key: str) -> Path:
    """Take the session that a key names out of the bin; what it raises see `restore_session`."""
    folder = folder_of(key)
    return _restore(folder.parent, folder.parent.parent / "bin" / folder.name)


def restore_session(cwd: Path, wanted: str) -> Path:
    """Take a session of a project out of the bin.

    Args:
        wanted: Its id, an unambiguous beginning of it, or `last` for the one deleted last.

    Returns:
        Its folder.

    Raises:
        SessionNotFoundError: None fits, or more than one does.
        FileExistsError: There is a session of that id again.
        OSError: It can't be moved; what was moved is back, and the next try goes on.
    """
    deleted = [Path(card.directory) for card in list_deleted(cwd)]
    if wanted == "last" and deleted:
        found = deleted[0]
    else:
        fitting = [path for path in deleted if wanted and path.name.startswith(wanted)]
        found = only_fitting(wanted, fitting, f"No session {wanted!r} of {cwd} is in the bin")
    return _restore(sessions_dir(cwd), found.parent)


def _restore(stored: Path, place: Path) -> Path:
    """Move what lies in a place of the bin back."""
    stored.mkdir(parents=True, exist_ok=True, mode=0o700)
    for each in sorted(place.iterdir(), key=lambda path: path.name == place.name):
        target = stored / each.name
        if target.exists():
            raise FileExistsError(f"There is a session {each.name} again")
        each.rename(target)
    place.rmdir()
    return stored / place.name


def list_deleted(cwd: Path) -> tuple[SessionCard, ...]:
    """Return the sessions of a project that are in the bin, the one deleted last first."""
    found = sorted(((place.stat().st_mtime, place) for place in _places(cwd)), reverse=True)
    return tuple(card_of(place / place.name, deleted) for deleted, place in found)


def empty_bin(cwd: Path) -> int:
    """Remove the deleted sessions of a project for good; returns how many there were.

    Raises:
        OSError: One can't be removed.
    """
    places = list(_places(cwd))
    for place in places:
        shutil.rmtree(place)
    return len(places)


def _places(cwd: Path) -> Iterator[Path]:
    folder = sessions_dir(cwd).parent / "bin"
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if (path / path.name).is_dir())
