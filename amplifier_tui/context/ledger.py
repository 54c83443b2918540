"""The ledger: every message of a session, in order, never changed."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from amplifier_tui.base.files import write_atomic
from amplifier_tui.base.jsonl import RowReport, StoredRows, decode_row, read_rows
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.context.entries import Entry, read_entry

LoadReport = RowReport
"""Its name in the public API."""


class Ledger:
    """Append-only rows: what ``get_messages()``, the transcript and a resume are made of.

    Attributes:
        entries: The rows; not to be changed.
        system_rows: How many of them are system messages.
        tool_names: Tool names by the ids of the calls in it.
        turn: How often the user spoke.
        last_own: Row of the user's latest words; -1 before the first.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.system_rows = 0
        self.tool_names: dict[str, str] = {}
        self.turn = 0
        self.last_own = -1

    @classmethod
    def load(cls, path: Path) -> tuple[Self, LoadReport]:
        """Read a file of rows, one JSON object per line; one that does not exist has no rows.

        A torn last line is moved aside. The report says what was found wrong.
        """
        rows, report = read_rows(path)
        ledger = cls()
        for row in rows:
            if row.get("role"):
                ledger._add(row)
            else:
                report.skipped.append(len(ledger))
        return ledger, report

    def __len__(self) -> int:
        return len(self.entries)

    def append(self, message: Mapping[str, Any]) -> Entry:
        """Add a copy of a message; ``ValueError`` without a role."""
        check_message(message)
        return self._add(copy_plain(message))

    def replace(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Start over with copies of other messages.

        ``ValueError`` where one has no role; the ledger is as it was then.
        """
        new = list(messages)
        for message in new:
            check_message(message)
        self.clear()
        for message in new:
            self._add(copy_plain(message))

    def clear(self) -> None:
        """Forget everything."""
        self.entries.clear()
        self.tool_names.clear()
        self.system_rows = 0
        self.turn = 0
        self.last_own = -1

    def messages(self) -> list[dict[str, Any]]:
        """Return copies of the messages."""
        return [copy_plain(entry.message) for entry in self.entries]

    def _add(self, row: Mapping[str, Any]) -> Entry:
        seq = len(self.entries)
        entry = read_entry(row, str(seq), self.tool_names, seq=seq)
        if entry.own:
            self.turn += 1
            self.last_own = seq
        entry.turn = self.turn
        self.system_rows += entry.role == "system"
        self.entries.append(entry)
        return entry


def check_message(message: Any) -> None:
    """Raise a ``ValueError`` unless something is a dict with a role."""
    if not isinstance(message, Mapping) or not message.get("role"):
        raise ValueError("Message must have 'role' field")


def fork(path: Path, up_to_row: int, target: Path) -> int:
    """Copy the first rows of a file to a new one; returns how many.

    Blank lines are no rows, unreadable ones are.

    Raises:
        FileExistsError: The target exists.
        OSError: A file can't be read or written.
    """
    if target.exists():
        raise FileExistsError(f"{target} exists already; a fork needs a file of its own")
    stored = StoredRows(path)
    lines = [stored.line(index) for index in range(min(up_to_row, len(stored)))]
    if len(lines) == len(stored) and lines and decode_row(lines[-1]) is None:
        lines.pop()  # The torn end of a killed process.
    write_atomic(target, b"".join(line + b"\n" for line in lines), mode=0o600, durable=True)
    return len(lines)
