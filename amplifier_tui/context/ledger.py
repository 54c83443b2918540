"""The ledger: every message of a session, in order, never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from amplifier_tui.context.copies import copied_row
from amplifier_tui.context.entries import Entry, read_entry
from amplifier_tui.context.ledger_file import LoadReport, read_rows


class Ledger:
    """Append-only rows: what ``get_messages()``, the transcript and a resume are made of.

    Attributes:
        tool_names: Tool names by the ids of the calls in it.
        turn: How often the user spoke.
    """

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._system_rows = 0
        self.tool_names: dict[str, str] = {}
        self.turn = 0

    @classmethod
    def load(cls, path: Path) -> tuple[Self, LoadReport]:
        """Read a file of rows, one JSON object per line.

        Args:
            path: The file; one that does not exist has no rows. A torn last line is moved aside.

        Returns:
            The ledger, and what was found wrong.

        Raises:
            OSError: The file can't be read, or its torn end can't be moved aside.
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
        return len(self._entries)

    @property
    def entries(self) -> Sequence[Entry]:
        """The rows; not to be changed."""
        return self._entries

    @property
    def has_system_rows(self) -> bool:
        """Whether system messages are among the rows."""
        return self._system_rows > 0

    def append(self, message: Mapping[str, Any]) -> Entry:
        """Add a message.

        Args:
            message: A dict with at least ``role``; it is copied.

        Returns:
            The row.

        Raises:
            ValueError: It has no role.
        """
        check_message(message)
        return self._add(copied_row(message))

    def replace(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Start over with other messages.

        Args:
            messages: The messages; they are copied.

        Raises:
            ValueError: One has no role; the ledger is as it was.
        """
        new = list(messages)
        for message in new:
            check_message(message)
        self.clear()
        for message in new:
            self._add(copied_row(message))

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self.tool_names.clear()
        self._system_rows = 0
        self.turn = 0

    def messages(self, start: int = 0, stop: int | None = None) -> list[dict[str, Any]]:
        """Return copies of the messages of rows ``start <= row < stop``."""
        return [copied_row(entry.message) for entry in self._entries[start:stop]]

    def _add(self, row: Mapping[str, Any]) -> Entry:
        entries = self._entries
        seq = len(entries)
        entry = read_entry(row, str(seq), self.tool_names, seq=seq)
        self.turn += entry.own
        entry.turn = self.turn
        self._system_rows += entry.role == "system"
        entries.append(entry)
        return entry


def check_message(message: Any) -> None:
    """Raise unless something is a message.

    Raises:
        ValueError: It is no dict, or has no role.
    """
    if not isinstance(message, Mapping) or not message.get("role"):
        raise ValueError("Message must have 'role' field")
