"""Decides which row is at the top, and keeps what is read where it is.

Heights that were estimated turn out different when they are rendered. The pager measures what
is about to be visible before it is painted, and holds one row of text, the anchor, in place.
"""

from typing import Final, NamedTuple

from amplifier_tui.ui.state.conversation.entries import ReportEntry, WelcomeEntry
from amplifier_tui.ui.transcript.entries.scene import Column
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.item import DrawnEntry, Piece

_START: Final = (ReportEntry, WelcomeEntry)
"""What an empty session shows."""


class RowAnchor(NamedTuple):
    """A row of a piece. It may lie behind the piece's end, in the next one."""

    piece: Piece
    line: int


class Pager:
    """The window on a document: `height` rows from `row` on; `follow` sticks to the end.

    `moved` says by how many rows the last settling moved the text in the document.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self.height = 0
        self.row = 0
        self.follow = True
        self.moved = 0
        self._scrolled = False
        self._top: RowAnchor | None = None
        self._top_row = 0
        self._seen: RowAnchor | None = None

    @property
    def end(self) -> int:
        """The last value that `row` can have."""
        return max(0, self._document.total - self.height)

    @property
    def unseen(self) -> int:
        """How many rows came below what has been visible."""
        if self._seen is None or self.follow:
            return 0
        return max(0, self._document.heights.total - self._row_of(self._seen))

    def top_index(self) -> int:
        """Return the index of the piece at the top."""
        return self._document.heights.find(self.row) if self._document.pieces else 0

    def settle(self) -> int:
        """Measure what is visible with the anchor where it was; return the row at the top."""
        return self._settle(self._alive(self._top) or self._anchor(self.row), 0)

    def scrolled(self, row: int) -> int:
        """Take a new row at the top, from the user; return the one that shows the same text."""
        self._scrolled = True
        step = row - self.row
        self.follow = row >= self.end and (self.follow or step > 0)
        anchor = self._alive(self._top) if abs(step) <= 2 * self.height else None
        if anchor is not None:
            return self._settle(anchor, -step)
        return self._settle(self._anchor(row), 0)

    def place_of(self, item: DrawnEntry) -> int:
        """Return how far below the top an item's own first row is; inside the window."""
        row = self._document.top(item) + item.head - self.row
        return max(0, min(row, self.height - 1))

    def hold(self, item: DrawnEntry, at: int) -> int:
        """Keep an item's first row where it was (see `place_of`) while its details come or go."""
        for piece in item.pieces[: self.height]:
            self._document.measure(piece)
        anchor = RowAnchor(item.pieces[0], item.head)
        self.follow = self._row_of(anchor) - at >= self.end
        return self._settle(anchor, at)

    def refit(self, column: Column) -> int:
        """Take another width; the row of the anchor moves with its piece's height."""
        document, anchor = self._document, self._alive(self._top)
        before = document.heights[document.index(anchor.piece)] if anchor is not None else 0
        document.fit(column)
        if anchor is not None:
            document.measure(anchor.piece)
            after = document.heights[document.index(anchor.piece)]
            if anchor.line and before:
                line = min(max(0, after - 1), anchor.line * after // before)
                self._top = anchor._replace(line=line)
        return self.settle()

    def reset(self) -> None:
        """Forget everything: another conversation."""
        self.row = 0
        self.follow = True
        self._scrolled = False
        self._top = self._seen = None

    def _settle(self, anchor: RowAnchor | None, at: int) -> int:
        """Measure what is visible when the anchor is `at` rows below the top."""
        document, heights = self._document, self._document.heights
        while True:
            wanted = self.end if self.follow or anchor is None else self._row_of(anchor) - at
            if self._is_start():
                wanted = 0
            row = max(0, min(self.end, wanted))
            first, last = heights.find(row), heights.find(row + max(0, self.height - 1))
            visible = document.pieces[first : last + 1]
            blind = [piece for piece in visible if not document.is_measured(piece)]
            if not blind:
                break
            for piece in reversed(blind) if self.follow else blind:
                document.measure(piece)
        top = self._alive(self._top)
        self.moved = self._row_of(top) - self._top_row if top is not None else 0
        self.row = self._top_row = row
        self._top = self._anchor(row)
        self._look()
        document.trim(first, last)
        return row

    def _is_start(self) -> bool:
        """Whether only the start of an empty session is there: that is read from its top.

        What the session was opened without may stand above it.
        """
        items = self._document.items
        if self._scrolled or not self.follow or not 0 < len(items) <= len(_START):
            return False
        return all(isinstance(item.entry, _START) for item in items.values())

    def _look(self) -> None:
        """Remember the last row that has been visible."""
        document = self._document
        if not document.pieces:
            self._seen = None
            return
        below = min(self.row + self.height, document.heights.total)
        seen = self._alive(self._seen)
        if seen is not None and not self.follow:
            below = max(below, min(self._row_of(seen), document.heights.total))
        last = document.pieces[document.heights.find(below - 1)]
        self._seen = RowAnchor(last, below - document.heights.offset(document.index(last)))

    def _alive(self, anchor: RowAnchor | None) -> RowAnchor | None:
        """Return an anchor unless its piece was taken out."""
        return anchor if anchor is not None and self._document.index(anchor.piece) >= 0 else None

    def _anchor(self, row: int) -> RowAnchor | None:
        found = self._document.place_at(min(row, max(0, self._document.heights.total - 1)))
        return RowAnchor(*found) if found is not None else None

    def _row_of(self, anchor: RowAnchor) -> int:
        index = self._document.index(anchor.piece)
        if index < 0:
            return self.row
        return self._document.heights.offset(index) + anchor.line


class EntryCursor:
    """Points at an entry (`item`), and says which row to scroll to when it moves."""

    def __init__(self, document: Document, pager: Pager) -> None:
        self._document = document
        self._pager = pager
        self.item: DrawnEntry | None = None

    def land(self) -> None:
        """Point at the last entry in sight when there is none yet."""
        if self.item is None and self._document.pieces:
            row = min(self._pager.row + self._pager.height, self._document.heights.total) - 1
            self.item = self._document.item_at(row)

    def check(self) -> None:
        """Let go of an entry that was taken out."""
        item = self.item
        if item is not None and self._document.items.get(item.entry.key) is not item:
            self.item = None

    def move(self, step: int) -> int:
        """Move to the next or previous entry; return the row that should be at the top.

        An entry that goes on beyond the window is scrolled first, by half a window.
        """
        pager = self._pager
        if self.item is None:
            self.land()
            return pager.row
        top, bottom = self._span(self.item)
        half = max(1, pager.height // 2)
        in_sight = top < pager.row + pager.height and bottom > pager.row
        if in_sight and step > 0 and bottom > pager.row + pager.height:
            return min(pager.row + half, bottom - pager.height)
        if in_sight and step < 0 and top < pager.row:
            return max(pager.row - half, top)
        found = self._document.neighbour(self.item, step)
        while found is not None and found.hidden:
            found = self._document.neighbour(found, step)
        self.item = found or self.item
        for piece in self.item.pieces[:2]:
            self._document.measure(piece)
        top, bottom = self._span(self.item)
        if top < pager.row:
            return top if bottom - top <= pager.height else max(top, bottom - pager.height)
        if bottom > pager.row + pager.height:
            return min(top, bottom - pager.height)
        return pager.row

    def _span(self, item: DrawnEntry) -> tuple[int, int]:
        """Return the rows of an item, its gap left out."""
        return self._document.top(item) + item.gap, self._document.bottom(item)
