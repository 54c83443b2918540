"""The stored sessions of a project: listed without reading what was said in them."""

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from amplifier_tui.base.jsonl import decode_row
from amplifier_tui.base.text import shortened
from amplifier_tui.host.client import SessionCard
from amplifier_tui.host.messages import is_from_hook, text_of
from amplifier_tui.host.store.metadata import read_metadata
from amplifier_tui.host.store.rows import TRANSCRIPT
from amplifier_tui.paths import sessions_dir

logger = logging.getLogger(__name__)

PROMPT_LENGTH: Final = 200
_HEAD: Final = 64 * 1024


class SessionBusyError(Exception):
    """Another process has the session open."""


class SessionNotFoundError(Exception):
    """No stored session has that id, or several begin like that."""


@dataclass(frozen=True, slots=True)
class Found:
    """A stored session.

    Attributes:
        folder: Its folder.
        updated: Unix time of its last change.
    """

    folder: Path
    updated: float


def list_sessions(cwd: Path, limit: int = 500) -> tuple[SessionCard, ...]:
    """Return the sessions of a project, newest first.

    Args:
        cwd: The project's folder.
        limit: How many at most.
    """
    return tuple(_card(found) for found in _newest(cwd)[:limit])


def find_session(cwd: Path, wanted: str) -> Path:
    """Return the folder of a stored session.

    Args:
        cwd: The project's folder.
        wanted: Its id, an unambiguous beginning of it, or `last` for the newest.

    Raises:
        SessionNotFoundError: None fits, or more than one does.
    """
    if wanted == "last":
        newest = _newest(cwd)
        if not newest:
            raise SessionNotFoundError(f"No session was stored in {cwd} yet")
        return newest[0].folder
    folder = sessions_dir(cwd)
    if not wanted or any(mark in wanted for mark in ("/", "\\", "\0")) or wanted in (".", ".."):
        raise SessionNotFoundError(f"{wanted!r} is no session id")
    if (folder / wanted / TRANSCRIPT).is_file():
        return folder / wanted
    fitting = [found.folder for found in _newest(cwd) if found.folder.name.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(path.name for path in fitting[:5])
        raise SessionNotFoundError(f"{wanted!r} fits {len(fitting)} sessions: {names}")
    raise SessionNotFoundError(f"No session {wanted!r} was stored in {cwd}")


def _newest(cwd: Path) -> list[Found]:
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
                updated = (Path(entry.path) / TRANSCRIPT).stat().st_mtime
                found.append(Found(Path(entry.path), updated))
        except OSError:
            # Nothing was said in it.
            continue
    return sorted(found, key=lambda item: item.updated, reverse=True)


def _card(found: Found) -> SessionCard:
    metadata = read_metadata(found.folder)
    return SessionCard(
        session_id=found.folder.name,
        title=metadata.name,
        bundle=metadata.bundle.removeprefix("bundle:"),
        first_prompt=metadata.first_prompt or _first_prompt(found.folder / TRANSCRIPT),
        turns=metadata.turn_count,
        updated=found.updated,
        cwd=metadata.working_dir,
        directory=str(found.folder),
    )


def _first_prompt(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return ""
    for line in head.split(b"\n"):
        row = decode_row(line)
        if row is not None and row.get("role") == "user" and not is_from_hook(row):
            return shorten(text_of(row.get("content")))
    return ""


def shorten(text: str) -> str:
    """Return a prompt as one line of at most `PROMPT_LENGTH` characters."""
    return shortened(" ".join(text.split()), PROMPT_LENGTH)
