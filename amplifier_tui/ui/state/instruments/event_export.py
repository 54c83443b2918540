"""Rows of the event log as a file: JSON lines, or a table with commas."""

import csv
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplifier_tui.base.files import write_atomic
from amplifier_tui.base.secrets import replace_secrets
from amplifier_tui.host.events import HookTraced

_COLUMNS = ("seq", "time", "lane", "event", "source", "verdict", "ms", "count", "handlers", "data")
_HIDDEN = "[REDACTED]"


def write_events(path: Path, rows: Iterable[HookTraced]) -> None:
    """Write rows to a file: a table when its name ends with `.csv`, else JSON lines.

    Raises:
        OSError: It can't be written.
    """
    text = _as_csv(rows) if path.suffix.lower() == ".csv" else _as_json_lines(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text.encode("utf-8", "backslashreplace"), mode=0o600)


def _as_json_lines(rows: Iterable[HookTraced]) -> str:
    lines = (json.dumps(_facts(row), ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines)


def _as_csv(rows: Iterable[HookTraced]) -> str:
    written = io.StringIO()
    table = csv.DictWriter(written, _COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in rows:
        facts = _facts(row)
        names = (f"{each['name']} {each['verdict']}" for each in facts["handlers"])
        data = facts["data"] if isinstance(facts["data"], str) else json.dumps(facts["data"])
        cells = {**facts, "handlers": "; ".join(names), "data": data}
        # A program that opens the table must not take a text for a formula.
        table.writerow({name: _harmless(value) for name, value in cells.items()})
    return written.getvalue()


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value


def _facts(row: HookTraced) -> dict[str, Any]:
    """Return what a row says; secrets that may have slipped into it are replaced."""
    text = _clean(row.data)
    data: Any = text
    try:
        data = json.loads(text)
    except ValueError:
        # Cut short, or no JSON: as it is.
        data = text
    return {
        "seq": row.seq,
        "time": datetime.fromtimestamp(row.at, UTC).isoformat(),
        "lane": row.agent,
        "event": row.event,
        "source": _clean(row.source),
        "verdict": row.verdict,
        "ms": round(row.duration_ms, 3),
        "count": row.count,
        "handlers": [
            {"name": h.name, "verdict": h.verdict, "why": _clean(h.error or h.reason or "")}
            for h in row.handlers
        ],
        "data": data,
    }


def _clean(text: str) -> str:
    return replace_secrets(text, lambda *_: _HIDDEN)
