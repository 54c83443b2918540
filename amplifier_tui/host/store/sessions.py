"""The stored sessions of a project: listed without reading what was said in them."""

import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import FileLock, FileLockedError
from amplifier_tui.base.jsonl import Row, decode_row
from amplifier_tui.base.text import shortened
from amplifier_tui.host.client import SessionCard
from amplifier_tui.host.messages import is_from_hook, typed_prompt
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.metadata import read_metadata
from amplifier_tui.paths import sessions_dir

logger = logging.getLogger(__name__)

PROMPT_LENGTH: Final = 200
_HEAD: Final = 64 * 1024


class SessionBusyError(Exception):
    """Another process has the session open."""


class SessionExistsError(Exception):
    """The id that was chosen for a new session is taken."""


class SessionNotFoundError(Exception):
    """No stored session has that id, or several begin like that."""


def list_sessions(cwd: Path, limit: int = 500) -> tuple[SessionCard, ...]:
    """Return the sessions of a project, newest first."""
    return tuple(card_of(folder, updated) for updated, folder in _newest(cwd)[:limit])


def find_session(cwd: Path, wanted: str) -> Path:
    """Return the folder of a stored session.

    Args:
        wanted: Its id, an unambiguous beginning of it, or `last` for the newest.

    Raises:
        SessionNotFoundError: None fits, or more than one does.
    """
    if wanted == "last":
        newest = _newest(cwd)
        if not newest:
            raise SessionNotFoundError(f"No session was stored in {cwd} yet")
        return newest[0][1]
    folder = sessions_dir(cwd)
    if not wanted or any(mark in wanted for mark in ("/", "\\", "\0")) or wanted in (".", ".."):
        raise SessionNotFoundError(f"{wanted!r} is no session id")
    if (folder / wanted / TRANSCRIPT).is_file():
        return folder / wanted
    fitting = [path for _, path in _newest(cwd) if path.name.startswith(wanted)]
    return only_fitting(wanted, fitting, f"No session {wanted!r} was stored in {cwd}")


def only_fitting(wanted: str, fitting: Sequence[Path], none: str) -> Path:
    """Return the one folder of those that fit what was asked for.

    Raises:
        SessionNotFoundError: There is none, which `none` says, or more than one.
    """
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(path.name for path in fitting[:5])
        raise SessionNotFoundError(f"{wanted!r} fits {len(fitting)} sessions: {names}")
    raise SessionNotFoundError(none)


def hold(lock: FileLock) -> None:
    """Take the lock in a session's folder: until it is released no other window opens the session.

    Raises:
        SessionBusyError: Another process has the session open.
        OSError: The lock can't be made.
    """
    try:
        lock.acquire()
    except FileLockedError as error:
        owner = f" (process {error.owner})" if error.owner else ""
        raise SessionBusyError(
            f"The session {lock.path.parent.name} is open in another window{owner}; "
            "close it there first"
        ) from error


def children_of(folder: Path) -> list[Path]:
    """Return the folders of a session's sub-agents, and of theirs."""
    waiting = [path for path in folder.parent.iterdir() if "_" in path.name and path.is_dir()]
    parents = {path: read_metadata(path).parent_id for path in waiting}
    found: list[Path] = []
    names = {folder.name}
    while more := [path for path in waiting if parents[path] in names and path not in found]:
        found += more
        names |= {path.name for path in more}
    return found


def _newest(cwd: Path) -> list[tuple[float, Path]]:
    """Return the folders of a project's sessions, each with the Unix time of its last change."""
    found = []
    try:
        entries = list(os.scandir(sessions_dir(cwd)))
    except FileNotFoundError:
        return []
    except OSError as error:
        logger.warning("The sessions of %s can't be listed: %s", cwd, error)
        return []
    for entry in entries:
        try:
            # The Amplifier CLI keeps sub-agents' sessions here too: `<span>-<span>_<agent>`.
            if entry.is_dir() and "_" not in entry.name:
                folder = Path(entry.path)
                found.append(((folder / TRANSCRIPT).stat().st_mtime, folder))
        except OSError:
            # Nothing was said in it.
            continue
    return sorted(found, reverse=True)


def card_of(folder: Path, updated: float) -> SessionCard:
    """Return what a list shows of the session in a folder, last changed at a Unix time."""
    metadata = read_metadata(folder)
    return SessionCard(
        session_id=folder.name,
        title=metadata.name,
        description=metadata.description,
        tags=tuple(metadata.tags),
        bundle=metadata.bundle_reference,
        first_prompt=metadata.first_prompt or _prompt_at_head(folder / TRANSCRIPT),
        turns=metadata.turn_count,
        updated=updated,
        cwd=metadata.working_dir,
        directory=str(folder),
    )


def _prompt_at_head(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return ""
    rows = (decode_row(line) for line in head.split(b"\n"))
    return first_prompt(row for row in rows if row is not None)


def first_prompt(rows: Iterable[Row]) -> str:
    """Return the first prompt among rows, shortened; empty when there is none."""
    prompts = (row for row in rows if row.get("role") == "user" and not is_from_hook(row))
    return next((shorten(typed_prompt(row)) for row in prompts), "")


def shorten(text: str) -> str:
    """Return a prompt as one line of at most `PROMPT_LENGTH` characters."""
    return shortened(" ".join(text.split()), PROMPT_LENGTH)
