"""What the user decided about single items of the conversation: keep whole, leave out, shorten.

It holds for every model, from the next request on; the ledger stays as it is. Calls and results
stay paired: of a call that is left out the results are left out too, of a result that is left out
a line stays that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, get_args

from amplifier_tui.base.tokens import message_tokens
from amplifier_tui.context.compaction.outline import group_entries
from amplifier_tui.context.compaction.shorten import replaced_results, shortened
from amplifier_tui.context.entries import COMPACTION, KEEP, Entry, Row, read_entry

Choice = Literal["pin", "drop", "shorten"]
"""Never cut or left out; left out; the beginning and the end kept."""

_CHOICES: Final = frozenset(get_args(Choice))
_LEFT_OUT: Final = "[The user left this out of the conversation.]"

Changed = tuple[str, Choice | None]
"""The key of a row, and what was decided about it; None for nothing any more."""


class Choices:
    """The user's decisions in the order they were made.

    Attributes:
        changes: Every change; the last one about a row holds.
    """

    def __init__(self, changes: Iterable[Changed] = ()) -> None:
        self.changes: tuple[Changed, ...] = tuple(changes)
        self._made: dict[tuple[Entry, str], Entry] = {}
        self._read()

    def of(self, key: str) -> Choice | None:
        """Return what holds of a row."""
        return self._held.get(key)

    @property
    def pins(self) -> frozenset[str]:
        """Keys of the rows that stay whole."""
        return self._pins

    def choose(self, key: str, choice: Choice | None) -> None:
        """Decide about a row."""
        self._set((*self.changes, (key, choice)))

    def undo(self) -> str | None:
        """Take the last change back; returns the row's key, None where there is no change."""
        if not self.changes:
            return None
        key = self.changes[-1][0]
        self._set(self.changes[:-1])
        return key

    def clear(self) -> None:
        """Forget everything."""
        self._set(())

    def to_list(self) -> list[list[str | None]]:
        """Return JSON-native data."""
        return [[key, choice] for key, choice in self.changes]

    def restore(self, data: Any) -> None:
        """Take over what `to_list` returned; what can't be read is left out."""
        found: list[Changed] = []
        for item in data if isinstance(data, list) else ():
            if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str):
                choice = next((each for each in _CHOICES if each == item[1]), None)
                found.append((item[0], choice))
        self._set(tuple(found))

    def applied(self, rows: Sequence[Entry]) -> Sequence[Entry]:
        """Return rows of the ledger as they were decided about; the same where none was."""
        if self._cut.isdisjoint(entry.base for entry in rows):
            return rows
        shown: dict[int, Entry | None] = {}
        for group in group_entries(rows):
            said = [row for row in group.rows if not rows[row].answers]
            pinned = any(rows[row].base in self._pins for row in group.rows)
            if not pinned and any(self.of(rows[row].base) == "drop" for row in said):
                shown |= dict.fromkeys(group.rows)
                first = rows[group.rows[0]]
                shown[group.rows[0]] = self._like(first, "left out")
                continue
            for row in group.rows:
                choice = self.of(rows[row].base)
                if choice == "shorten":
                    shown[row] = self._like(rows[row], "shortened")
                elif choice == "drop" and rows[row].answers:
                    shown[row] = self._like(rows[row], "emptied")
        kept = (shown.get(number, entry) for number, entry in enumerate(rows))
        return [entry for entry in kept if entry is not None]

    def _like(self, entry: Entry, how: str) -> Entry:
        """Return what stands for a row; the very same object every time."""
        made = self._made.get((entry, how))
        if made is None:
            made = self._made[entry, how] = _standing_for(entry, how)
        return made

    def _set(self, changes: tuple[Changed, ...]) -> None:
        if changes != self.changes:
            self.changes = changes
            self._made.clear()
            self._read()

    def _read(self) -> None:
        held: dict[str, Choice | None] = dict(self.changes)
        self._held: Mapping[str, Choice] = {k: c for k, c in held.items() if c is not None}
        self._pins = frozenset(key for key, choice in self._held.items() if choice == "pin")
        self._cut = frozenset(self._held) - self._pins


def is_left_out(entry: Entry) -> bool:
    """Whether an entry of a request stands for rows that the user left out."""
    return entry.key.endswith(_MARK)


_MARK: Final = "+left"


def _standing_for(entry: Entry, how: str) -> Entry:
    if how == "left out":
        row: Row = {"role": "user", "content": _LEFT_OUT, "metadata": {"source": COMPACTION}}
        return read_entry(row, f"{entry.base}{_MARK}", {}, turn=entry.turn, seq=entry.seq)
    if how == "emptied":
        row = replaced_results(entry.message, _LEFT_OUT)
    else:
        row = shortened(entry.message, KEEP["truncate"])
    return replace(entry, message=row, tokens=message_tokens(row), _cut={})
