"""The files of a session's folder, as every program of the ecosystem has them."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import free_name
from amplifier_tui.base.jsonl import Row, StoredRows, read_object, write_object, write_rows

TRANSCRIPT_FILENAME: Final = "transcript.jsonl"
"""One message a line."""
METADATA_FILENAME: Final = "metadata.json"
"""The session's card."""
EVENTS_FILENAME: Final = "events.jsonl"
"""One event a line."""


def read_jsonl(path: Path) -> Iterator[Row]:
    """Yield the rows of a file that can be read; a file that is not there has none."""
    for _, row in StoredRows(path).read():
        yield row


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace a file by rows in one step; only its owner may read it."""
    write_rows(path, rows)


def load_transcript(session_dir: Path) -> list[Row]:
    """Return the messages of a session that can be read; raises `FileNotFoundError`."""
    return [row for _, row in load_transcript_with_lines(session_dir)]


def load_transcript_with_lines(session_dir: Path) -> list[tuple[int, Row]]:
    """Return the messages with their row, counted from 1 without blank lines.

    Raises:
        FileNotFoundError: The session has no transcript.
    """
    path = session_dir / TRANSCRIPT_FILENAME
    if not path.is_file():
        raise FileNotFoundError(f"No transcript in {session_dir}")
    return [(index + 1, row) for index, row in StoredRows(path).read()]


def write_transcript(session_dir: Path, messages: Iterable[Mapping[str, Any]]) -> None:
    """Replace a session's messages in one step."""
    write_rows(session_dir / TRANSCRIPT_FILENAME, messages, durable=True)


def load_metadata(session_dir: Path) -> dict[str, Any]:
    """Return a session's card; empty when there is none. Raises `ValueError` if it is no object."""
    return read_object(session_dir / METADATA_FILENAME)


def write_metadata(session_dir: Path, metadata: Mapping[str, Any]) -> None:
    """Replace a session's card in one step; only its owner may read it."""
    write_object(session_dir / METADATA_FILENAME, metadata, mode=0o600)


def backup(path: Path, label: str = "backup") -> Path | None:
    """Copy a file to a new name beside it, and return that; None when there is no file."""
    if not path.is_file():
        return None
    target = free_name(path, label)
    shutil.copy2(path, target)
    return target
