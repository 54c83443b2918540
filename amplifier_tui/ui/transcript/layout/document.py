"""All pieces of the conversation in order, with their heights and the row each begins at."""

import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from amplifier_tui.base.text import clean
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    NoteEntry,
    ThinkingEntry,
    ToolEntry,
)
from amplifier_tui.ui.transcript.entries.renderer import Renderer
from amplifier_tui.ui.transcript.entries.scene import Column
from amplifier_tui.ui.transcript.layout.item import DrawnEntry, Piece
from amplifier_tui.ui.transcript.lines import StyledLine
from amplifier_tui.ui.transcript.markdown.blocks import ROOT


class Heights:
    """A list of heights with their prefix sums.

    Sums are rebuilt when read, from the first height that changed: appending to a long list
    costs nothing, a change at its start a millisecond for ten thousand.
    """

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._offsets: list[int] = [0]
        self._valid = 0  # offsets[: _valid + 1] are right

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """The sum of all heights."""
        return self.offset(len(self._heights))

    def set(self, index: int, height: int) -> None:
        """Change a height."""
        if height != self._heights[index]:
            self._heights[index] = height
            self._valid = min(self._valid, index)

    def insert(self, index: int, heights: Iterable[int]) -> None:
        """Put heights in before `index`."""
        self._heights[index:index] = heights
        self._valid = min(self._valid, index)

    def delete(self, index: int, count: int) -> None:
        """Take `count` heights out."""
        del self._heights[index : index + count]
        self._valid = min(self._valid, index)

    def scale(self, factor: float) -> None:
        """Estimate all heights anew for a width that changed; one row stays one row."""
        if factor != 1:
            self._heights = [
                height if height < 3 else max(2, round(height * factor)) for height in self._heights
            ]
            self._valid = 0

    def offset(self, index: int) -> int:
        """Return the row at which `index` begins; `len(self)` is the end."""
        self._settle()
        return self._offsets[index]

    def find(self, row: int) -> int:
        """Return the index that covers `row`; rows outside give the first or the last one."""
        self._settle()
        last = len(self._heights) - 1
        return max(0, min(last, bisect_right(self._offsets, row) - 1))

    def _settle(self) -> None:
        if self._valid == len(self._heights) and len(self._offsets) == self._valid + 1:
            return
        start = self._valid
        self._offsets[start:] = accumulate(self._heights[start:], initial=self._offsets[start])
        self._valid = len(self._heights)


_KEEP = 200
NEAR = 60
"""How many pieces before and after the visible ones are worth keeping."""


