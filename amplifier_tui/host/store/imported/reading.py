"""Reads the transcripts of other programs as rows of ours."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.jsonl import Row, each_row
from amplifier_tui.host.imported_cards import ImportedCard, OriginName
from amplifier_tui.host.messages import is_from_hook, typed_prompt
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.imported.builder import RowBuilder, harmless
from amplifier_tui.host.store.imported.claude_code import ClaudeCodeReader
from amplifier_tui.host.store.imported.codex import CodexReader
from amplifier_tui.host.store.imported.origins import ImportedFile, imported_files
from amplifier_tui.host.store.sessions import SessionNotFoundError, shorten
from amplifier_tui.host.stored_cards import SessionCard

_LONGEST_LINE: Final = 8 * 1024 * 1024
_HEAD: Final = 40
"""Rows that are read for what a list shows."""
_HEAD_LINE: Final = 256 * 1024
_MOST_LISTED: Final = 500


def imported_rows(file: ImportedFile) -> Iterator[Row]:
    """Yield the conversation in a transcript; what is not understood is there as text.

    Raises:
        OSError: It can't be read.
    """
    return _rows(file.origin, (row for _, row in each_row(file.path, _LONGEST_LINE)))


def list_imported(
    cwd: Path | None = None, origin: OriginName | None = None, most: int = _MOST_LISTED
) -> tuple[ImportedCard, ...]:
    """Return the sessions of other programs, the newest first.

    Args:
        cwd: Only those that worked in this folder; None for all.
        origin: Only those of this program.
    """
    files = (file for file in imported_files() if origin in (None, file.origin))
    redactor = Redactor()
    cards = (imported_card(file, redactor) for file in files)
    fitting = (card for card in cards if cwd is None or card.cwd == str(cwd))
    return tuple(islice(fitting, most))


def find_imported(wanted: str) -> ImportedFile:
    """Return the transcript with a key, or an unambiguous beginning of one.

    Raises:
        SessionNotFoundError: None fits, or more than one does.
    """
    fitting = [file for file in imported_files() if file.key.startswith(wanted)]
    exact = [file for file in fitting if file.key == wanted]
    found = exact or fitting
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(file.key for file in found[:5])
        raise SessionNotFoundError(f"{wanted!r} fits {len(found)} sessions: {names}")
    raise SessionNotFoundError(f"There is no session {wanted!r} of another program")


def imported_card(file: ImportedFile, redactor: Redactor) -> ImportedCard:
    """Return what a list shows of a transcript, from its beginning."""
    reader = _reader(file.origin)
    facts: dict[str, str] = {}
    rows: list[Row | None] = []
    try:
        for _, row in islice(each_row(file.path, _HEAD_LINE), _HEAD):
            facts = {**(reader.facts(row) if row is not None else {}), **facts}
            rows.append(row)
    except OSError:
        # It is listed by its name; opening it says why it can't be read.
        rows = []
    said = (row for row in _rows(file.origin, iter(rows)) if row.get("role") == "user")
    prompts = (typed_prompt(row) for row in said if not is_from_hook(row))
    return ImportedCard(
        key=harmless(file.key),
        origin=file.origin,
        title=shorten(redactor.text(harmless(facts.get("title", "")))),
        first_prompt=shorten(redactor.text(next(prompts, ""))),
        updated=file.updated,
        cwd=harmless(facts.get("cwd", ""))[:4_096],
        path=str(file.path),
    )


def stored_card(file: ImportedFile, redactor: Redactor) -> SessionCard:
    """Return a transcript as the search shows a session."""
    card = imported_card(file, redactor)
    return SessionCard(
        session_id=card.key,
        key=card.key,
        title=card.title,
        first_prompt=card.first_prompt,
        updated=card.updated,
        cwd=card.cwd,
        directory=card.path,
        origin=card.origin,
    )


def _rows(origin: OriginName, rows: Iterator[Row | None]) -> Iterator[Row]:
    reader, builder = _reader(origin), RowBuilder()
    for row in rows:
        if row is None:
            builder.note("a row that can't be read", "")
        else:
            reader.read(row, builder)
        yield from builder.take()
    builder.finish()
    yield from builder.take()


def _reader(origin: OriginName) -> ClaudeCodeReader | CodexReader:
    return ClaudeCodeReader() if origin == "claude-code" else CodexReader()
