"""The stored sessions of a project: listed without reading what was said in them."""

import logging
import os
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from amplifier_tui import __version__
from amplifier_tui.base.jsonl import decode_row, read_object, write_object
from amplifier_tui.base.text import shortened
from amplifier_tui.host.client import SessionCard
from amplifier_tui.host.messages import is_from_hook, text_of
from amplifier_tui.host.store.replay import TRANSCRIPT
from amplifier_tui.paths import sessions_dir

logger = logging.getLogger(__name__)

PROMPT_LENGTH: Final = 200
_HEAD: Final = 64 * 1024


class SessionBusyError(Exception):
    """Another process has the session open."""


class SessionNotFoundError(Exception):
    """No stored session has that id, or several begin like that."""


def list_sessions(cwd: Path, limit: int = 500) -> tuple[SessionCard, ...]:
    """Return the sessions of a project, newest first."""
    return tuple(_card(folder, updated) for updated, folder in _newest(cwd)[:limit])


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
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(path.name for path in fitting[:5])
        raise SessionNotFoundError(f"{wanted!r} fits {len(fitting)} sessions: {names}")
    raise SessionNotFoundError(f"No session {wanted!r} was stored in {cwd}")


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


def _card(folder: Path, updated: float) -> SessionCard:
    metadata = read_metadata(folder)
    return SessionCard(
        session_id=folder.name,
        title=metadata.name,
        bundle=metadata.bundle.removeprefix("bundle:"),
        first_prompt=metadata.first_prompt or _first_prompt(folder / TRANSCRIPT),
        turns=metadata.turn_count,
        updated=updated,
        cwd=metadata.working_dir,
        directory=str(folder),
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


FILE_NAME = "metadata.json"


def now() -> str:
    """Return the present moment as ISO text with its zone."""
    return datetime.now(UTC).isoformat()


@dataclass(slots=True)
class Metadata:
    """A session's card; the names are those of the Amplifier CLI where it has one.

    Attributes:
        created: ISO time.
        updated: ISO time of the last turn.
        bundle: Name or URI of the bundle.
        turn_count: Prompts answered so far.
        name: The title; empty until somebody gave one.
        first_prompt: Shortened.
        working_dir: Where its tools work.
        project_dir: The folder it was started in, whose sessions it is listed with.
        parent_id: The session its conversation was taken from.
        workspace: Folder of its own scratch workspace, if it has one.
        mode: What goes through unasked.
        other: Fields of other programs, kept as they are.
    """

    session_id: str
    created: str = ""
    updated: str = ""
    bundle: str = ""
    model: str = ""
    provider: str = ""
    turn_count: int = 0
    name: str = ""
    first_prompt: str = ""
    working_dir: str = ""
    project_dir: str = ""
    parent_id: str = ""
    workspace: str = ""
    mode: str = ""
    program: str = "amplifier-tui"
    program_version: str = __version__
    other: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the fields, empty ones left out."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "other"}
        kept = {name: value for name, value in own.items() if value != ""}
        return {**self.other, **kept}

    @classmethod
    def from_json(cls, data: dict[str, Any], session_id: str) -> "Metadata":
        """Read a card; fields of the wrong type count as absent."""
        card = cls(session_id=session_id)
        for name, value in data.items():
            if name not in cls.__slots__:
                card.other[name] = value
            elif name not in ("other", "session_id") and type(value) is type(getattr(card, name)):
                setattr(card, name, value)
        return card


def read_metadata(folder: Path) -> Metadata:
    """Read the card of the session in a folder; what can't be read comes as an empty card."""
    path = folder / FILE_NAME
    try:
        return Metadata.from_json(read_object(path), folder.name)
    except (OSError, ValueError) as error:
        logger.warning("%s can't be read: %s", path, error)
        return Metadata(session_id=folder.name)


def write_metadata(folder: Path, card: Metadata) -> None:
    """Replace the card: a reader sees the old one or the new one.

    Raises:
        OSError: The disk does not take it; the old one is still there.
    """
    write_object(folder / FILE_NAME, card.to_json())
