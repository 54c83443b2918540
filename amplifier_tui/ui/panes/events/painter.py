"""Draws the lines of the event log and remembers them while they stay the same."""

from textual.strip import Strip

from amplifier_tui.ui.panes.events.index import EventIndex, child_of, row_of
from amplifier_tui.ui.panes.events.rows import EventLayout, event_row, handler_row
from amplifier_tui.ui.state.instruments.event_ring import EventRing
from amplifier_tui.ui.widgets.styled import Palette, fit

EMPTY = "No events yet — they appear when a turn starts"

_STRIPS = 500


class EventPainter:
    """Turns lines of an index into strips.

    Args:
        palette: The styles of the widget that is painted.
    """

    def __init__(self, palette: Palette) -> None:
        self._palette = palette
        self._strips: dict[tuple[int, int, int | None], Strip] = {}
        self.columns = EventLayout(0)

    def clear(self) -> None:
        """Forget what was drawn: the lines, their columns or the colours have changed."""
        self._strips.clear()

    def line(self, index: EventIndex, position: int, width: int, cursor: int | None) -> Strip:
        """Return the line at a position of the index.

        Args:
            index: The lines.
            position: Which one.
            width: Cells of the strip.
            cursor: Ring index of the row the cursor is on, None when it is not shown.
        """
        line = index.lines[position]
        row = row_of(line)
        above = index.row_above(position) if self.columns.wide else None
        if row == cursor and not child_of(line):
            return self._draw(index.log, line, above, width, cursor=True)
        key = (line, index.log.count(row), above)
        strip = self._strips.get(key)
        if strip is None or strip.cell_length != width:
            if len(self._strips) >= _STRIPS:
                self._strips.clear()
            strip = self._strips[key] = self._draw(index.log, line, above, width, cursor=False)
        return strip

    def blank(self, index: EventIndex, y: int, width: int) -> Strip:
        """Return a line below the last event; in an empty list it says why it is empty."""
        room = max(1, self.columns.width)
        words: list[str] = []
        if not index.lines:
            if index.log.total and not index.wanted.empty:
                words = [fit("No event passes the filter", room)]
            else:
                words = _wrap(EMPTY, room)
        return self._palette.strip([(words[y] if y < len(words) else "", "muted")], width)

    def _draw(
        self, log: EventRing, line: int, above: int | None, width: int, *, cursor: bool
    ) -> Strip:
        index, child = row_of(line), child_of(line)
        row = log.get(index)
        if row is None:
            return self._palette.strip([("left memory, still on disk", "muted")], width)
        if child:
            return self._palette.strip(handler_row(row.handlers[child - 1], self.columns), width)
        before = log.get(above) if above is not None else None
        previous = before.at if before is not None else None
        pieces = event_row(row, log.count(index), self.columns, previous)
        return self._palette.strip(pieces, width, cursor=cursor)


def _wrap(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return [fit(line, width) for line in lines]
