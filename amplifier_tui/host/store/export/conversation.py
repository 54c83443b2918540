"""The conversation of a stored session, written row by row and without secrets."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import Row, each_row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import minute_of
from amplifier_tui.host.messages import is_from_hook
from amplifier_tui.host.requests import ExportRequest
from amplifier_tui.host.store.export.happened import Happened
from amplifier_tui.host.store.export.markdown import MarkdownForm
from amplifier_tui.host.store.export.masking import Masking
from amplifier_tui.host.store.export.page import PageForm
from amplifier_tui.host.store.export.parts import PartReader, thinks
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.metadata import Metadata, read_metadata
from amplifier_tui.host.store.sessions import lost_rows

Write = Callable[[str], object]

_INDENT: Final = "    "
_THINKING: Final = ("thinking_text", "thinking")


class ExportError(Exception):
    """What is to be exported is not there, or the filter makes no sense."""


@dataclass(slots=True)
class Written:
    """How much was written: `count` messages or events, and `unreadable` rows that were not."""

    count: int = 0
    unreadable: int = 0


@dataclass(slots=True)
class StoredSession:
    """A session to be written.

    Attributes:
        begun: How many rows there were when a turn began, of the turns since it was opened.
    """

    folder: Path
    begun: Mapping[int, int] = field(default_factory=dict)


def write_conversation(
    session: StoredSession, request: ExportRequest, masking: Masking, write: Write
) -> Written:
    """Write a conversation; one row at a time is in memory.

    Raises:
        ExportError: It has no turn to begin with, or nothing was said.
        OSError: It can't be read, or not be written.
    """
    written = Written()
    metadata = read_metadata(session.folder)
    if request.from_turn > 1:
        # What came before is not to be in it, and so neither in its title.
        metadata.first_prompt = ""
    rows = _from_turn(session, request.from_turn, written)
    if request.form == "json":
        _write_json(metadata, rows, request, masking, write, written)
        return written
    form = PageForm() if request.form == "html" else MarkdownForm()
    reader = PartReader(request, masking)
    write(form.begin(_title(metadata, masking), _facts(metadata, masking)))
    happened: Happened | None = None
    for index, row in rows:
        happened = happened or Happened(session.folder, index, outputs=request.tools)
        for part in happened.before(index):
            write(form.part(reader.masked(part)))
        try:
            denied = partial(happened.was_denied, index)
            parts = [form.part(part) for part in reader.parts(row, denied)]
        except RecursionError:
            written.unreadable += 1
            continue
        for said in parts:
            write(said)
        written.count += 1
    for part in happened.rest() if happened is not None else ():
        write(form.part(reader.masked(part)))
    write(form.end())
    return written


def _from_turn(session: StoredSession, first: int, written: Written) -> Iterator[tuple[int, Row]]:
    """Yield the rows from a turn on.

    Raises:
        ExportError: There is none; before the first row.
    """
    rows = _rows(session, first, written)
    begin = next(rows, None)
    if begin is None:
        none = "Nothing was said in this session"
        raise ExportError(none if first == 1 else f"This session has no turn {first}")
    return chain((begin,), rows)


def _rows(session: StoredSession, first: int, written: Written) -> Iterator[tuple[int, Row]]:
    turn, before = 0, -1
    begin = session.begun.get(first)
    stored = (row for _, row in each_row(session.folder / TRANSCRIPT))
    for index, row in enumerate(chain(stored, _lost(session))):
        if row is None:
            written.unreadable += 1
            continue
        if row.get("role") == "user" and not is_from_hook(row):
            numbers = [each for each, start in session.begun.items() if before < start <= index]
            turn, before = max(numbers, default=turn + 1), index
        if (index >= begin if begin is not None else turn >= first) and row.get("role"):
            yield index, row


def _lost(session: StoredSession) -> Iterator[Row]:
    """Yield what a crash kept from becoming rows, looked for once the others were given."""
    yield from lost_rows(session.folder)


def _title(metadata: Metadata, masking: Masking) -> str:
    return masking.line(metadata.name or metadata.first_prompt, 200) or metadata.session_id


def _facts(metadata: Metadata, masking: Masking) -> dict[str, str]:
    facts = {
        "Session": metadata.session_id,
        "Bundle": metadata.bundle_reference,
        "Model": metadata.model,
        "Created": minute_of(metadata.created),
        "About": metadata.description,
        "Tags": ", ".join(metadata.tags),
    }
    lines = {name: masking.line(value, 500) for name, value in facts.items()}
    return {name: line for name, line in lines.items() if line}


def _write_json(
    metadata: Metadata,
    rows: Iterator[tuple[int, Row]],
    request: ExportRequest,
    masking: Masking,
    write: Write,
    written: Written,
) -> None:
    """Write `{"session": {…}, "messages": […]}`."""
    write(f'{{\n  "session": {_dump(masking.values(metadata.to_json()), "  ")},\n  "messages": [')
    for _, row in rows:
        try:
            text = _dump(masking.values(_chosen(row, request)), _INDENT)
        except RecursionError:
            written.unreadable += 1
            continue
        write(f"{',' if written.count else ''}\n{_INDENT}{text}")
        written.count += 1
    write("\n  ]\n}\n")


def _dump(data: Any, indent: str) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2).replace("\n", f"\n{indent}")


def _chosen(row: Row, request: ExportRequest) -> Row:
    """Return a row with what was asked for."""
    if row.get("role") == "tool" and not request.tools:
        return {**row, "content": ""}
    if request.thinking or row.get("role") != "assistant":
        return row
    kept = {key: value for key, value in row.items() if key not in _THINKING}
    content = row.get("content")
    if isinstance(content, list):
        kept["content"] = [block for block in content if not thinks(block)]
    return kept
