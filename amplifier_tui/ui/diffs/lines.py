"""Rows of a diff as lines to be shown, one below the other or before beside after."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat, zip_longest
from typing import overload

from amplifier_tui.ui.diffs.rows import SIGNS, DiffRow, DiffRows
from amplifier_tui.ui.widgets.folded_rows import LazyLines
from amplifier_tui.ui.widgets.text_lines import LinePair, Spans, TextLine, shown_marks

SPLIT_WIDTH = 140
"""Cells from which before and after stand side by side."""

_Place = tuple[int] | tuple[int | None, int | None]
"""Which row a line shows, or which two side by side."""
_NONE: Mapping[int, Spans] = {}
_GROUNDS = {"added": "on $success 10%", "removed": "on $error 10%"}
_EMPHASIS = {
    "added": "$foreground on $success 12% bold",
    "removed": "$foreground on $error 12% bold",
}
_SIGN_STYLES = {"added": "$text-success bold", "removed": "$text-error bold"}
_STYLES = {"file": "$text-secondary bold", "section": "$text-muted", "other": "$text-muted"}


class DiffLines(LazyLines):
    """A diff laid out in lines, and text below it.

    With `split` what was removed stands beside what was added in its place. `syntax` has the
    colours of rows by their index. `lead` is the cells of the column before the lines, `changes`
    are the lines at which changes begin.
    """

    def __init__(
        self,
        rows: DiffRows,
        below: Sequence[TextLine] = (),
        *,
        split: bool = False,
        syntax: Mapping[int, Spans] = _NONE,
    ) -> None:
        self._rows = rows
        self._below = below
        self._syntax = syntax
        self._made: dict[int, TextLine | LinePair] = {}
        self._digits = max(4, rows.number_width)
        self.lead = self._digits + 3
        self._places = list(_side_by_side(rows)) if split else None
        self._count = len(rows) if self._places is None else len(self._places)
        self.changes = tuple(self._starts_of_changes())

    def __len__(self) -> int:
        return self._count + len(self._below)

    @overload
    def __getitem__(self, index: int) -> TextLine | LinePair: ...

    @overload
    def __getitem__(self, index: slice) -> list[TextLine | LinePair]: ...

    def __getitem__(self, index: int | slice) -> TextLine | LinePair | list[TextLine | LinePair]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if index >= self._count:
            return self._below[index - self._count]
        line = self._made.get(index)
        if line is None:
            line = self._made[index] = self._make(self._place(index))
        return line

    def short(self, room: int, half: int) -> Iterator[bool]:
        """Yield of each line whether its text surely fits into `room` cells, or `half` of them."""
        # Two cells are those of the mark before the name of a section.
        texts = self._rows.texts
        whole, halved = (
            [len(text) <= most - 2 and text.isascii() for text in texts] for most in (room, half)
        )
        if self._places is None:
            yield from whole
        else:
            for place in self._places:
                fits = whole if len(place) == 1 else halved
                yield all(at is None or fits[at] for at in place)
        yield from repeat(False, len(self._below))

    def line_in(self, other: "DiffLines", number: int) -> int:
        """Return which line of another layout of the same rows shows what this line does."""
        if number >= self._count:
            return number - self._count + other._count
        place = self._place(number)
        at = place[-1] if place[-1] is not None else place[0]
        if other._places is None:
            return at or 0
        return next((n for n, each in enumerate(other._places) if at in each), 0)

    def shows(self, rows: DiffRows) -> bool:
        """Whether it is a layout of these rows."""
        return self._rows is rows

    def _place(self, number: int) -> _Place:
        return (number,) if self._places is None else self._places[number]

    def _starts_of_changes(self) -> Iterator[int]:
        kinds = [kind in _GROUNDS for kind in self._rows.kinds]
        in_change = False
        for number in range(self._count):
            place = self._place(number)
            # Of two rows side by side one is there, and both are part of a change or neither.
            at = place[0] if place[0] is not None else place[-1]
            changed = at is not None and kinds[at]
            if changed and not in_change:
                yield number
            in_change = changed

    def _make(self, place: _Place) -> TextLine | LinePair:
        if len(place) == 1:
            return self._line(place[0])
        left, right = place
        return LinePair(
            None if left is None else self._line(left, old=True),
            None if right is None else self._line(right),
        )

    def _line(self, at: int, *, old: bool = False) -> TextLine:
        return _line(self._rows[at], self._digits, self._syntax.get(at, ()), old)


def _side_by_side(rows: DiffRows) -> Iterator[_Place]:
    """Yield the rows that stand beside each other, by their index; a heading stands alone."""
    for start, middle, end in rows.change_runs():
        kind = rows.kinds[start]
        if kind in _GROUNDS:
            yield from zip_longest(range(start, middle), range(middle, end))
        else:
            yield (start, start) if kind in SIGNS else (start,)


def _line(row: DiffRow, digits: int, syntax: Spans, old: bool = False) -> TextLine:
    """Return a row as a line; `old` numbers it as before the change."""
    marks = shown_marks(row.text)
    if not row.is_line:
        text = f"⋯ {row.text}".rstrip() if row.kind == "section" else row.text
        return TextLine(text, _STYLES[row.kind], marks=shown_marks(text))
    number = (row.old if old else row.number) or ""
    spans = syntax
    if (emphasis := row.emphasis) != (0, 0):
        spans = (*spans, (*emphasis, _EMPHASIS[row.kind]))
    return TextLine(
        row.text,
        lead=f"{number:>{digits}} {SIGNS[row.kind]} ",
        lead_style=_SIGN_STYLES.get(row.kind, "$text-muted"),
        marks=marks,
        spans=spans,
        ground=_GROUNDS.get(row.kind, ""),
    )
