"""The prompts sent before: on disk as JSON lines, newest last."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_tui.ui.prompt.unsent import UnsentDrafts

if TYPE_CHECKING:
    from amplifier_tui.base.jsonl import Row

_log = logging.getLogger(__name__)

KEEP = 2_000
"""Prompts kept."""
LARGEST = 16 * 1024 * 1024
"""Characters of all prompts together that are kept; each is kept whole or not at all.

The file is shortened when it has grown to twice as many of either.
"""


class History:
    """Walks through earlier prompts and remembers new ones. `load` and `store` are for a thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._items: list[str] = []
        self._at: int | None = None
        self._draft = ""
        self.unsent = UnsentDrafts(path.with_name("drafts"))
        """What is written and no session keeps."""

    @property
    def items(self) -> tuple[str, ...]:
        """Earlier prompts, oldest first."""
        return tuple(self._items)

    def load(self) -> list[str]:
        """Read the file and return its prompts, oldest first; broken lines are skipped.

        What windows that died had not sent comes last.
        """
        from amplifier_tui.base.files import locked
        from amplifier_tui.base.jsonl import read_rows, write_rows

        rows: list[Row] = []
        self.unsent.take_left(self._path)
        try:
            rows, _ = read_rows(self._path, repair=False)
            if len(rows) > KEEP * 2 or sum(map(_size, rows)) > LARGEST * 2:
                with locked(self._path):
                    # What another window has stored meanwhile is kept.
                    rows, _ = read_rows(self._path, repair=False)
                    write_rows(self._path, _newest(rows))
        except OSError as error:
            doing = "shortened" if rows else "read"
            _log.warning("The prompt history %s cannot be %s: %s", self._path, doing, error)
        return [str(row["text"]) for row in _newest(rows)]

    def merge(self, loaded: list[str]) -> None:
        """Put prompts read from disk before those of this run."""
        self._items = [*loaded, *self._items]

    def add(self, text: str) -> bool:
        """Remember a prompt and go back to the newest; False when it repeats the last one."""
        self._at = None
        if not text.strip() or (self._items and self._items[-1] == text):
            return False
        self._items.append(text)
        return True

    def store(self, text: str, cwd: str) -> None:
        """Append a prompt to the file, for its owner alone; raises OSError where that cannot be."""
        from amplifier_tui.base.files import locked
        from amplifier_tui.base.jsonl import append_rows

        with locked(self._path):
            append_rows(self._path, [{"text": text, "at": round(time.time(), 3), "cwd": cwd}])

    def previous(self, draft: str) -> str | None:
        """Step back and return that prompt; None at the oldest. The draft is kept."""
        at = len(self._items) if self._at is None else self._at
        if at == 0:
            return None
        if self._at is None:
            self._draft = draft
        self._at = at - 1
        return self._items[self._at]

    def next(self) -> str | None:
        """Step forward; past the newest prompt comes the draft. None when not stepping."""
        if self._at is None:
            return None
        self._at += 1
        if self._at >= len(self._items):
            self._at = None
            return self._draft
        return self._items[self._at]

    @property
    def walking(self) -> bool:
        """Whether an earlier prompt is shown in place of the draft."""
        return self._at is not None

    def leave(self) -> None:
        """Take what is shown as the draft: the next step back starts at the newest."""
        self._at = None


def _size(row: Row) -> int:
    text = row.get("text")
    return len(text) if isinstance(text, str) else 0


def _newest(rows: list[Row]) -> list[Row]:
    """Return the newest rows that hold a prompt, as many as are kept, oldest first."""
    kept: list[Row] = []
    size = 0
    for row in reversed(rows):
        if row_size := _size(row):
            size += row_size
            if len(kept) == KEEP or size > LARGEST:
                break
            kept.append(row)
    return kept[::-1]
