"""A conversation in which words are looked for: what was found is marked, and gone through."""

from collections.abc import Callable, Iterable

from rich.style import Style
from textual.message import Message
from textual.strip import Strip

from amplifier_tui.ui.transcript.cursor_view import CursorView
from amplifier_tui.ui.transcript.layout.finder import Finder, FoundPlace
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from amplifier_tui.ui.transcript.ticker import Ticker
from amplifier_tui.ui.widgets.styled import highlighted

_PERIOD = 1 / 60
_SLICE = 0.004
"""Seconds of each frame that are spent on looking."""


class SearchedView(CursorView):
    """Marks what was found in the conversation, and shows one place after the other."""

    class Found(Message):
        """More was found, or another place is looked at."""

        def __init__(self, place: FoundPlace) -> None:
            super().__init__()
            self.place = place

    def __init__(self, home: str, clock: Callable[[], float]) -> None:
        super().__init__(home, clock)
        self._finder = Finder(self._document)
        self._search_ticker = Ticker(self, _PERIOD, self._search)
        self._top_before = 0
        self._arrived = False

    def find(self, words: str) -> None:
        """Look for words as they are typed: the first place from here on is shown."""
        if not self._finder.active:
            self._top_before = self._pager.row
        self._finder.search(words, self._first_piece())
        self._arrived = False
        if self._search():
            self._search_ticker.start()
        self.refresh()

    def find_step(self, direction: int) -> None:
        """Show the next (1) or previous (-1) place."""
        if self._finder.step(direction, self._pager.top_index()):
            self._arrived = True
            self._show_found()
        self._tell()

    def end_find(self) -> None:
        """Take the marks away; what is shown stays."""
        self._finder.end()
        self.refresh()

    def look_again(self, keys: Iterable[str]) -> None:
        """Look into entries that came or changed."""
        if self._finder.active:
            self._finder.look_again(keys)
            self._search_ticker.start()

    def unfold(self, item: DrawnEntry, *, whole: bool = False) -> None:
        """Show the details of an item, of a long output the `whole`."""
        raise NotImplementedError

    def lay_out(self) -> None:
        """Take the new size; the place looked at stays in sight."""
        row = self._found_row()
        seen = row is not None and (not self._pager.height or self._is_in_sight(row))
        super().lay_out()
        if seen and (row := self._found_row()) is not None:
            self._bring_in_sight(row)

    def _search(self) -> bool:
        more = self._finder.slice(_SLICE)
        # Entries are looked at from there on: what is found first is the nearest.
        if not self._arrived and self._finder.step(1, self._first_piece()):
            self._arrived = True
            self._show_found()
        self._tell()
        return more

    def _first_piece(self) -> int:
        """Return the piece that was at the top of the screen when the search began."""
        return self._document.heights.find(self._top_before) if self._document.pieces else 0

    def _tell(self) -> None:
        self.post_message(self.Found(self._finder.place))

    def _show_found(self) -> None:
        item = self._finder.here
        if item is None or not self._width:
            return
        self._document.reveal(item)
        self._finder.settle()
        if self.keeps_back(item) and self._finder.hides():
            self.unfold(item, whole=True)
        self._point_at(item)
        top = self._found_row()
        self._bring_in_sight(self._document.top(item) + item.head if top is None else top)
        self.refresh()

    def _found_row(self) -> int | None:
        """Return the row of the place that is looked at; None when it is on none."""
        at = self._finder.settle() if self._finder.here is not None and self._width else None
        if at is None:
            return None
        piece, number = at
        return self._document.heights.offset(self._document.index(piece)) + number

    def _is_in_sight(self, row: int) -> bool:
        return self._pager.row <= row < self._pager.row + self._pager.height

    def _bring_in_sight(self, row: int) -> None:
        if not self._is_in_sight(row):
            self._place(self._pager.scrolled(max(0, row - self._pager.height // 3)))

    def with_marks(self, strip: Strip, row: int) -> Strip:
        """Return a row with what was found on it marked."""
        place = self._document.place_at(row) if self._finder.active else None
        if place is not None:
            piece, number = place
            for mark in self._finder.marks(piece).get(number, ()):
                here = self._finder.is_here(piece, mark)
                style = self.palette.style("found-here" if here else "found")
                ground = Style(
                    color=style.color,
                    bgcolor=style.bgcolor,
                    reverse=style.reverse,
                    # Where there are no colours, only the line below tells the one looked at.
                    bold=style.bold or None,
                    underline=style.underline or None,
                )
                strip = highlighted(strip, mark.start, mark.end, ground)
        return strip
