"""Going back in a stored conversation without losing a row.

The transcript is what another program goes on from, so what was taken back is not in it. Each time
the session goes back a line is added to ``rewinds.jsonl``, with the rows that were taken out; each
time that is undone, another, and one more where that failed. The first two are written before the
transcript is: `unfinished` tells what a crash in between left to do.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import write_atomic
from amplifier_tui.base.jsonl import Row, StoredRows, encode_row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.store.metadata import now

logger = logging.getLogger(__name__)

REWINDS: Final = "rewinds.jsonl"


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What was taken back at one time.

    Attributes:
        rows: How many rows stayed.
        turn: The first turn that was taken back; of files alone, the turn they went back to.
        files: What undoes the change of files; empty where none changed.
        lines: The rows that were taken out.
        turns: How many turns they are.
        decided: What the context had decided about its messages, such as a summary of some; empty
            where that is not known.
    """

    id: str
    rows: int
    turn: int
    files: str = ""
    lines: tuple[bytes, ...] = ()
    turns: int = 0
    decided: Mapping[str, Any] = field(default_factory=dict)


class Rewinds:
    """The record of one session. A file that can't be read or written is an `OSError`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[bytes] = []
        self._standing: list[TakenBack] = []
        self._last: tuple[TakenBack, bool] | None = None
        self._is_read = False

    def load(self) -> None:
        """Read the record."""
        self._standing, self._last, self._is_read = [], None, False
        stored = StoredRows(self._path)
        # Also those that can't be read: they hold somebody's words.
        self._lines = [stored.line(index) + b"\n" for index in range(len(stored))]
        for index, row in stored.read():
            try:
                self._take(row)
            except UnicodeEncodeError as error:
                logger.warning("Line %d of %s is left out: %s", index, self._path, error)
        self._is_read = True

    @property
    def is_empty(self) -> bool:
        """Whether the session never went back."""
        return not self._lines

    @property
    def last(self) -> TakenBack | None:
        """What was taken back last and not brought back; None where there is nothing."""
        return self._standing[-1] if self._standing else None

    def add(
        self,
        rows: int,
        turn: int,
        files: str,
        lines: Sequence[bytes],
        turns: int,
        decided: Mapping[str, Any],
    ) -> TakenBack:
        """Note that the session goes back; for the arguments see `TakenBack`."""
        texts = [line.decode("utf-8", "surrogateescape") for line in lines]
        name = str(len(self._lines) + 1)
        self._write(
            {
                "kind": "rewind",
                "id": name,
                "at": now(),
                "rows": rows,
                "turn": turn,
                "files": files,
                "turns": turns,
                "lines": texts,
                "decided": decided,
            }
        )
        return self._standing[-1]

    def undo(self, taken: TakenBack) -> None:
        """Note that what was taken back is brought back."""
        self._write({"kind": "undo", "id": taken.id, "at": now()})

    def stand_again(self, taken: TakenBack) -> None:
        """Note that what was to be brought back could not be; here it counts in any case."""
        row = {"kind": "again", "id": taken.id, "at": now()}
        try:
            self._write(row)
        except OSError as error:
            logger.warning("%s does not say that %s stays taken back: %s", self._path, row, error)
            self._take(row)

    def unfinished(self, stored: StoredRows) -> tuple[TakenBack, bool] | None:
        """Return what was noted last if the transcript does not show it; None where it does.

        Returns:
            What was taken back, and whether it is to be brought back.
        """
        if self._last is None or not self._last[0].lines:
            return None
        taken, undone = self._last
        present = [stored.line(index) for index in range(taken.rows, len(stored))]
        unchanged = not present if undone else present == list(taken.lines)
        return self._last if unchanged and len(stored) >= taken.rows else None

    def _write(self, row: Mapping[str, Any]) -> None:
        if not self._is_read:
            # It is replaced as a whole: what could not be read would be lost.
            self.load()
        # Before the rows are gone from the transcript they have to be safe here.
        line = encode_row(row)
        write_atomic(self._path, b"".join((*self._lines, line)), mode=0o600, durable=True)
        self._lines.append(line)
        self._take(dict(row))

    def _take(self, row: Row) -> None:
        name = str(row.get("id"))
        if row.get("kind") == "undo":
            undone = next((each for each in self._standing if each.id == name), None)
            if undone is not None:
                self._standing.remove(undone)
                self._last = undone, True
        elif row.get("kind") == "again":
            if self._last is not None and self._last[0].id == name and self._last[1]:
                self._standing.append(self._last[0])
                self._last = self._last[0], False
        elif row.get("kind") == "rewind":
            lines, decided = row.get("lines"), row.get("decided")
            texts = lines if isinstance(lines, list) else []
            taken = TakenBack(
                name,
                _number(row.get("rows")),
                _number(row.get("turn")),
                str(row.get("files") or ""),
                tuple(str(text).encode("utf-8", "surrogateescape") for text in texts),
                _number(row.get("turns")),
                decided if isinstance(decided, dict) else {},
            )
            self._standing.append(taken)
            self._last = taken, False


def _number(value: Any) -> int:
    return max(0, value) if isinstance(value, int) else 0
