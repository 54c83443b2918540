"""The entry cursor: which entry the keys are about, and how it moves."""

from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from amplifier_tui.ui.transcript.layout.pager import Pager


class Cursor:
    """Points at an entry, and says which row to scroll to when it moves.

    Attributes:
        item: The entry, or None.
    """

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
        self.item = self._document.neighbour(self.item, step) or self.item
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