class Document:
    """The pieces, their heights (real or estimated) and the entries they belong to, by key.

    Rows are rendered when they are looked at and kept for the last few hundred pieces; heights
    are kept for all.
    """

    def __init__(self) -> None:
        self.renderer = Renderer(Column.fit(80))
        self.pieces: list[Piece] = []
        self.heights = Heights()
        self.items: dict[str, DrawnEntry] = {}
        self._epoch = 0
        self._numbered = 0
        self._rendered: dict[Piece, None] = {}
        self._sliced = False
        self._measured = 0
        self._around = self._before = self._after = 0

    @property
    def total(self) -> int:
        """How many rows there are: all heights, and a blank row at the end."""
        return self.heights.total + 1 if self.pieces else 0

    def index(self, piece: Piece) -> int:
        """Return the place of a piece among all, or -1 when it was taken out."""
        for number in range(self._numbered, len(self.pieces)):
            self.pieces[number].index = number
        self._numbered = len(self.pieces)
        return piece.index

    def top(self, item: DrawnEntry) -> int:
        """Return the row at which an item begins, its gap included."""
        return self.heights.offset(self.index(item.pieces[0]))

    def bottom(self, item: DrawnEntry) -> int:
        """Return the row behind an item's last one."""
        return self.heights.offset(self.index(item.pieces[-1]) + 1)

    def item_at(self, row: int) -> DrawnEntry | None:
        """Return the item that covers a row."""
        found = self.place_at(row)
        return found[0].item if found is not None else None

    def neighbour(self, item: DrawnEntry, step: int) -> DrawnEntry | None:
        """Return the item before (-1) or after (1) another."""
        edge = item.pieces[0] if step < 0 else item.pieces[-1]
        index = self.index(edge) + step
        return self.pieces[index].item if 0 <= index < len(self.pieces) else None

    def lines(self, piece: Piece) -> list[StyledLine]:
        """Return the rows of a piece, rendering them if need be."""
        if piece.lines is None:
            piece.lines = self.renderer.lines(piece)
            piece.strips.clear()
            self._rendered[piece] = None
        return piece.lines

    def place_at(self, row: int) -> tuple[Piece, int] | None:
        """Return the piece that covers a row, and which of its rows that is."""
        if not self.pieces or not 0 <= row < self.heights.total:
            return None
        index = self.heights.find(row)
        return self.pieces[index], row - self.heights.offset(index)

    def line_at(self, row: int) -> tuple[Piece, int, StyledLine] | None:
        """Return what `place_at` does, and the line itself."""
        found = self.place_at(row)
        if found is None:
            return None
        piece, number = found
        lines = self.lines(piece)
        return (piece, number, lines[number]) if number < len(lines) else None

    def is_measured(self, piece: Piece) -> bool:
        """Say whether a piece's height is its real one."""
        return piece.epoch == self._epoch and piece.item.split

    def measure(self, piece: Piece) -> None:
        """Make a piece's height its real one."""
        if not piece.item.split:
            self._split(piece.item)
        if not self.is_measured(piece):
            piece.epoch = self._epoch
            self.heights.set(self.index(piece), len(self.lines(piece)))

    def measure_slice(self, seconds: float, around: int) -> bool:
        """Measure for some seconds, outwards from the piece `around`; say whether any is left."""
        if not self._sliced:
            self._around, self._before, self._after = around, around - 1, around
        deadline = time.perf_counter() + seconds
        while self._before >= self._measured or self._after < len(self.pieces):
            if self._before >= self._measured:
                count = len(self.pieces)
                self._measure_and_free(self._before)
                # A text that was cut moved the pieces behind it.
                self._after += len(self.pieces) - count
                self._before -= 1
            if self._after < len(self.pieces):
                self._measure_and_free(self._after)
                self._after += 1
            if time.perf_counter() > deadline:
                break
        self._sliced = True
        if self._before >= self._measured:
            return True
        # Nothing before them is left, so that the next slice does not look there again.
        self._measured = max(self._measured, self._after)
        return self._after < len(self.pieces)

    def _measure_and_free(self, index: int) -> None:
        piece = self.pieces[index]
        if not self.is_measured(piece):
            self.measure(piece)
            if abs(index - self._around) > NEAR:
                self.release(piece)

    def trim(self, first: int, last: int) -> None:
        """Free rendered rows far from the pieces `first` to `last` once there are many."""
        if len(self._rendered) <= _KEEP:
            return
        for piece in list(self._rendered):
            if not first - NEAR <= self.index(piece) <= last + NEAR:
                self.release(piece)

    def release(self, piece: Piece) -> None:
        """Free the rows of a piece."""
        piece.forget()
        self._rendered.pop(piece, None)

    def fit(self, column: Column) -> None:
        """Take another width: all rows are void, all heights estimates."""
        self._epoch += 1
        self._unmeasure(0)
        self.heights.scale(self.renderer.column.measure / column.measure)
        self.renderer.column = column
        for piece in self._rendered:
            piece.forget()
        self._rendered.clear()

    def repaint(self) -> None:
        """Forget what was painted; the rows stay."""
        for piece in self._rendered:
            piece.strips.clear()

    def add(self, entry: ConversationEntry) -> DrawnEntry:
        """Append an entry; one whose key is there already is replaced in its place."""
        if entry.key in self.items:
            item = self.items[entry.key]
            item.entry = entry
            self.refresh(item)
            return item
        item = self._new(entry)
        self._insert(len(self.pieces), item.pieces)
        self._link(item)
        return item

    def prepend(self, entries: Sequence[ConversationEntry]) -> None:
        """Put entries, oldest first, in front of all others."""
        fresh = [self._new(entry) for entry in entries if entry.key not in self.items]
        old = self.pieces[0].item if self.pieces else None
        self._insert(0, [piece for item in fresh for piece in item.pieces])
        for item in fresh:
            self._link(item)
        if old is not None:
            self._link(old)

    def remove(self, item: DrawnEntry) -> None:
        """Take an item out."""
        following = self.neighbour(item, 1)
        self.items.pop(item.entry.key, None)
        self._take_out(self.index(item.pieces[0]), len(item.pieces))
        if following is not None:
            self._link(following)

    def clear(self) -> None:
        """Take everything out."""
        self.items.clear()
        self._take_out(0, len(self.pieces))

    def refresh(self, item: DrawnEntry) -> None:
        """Render an item anew, from its entry."""
        first = item.pieces[0]
        if len(item.pieces) > 1:
            index = self.index(first)
            self._take_out(index + 1, len(item.pieces) - 1)
            del item.pieces[1:]
        item.split = False
        item.references.clear()
        first.source, first.context = "", ROOT
        self.invalidate(first, estimate=True)

    def redraw(self, item: DrawnEntry) -> None:
        """Render an item anew; its text is cut as it was."""
        for piece in item.pieces:
            self.invalidate(piece)

    def invalidate(self, piece: Piece, *, estimate: bool = False) -> None:
        """Render a piece anew; until then its height is what it was, or a fresh `estimate`."""
        piece.forget()
        piece.epoch = -1
        if estimate:
            self.heights.set(self.index(piece), self.renderer.estimate(piece))
        self._unmeasure(self.index(piece))

    def append_piece(self, item: DrawnEntry, piece: Piece) -> None:
        """Put a piece behind an item's last one."""
        index = self.index(item.pieces[-1]) + 1
        item.pieces.append(piece)
        self._insert(index, [piece])

    def _new(self, entry: ConversationEntry) -> DrawnEntry:
        item = DrawnEntry(entry)
        item.pieces.append(Piece(item))
        self.items[entry.key] = item
        return item

    def _split(self, item: DrawnEntry) -> None:
        """Cut an item's text into pieces."""
        item.split = True
        prose = item.prose
        if not prose:
            return
        from amplifier_tui.ui.transcript.markdown.split import pieces_of

        first = item.pieces[0]
        (context, source), *others = pieces_of(clean(prose), item.references)
        first.context, first.source = context, source
        pieces = [Piece(item, source, context) for context, source in others]
        item.pieces += pieces
        self._insert(self.index(first) + 1, pieces)
        self.invalidate(first, estimate=True)

    def _link(self, item: DrawnEntry) -> None:
        """Find out what separates an item from the one before it."""
        entry = item.entry
        previous = self.neighbour(item, -1)
        above = previous.entry if previous is not None else None
        nested = entry.agent != MAIN_LANE
        changes_lane = nested and (above is None or above.agent != entry.agent)
        lane = entry.agent if changes_lane else ""
        gap = 0 if above is not None and _belong_together(above, entry) else 1
        if (item.gap, item.lane, item.nested) == (gap, lane, nested):
            return
        if item.nested != nested:
            self.redraw(item)
        item.gap, item.lane, item.nested = gap, lane, nested
        self.invalidate(item.pieces[0], estimate=True)

    def _unmeasure(self, index: int) -> None:
        """Note that the pieces from an index on may have no real height."""
        self._measured = min(self._measured, index)
        self._sliced = False

    def _insert(self, index: int, pieces: Sequence[Piece]) -> None:
        self.pieces[index:index] = pieces
        self.heights.insert(index, [self.renderer.estimate(piece) for piece in pieces])
        self._numbered = min(self._numbered, index)
        self._unmeasure(index)

    def _take_out(self, index: int, count: int) -> None:
        for piece in self.pieces[index : index + count]:
            piece.index = -1
            self._rendered.pop(piece, None)
        del self.pieces[index : index + count]
        self.heights.delete(index, count)
        self._numbered = min(self._numbered, index)
        self._unmeasure(index)


def _belong_together(above: ConversationEntry, below: ConversationEntry) -> bool:
    """Say whether no blank row separates two entries."""
    kinds: tuple[type[ConversationEntry], ...] = (ToolEntry, ThinkingEntry)
    if isinstance(above, NoteEntry):
        kinds = (NoteEntry,)
    return isinstance(above, kinds) and isinstance(below, kinds)
