"""Lines folded to a width, of which only those that are looked at are folded."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, zip_longest
from typing import NamedTuple, overload

from amplifier_tui.ui.widgets.text_lines import (
    FOLDED,
    FoldedRow,
    LinePair,
    TextLine,
    fold,
    note_column,
)

BETWEEN = 1
"""Cells between two lines side by side."""
_MARK = len(FOLDED) + 1


class ShownRow(NamedTuple):
    """A row of the screen: a part of a line, or of each of two; `number` is the line's."""

    number: int
    sides: tuple[FoldedRow | None, ...]


class LazyLines(Sequence[TextLine | LinePair]):
    """Lines that are made when they are asked for."""

    def short(self, room: int, half: int) -> Iterator[bool]:
        """Yield of each line, without making it, whether it surely fits into `room` cells.

        Of two side by side each has `half` cells.
        """
        raise NotImplementedError


class FoldedRows(Sequence[ShownRow]):
    """The rows that lines take in `width` cells, behind a column of `lead` cells."""

    def __init__(self, lines: Sequence[TextLine | LinePair], width: int, lead: int) -> None:
        self._lines = lines
        self._lead = lead
        self._width = width
        self._folded: dict[int, list[ShownRow]] = {}
        room, half = width - lead, side_width(width) - lead
        self._column = 0
        """Where the notes begin that stand in one column."""
        if isinstance(lines, LazyLines):
            short: Iterable[bool] = lines.short(room, half)
        else:
            self._column = note_column((x for x in lines if isinstance(x, TextLine)), room)
            short = (_is_short(line, room, half) for line in lines)
        heights = (1 if is_short else len(self._rows_of(n)) for n, is_short in enumerate(short))
        self._starts = list(accumulate(heights, initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> ShownRow: ...

    @overload
    def __getitem__(self, index: slice) -> list[ShownRow]: ...

    def __getitem__(self, index: int | slice) -> ShownRow | list[ShownRow]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        number = bisect_right(self._starts, index) - 1
        return self._rows_of(number)[index - self._starts[number]]

    def _rows_of(self, number: int) -> list[ShownRow]:
        rows = self._folded.get(number)
        if rows is None:
            rows = self._folded[number] = self._fold_line(number)
        return rows

    def _fold_line(self, number: int) -> list[ShownRow]:
        line = self._lines[number]
        if isinstance(line, TextLine):
            return [ShownRow(number, (row,)) for row in self._fold(line, self._width)]
        room = side_width(self._width)
        folded = [self._fold(side, room) if side is not None else [] for side in line]
        return [ShownRow(number, pair) for pair in zip_longest(*folded)]

    def _fold(self, line: TextLine, width: int) -> list[FoldedRow]:
        lead = self._lead if line.lead else 0
        if line.note_at:
            line = line._replace(note_at=self._column or line.note_at)
        return fold(line, max(1, width - lead), 0 if lead else _MARK)


def side_width(width: int) -> int:
    """Return the cells of each of two lines side by side."""
    return max(1, (width - BETWEEN) // 2)


def _is_short(line: TextLine | LinePair, room: int, half: int) -> bool:
    if isinstance(line, TextLine):
        return len(line.text) <= room and not line.note and line.text.isascii()
    return all(side is None or _is_short(side, half, half) for side in line)
