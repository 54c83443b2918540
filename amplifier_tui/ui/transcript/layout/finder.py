"""Finding words in the conversation: in which entries they are, and on which rows of one."""

import re
import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from amplifier_tui.ui.transcript.entries.long_output import rest_row
from amplifier_tui.ui.transcript.entries.renderer import searched_text
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.item import DrawnEntry, Piece
from amplifier_tui.ui.transcript.lines import StyledLine


def pattern_of(words: str) -> re.Pattern[str]:
    """Return what finds words as they are; only capitals among them tell cases apart."""
    return re.compile(re.escape(words), 0 if words != words.lower() else re.IGNORECASE)


class Mark(NamedTuple):
    """The characters of a row that belong to the occurrence `number` of its piece."""

    start: int
    end: int
    number: int


class FoundPlace(NamedTuple):
    """Where one is: which of all occurrences (from 1, 0 before the first), and whether more come.

    `searching` says that not all entries have been looked at yet.
    """

    number: int
    total: int
    searching: bool


class Finder:
    """What was found in a document, and which of it is looked at.

    Entries are counted by their text, also where it is folded away; marks are made of rows, and
    only where they are looked at.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._pattern: re.Pattern[str] | None = None
        self._todo: dict[DrawnEntry, None] = {}
        self._counts: dict[DrawnEntry, int] = {}
        self._here: tuple[DrawnEntry, int] | None = None
        self._here_mark: tuple[Piece, int] | None = None
        self._marks: dict[Piece, tuple[list[StyledLine], dict[int, list[Mark]]]] = {}
        self._total = self._at = 0
        self._numbered = False

    @property
    def active(self) -> bool:
        """Whether anything is searched for."""
        return self._pattern is not None

    @property
    def place(self) -> FoundPlace:
        """Which of how many one looks at."""
        if not self._numbered and not self._todo:
            self._number()
        return FoundPlace(self._at, self._total, bool(self._todo))

    def search(self, words: str, top: int) -> None:
        """Begin to look for words, from the piece `top` on and then from the beginning."""
        self.end()
        if not words:
            return
        self._pattern = pattern_of(words)
        pieces = self._document.pieces
        ordered = (*pieces[top:], *pieces[:top])
        self._todo = dict.fromkeys(piece.item for piece in ordered)

    def end(self) -> None:
        """Forget what was looked for."""
        self._pattern = self._here = self._here_mark = None
        self._todo.clear()
        self._counts.clear()
        self._marks.clear()
        self._total = self._at = 0
        self._numbered = False

    def look_again(self, keys: Iterable[str]) -> None:
        """Count anew the entries that came or changed."""
        if self.active:
            items = self._document.items
            for item in [each for each in self._counts if items.get(each.entry.key) is not each]:
                self._forget(item)
            self._todo.update(dict.fromkeys(items[key] for key in keys if key in items))

    def slice(self, seconds: float) -> bool:
        """Look for some seconds; say whether entries are left."""
        deadline = time.perf_counter() + seconds
        while self._todo and self._pattern is not None:
            item = next(iter(self._todo))
            del self._todo[item]
            count = len(self._pattern.findall(searched_text(item.entry)))
            if count:
                self._total += count - self._counts.get(item, 0)
                self._counts[item] = count
                self._numbered = False
            else:
                self._forget(item)
            if time.perf_counter() > deadline:
                break
        return bool(self._todo)

    def step(self, direction: int, top: int) -> bool:
        """Go to the next (1) or previous (-1) occurrence, round the ends; say whether there is one.

        Args:
            top: The index of the piece from which the first is looked for.
        """
        found = self._found()
        if not found:
            return False
        if self._here is None:
            ahead = (item for item in found if self._document.index(item.pieces[-1]) >= top)
            item = next(ahead, found[0]) if direction > 0 else found[-1]
            self._here = (item, 0 if direction > 0 else self._counts[item] - 1)
            self._number()
            return True
        item, nth = self._here
        nth += direction
        if not 0 <= nth < self._counts[item]:
            item = found[(found.index(item) + direction) % len(found)]
            nth = 0 if direction > 0 else self._counts[item] - 1
        self._here = (item, nth)
        self._number()
        return True

    @property
    def here(self) -> DrawnEntry | None:
        """The entry that is looked at."""
        return self._here[0] if self._here is not None else None

    def settle(self) -> tuple[Piece, int] | None:
        """Find the piece and row of the occurrence looked at, None where it is not on a row.

        Text that is folded away or that Markdown hides is on none.
        """
        if self._here is None:
            return None
        item, nth = self._here
        self._here_mark = None
        last: tuple[Piece, int] | None = None
        self._document.measure(item.pieces[0])
        for piece in item.pieces:
            self._document.measure(piece)
            for row, marks in self.marks(piece).items():
                for mark in marks:
                    if last is None or last != (piece, mark.number):
                        last, nth = (piece, mark.number), nth - 1
                    if nth < 0:
                        self._here_mark = last
                        return piece, row
        if last is None:
            return None
        # Fewer are shown than the text has: the last of them is the nearest.
        self._here_mark = last
        rows = self.marks(last[0]).items()
        return last[0], max(row for row, marks in rows if marks[-1].number == last[1])

    def hides(self) -> bool:
        """Whether the occurrence looked at may be in what its entry does not show as yet."""
        if self._here is None:
            return False
        item, nth = self._here
        rest = rest_row(self._document.lines(item.pieces[0]))
        places = [
            (place, mark.number, rest is None or (not place and row < rest))
            for place, piece in enumerate(item.pieces)
            for row, marks in self.marks(piece).items()
            for mark in marks
        ]
        shown = {(place, number) for place, number, _ in places}
        before = {(place, number) for place, number, certain in places if certain}
        # What is shown above the first gap is in the order of the text.
        return nth >= len(before) and len(shown) < self._counts[item]

    def marks(self, piece: Piece) -> dict[int, list[Mark]]:
        """Return the marks of a piece by row; words that are wrapped have one on each row."""
        lines = self._document.lines(piece)
        kept = self._marks.get(piece)
        if kept is None or kept[0] is not lines:
            if len(self._marks) > _KEEP:
                self._marks.clear()
            made = _marked(lines, self._pattern) if self._pattern is not None else {}
            kept = self._marks[piece] = (lines, made)
        return kept[1]

    def is_here(self, piece: Piece, mark: Mark) -> bool:
        """Say whether a mark is of the occurrence that is looked at."""
        return self._here_mark == (piece, mark.number)

    def _found(self, before: DrawnEntry | None = None) -> list[DrawnEntry]:
        """Return the entries in which something was found, in their order on screen."""
        index = self._document.index
        placed = {item: index(item.pieces[0]) for item in self._counts}
        end = placed.get(before) if before is not None else None
        kept = placed if end is None else [item for item, at in placed.items() if at < end]
        return sorted(kept, key=placed.__getitem__)

    def _number(self) -> None:
        """Find out which of all occurrences is looked at."""
        self._at, self._numbered = 0, True
        if self._here is not None:
            item, nth = self._here
            self._at = nth + 1 + sum(self._counts[each] for each in self._found(before=item))

    def _forget(self, item: DrawnEntry) -> None:
        self._total -= self._counts.pop(item, 0)
        self._numbered = False
        if self.here is item:
            self._here = self._here_mark = None


_KEEP = 400
"""Pieces whose marks are kept."""


def _marked(lines: Sequence[StyledLine], pattern: re.Pattern[str]) -> dict[int, list[Mark]]:
    text, begins = "", list[int]()
    for line in lines:
        begins.append(len(text))
        own = line.text
        said = "" if line.aside else own[line.lead : len(own) - line.tail]
        text += said + ("\n" if line.join is None else line.join)
    made: dict[int, list[Mark]] = {}
    for number, found in enumerate(pattern.finditer(text)):
        row = bisect_right(begins, found.start()) - 1
        while row < len(lines) and begins[row] < found.end():
            line = lines[row]
            size = len(line.text) - line.tail
            start = line.lead + max(0, found.start() - begins[row])
            end = min(size, line.lead + found.end() - begins[row])
            if start < end:
                made.setdefault(row, []).append(Mark(start, end, number))
            row += 1
    return made
