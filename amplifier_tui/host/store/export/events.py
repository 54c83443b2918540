"""The event log of a session as JSON lines, or as a table with commas."""

import csv
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import Row, each_row
from amplifier_tui.host.events import HookTraced
from amplifier_tui.host.events.filtering import parse_filter
from amplifier_tui.host.requests import ExportRequest
from amplifier_tui.host.store.event_log import FILE_NAME
from amplifier_tui.host.store.export.conversation import ExportError, Write, Written
from amplifier_tui.host.store.export.masking import Masking
from amplifier_tui.host.stream.traces import replayed

_COLUMNS: Final = (
    *("seq", "time", "lane", "event", "source", "verdict", "ms", "count", "handlers", "data"),
    "changed",
)


def write_event_log(
    folder: Path, request: ExportRequest, masking: Masking, write: Write
) -> Written:
    """Write the events that pass the filter; one at a time is in memory.

    Raises:
        ExportError: The filter makes no sense.
        OSError: The log can't be read, or not be written.
    """
    wanted = parse_filter(request.events)
    if wanted.problems:
        raise ExportError(wanted.problems[0])
    written = Written()
    if request.form == "csv":
        write(_table_row(dict(zip(_COLUMNS, _COLUMNS, strict=True))))
    for _, row in each_row(folder / FILE_NAME):
        if row is None or not isinstance(row.get("seq"), int):
            written.unreadable += 1
            continue
        try:
            # Whole, so that the filter looks at all of it.
            event = replayed(row, folder.name, None)
            if not wanted.matches(event):
                continue
            facts = masking.values(_facts(event, row))
            line = _table_row(_cells(facts)) if request.form == "csv" else _line(facts)
        except RecursionError:
            written.unreadable += 1
            continue
        write(line)
        written.count += 1
    return written


def _facts(event: HookTraced, row: Row) -> dict[str, Any]:
    facts = {
        "seq": event.seq,
        "time": datetime.fromtimestamp(event.at, UTC).isoformat(),
        "lane": event.agent,
        "event": event.event,
        "source": event.source,
        "verdict": event.verdict,
        "ms": round(event.duration_ms, 3),
        "count": event.count,
        "handlers": [
            {"name": each.label, "verdict": each.verdict, "why": each.error or each.reason or ""}
            for each in event.handlers
        ],
        "data": row.get("data"),
    }
    return {**facts, "changed": row["changed"]} if "changed" in row else facts


def _line(facts: Mapping[str, Any]) -> str:
    return f"{json.dumps(facts, ensure_ascii=False)}\n"


def _cells(facts: Mapping[str, Any]) -> dict[str, Any]:
    handlers = "; ".join(f"{each['name']} {each['verdict']}" for each in facts["handlers"])
    texts = {
        name: json.dumps(facts[name], ensure_ascii=False)
        for name in ("data", "changed")
        if name in facts
    }
    return {**facts, "handlers": handlers, **texts}


def _table_row(cells: Mapping[str, Any]) -> str:
    made = io.StringIO()
    # A program that opens the table must not take a text for a formula.
    values = (_harmless(cells.get(name, "")) for name in _COLUMNS)
    csv.writer(made, lineterminator="\n").writerow(values)
    return made.getvalue()


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
