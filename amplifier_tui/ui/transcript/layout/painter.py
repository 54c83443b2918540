"""Paints rows of the document: strips, the cursor's surface, the selection, the pill."""

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from amplifier_tui.ui.transcript.layout.selection import clamped, highlighted
from amplifier_tui.ui.transcript.text.palette import Palette


class Painter:
    """Turns rows into strips in the theme's colours, each once.

    Args:
        document: The rows.
        lookup: Gives the style of a component class.
    """

    def __init__(self, document: Document, lookup: Callable[[str], Style]) -> None:
        self._document = document
        self._lookup = lookup
        self._palette = Palette(lookup)
        self.width = 0

    def reset(self) -> None:
        """Forget colours and strips: the theme changed."""
        self._palette = Palette(self._lookup)
        self._document.repaint()

    def row(self, row: int, cursor: DrawnEntry | None) -> Strip:
        """Return a row of the document; blank outside it.

        Args:
            row: The row.
            cursor: The item that is shown as selected.
        """
        found = self._document.line_at(row)
        if found is None:
            return self.blank()
        piece, number = found
        lines = self._document.lines(piece)
        if number >= len(lines):
            return self.blank()
        strip = piece.strips.get(number)
        if strip is None:
            strip = piece.strips[number] = self._palette.strip(lines[number], self.width)
        if piece.item is cursor and (not piece.is_first or number >= piece.item.head):
            surface = self._palette.style("cursor")
            strip = highlighted(strip, 0, self.width, _without_colour(surface))
        return strip

    def blank(self) -> Strip:
        """Return an empty row."""
        return Strip.blank(self.width, self._palette.style("text"))

    def select(self, strip: Strip, row: int, selection: Selection, style: Style) -> Strip:
        """Return a row's strip with what is selected of it on the background of `style`."""
        span = selection.get_span(row)
        found = self._document.line_at(row)
        if span is None or found is None:
            return strip
        lines = self._document.lines(found[0])
        if found[1] >= len(lines):
            return strip
        start, end = clamped(lines[found[1]], *span)
        return highlighted(strip, start, end, Style(bgcolor=style.bgcolor))

    def pill(self, strip: Strip, text: str) -> Strip:
        """Return a strip with a pill near its right end."""
        style = self._palette.style("pill") + Style(meta={"pill": True})
        start = max(0, self.width - len(text) - 1)
        end = start + len(text)
        pill = Strip([Segment(text, style)], len(text))
        return Strip.join([strip.crop(0, start), pill, strip.crop(end, self.width)])


def _without_colour(style: Style) -> Style:
    return Style(bgcolor=style.bgcolor, reverse=style.reverse)
