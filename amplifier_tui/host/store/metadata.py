"""What is known of a session without reading it: `metadata.json`."""

import logging
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplifier_tui import __version__
from amplifier_tui.base.jsonl import read_object, write_object

logger = logging.getLogger(__name__)

FILE_NAME = "metadata.json"


def now() -> str:
    """Return the present moment as ISO text with its zone."""
    return datetime.now(UTC).isoformat()


@dataclass(slots=True)
class Metadata:
    """A session's card; the names are those of the Amplifier CLI where it has one.

    Attributes:
        session_id: Its id.
        created: ISO time.
        updated: ISO time of the last turn.
        bundle: Name or URI of the bundle.
        model: The model last used.
        provider: The provider last used.
        turn_count: Prompts answered so far.
        name: The title; empty until somebody gave one.
        first_prompt: The first prompt, shortened.
        working_dir: Where its tools work.
        project_dir: The folder it was started in, whose sessions it is listed with.
        parent_id: The session its conversation was taken from.
        workspace: Folder of its own scratch workspace, if it has one.
        program: What wrote it.
        program_version: Version of that.
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
        for f in fields(cls):
            value = data.get(f.name)
            default = getattr(card, f.name)
            if f.name not in ("other", "session_id") and type(value) is type(default):
                setattr(card, f.name, value)
        known = {f.name for f in fields(cls)}
        card.other = {name: value for name, value in data.items() if name not in known}
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
