"""Which lines the event log shows: positions in the ring, after the filter."""

from bisect import bisect_left

from amplifier_tui.host.events.filtering import EventFilter
from amplifier_tui.ui.panes.events.rows import spoke
from amplifier_tui.ui.state.instruments.event_ring import EventRing

_SHIFT = 4
_CHILD_MASK = (1 << _SHIFT) - 1


def line_of(index: int, child: int = 0) -> int:
    """Return the code of a line: a row of the ring, or its child line number `child`."""
    return index << _SHIFT | child


def row_of(line: int) -> int:
    """Return the ring index a line belongs to."""
    return line >> _SHIFT


def child_of(line: int) -> int:
    """Return the number of a child line (from 1) among its row's handlers; 0 for the row."""
    return line & _CHILD_MASK


class EventIndex:
    """The visible lines as integers in ascending order, so that a place is found by bisection.

    With `children`, handlers that spoke have a line of their own.
    """

    def __init__(self, log: EventRing, wanted: EventFilter, *, children: bool) -> None:
        self.log = log
        self.wanted = wanted
        self.children = children
        self.lines: list[int] = []
        self.rows = 0
        """Rows that passed the filter and are still held."""
        self.next = log.first
        """First row that was not looked at yet."""

    @property
    def behind(self) -> int:
        """How many rows of the ring were not looked at yet."""
        return self.log.end - max(self.next, self.log.first)

    def ingest(self, limit: int) -> int:
        """Look at up to `limit` new rows; returns how many there were."""
        start = max(self.next, self.log.first)
        stop = min(self.log.end, start + limit)
        if stop <= start:
            self.next = max(self.next, start)
            return 0
        if self.wanted.empty and not self.children:
            self.lines.extend(range(line_of(start), line_of(stop), 1 << _SHIFT))
            self.rows += stop - start
        else:
            self._examine(start, stop)
        self.next = stop
        return stop - start

    def trim(self) -> int:
        """Drop the lines of rows that left the ring; returns how many lines."""
        if not self.lines or row_of(self.lines[0]) >= self.log.first:
            return 0
        drop = bisect_left(self.lines, line_of(self.log.first))
        self.rows -= sum(1 for line in self.lines[:drop] if not line & _CHILD_MASK)
        del self.lines[:drop]
        return drop

    def place_of(self, index: int) -> int:
        """Return the position of a row's line, or of the next one when it is not shown."""
        return bisect_left(self.lines, line_of(index))

    def shows(self, index: int) -> bool:
        """Tell whether a row has a line."""
        return self.lines[(place := self.place_of(index)) : place + 1] == [line_of(index)]

    def row_above(self, position: int) -> int | None:
        """Return the ring index of the row shown before the one at `position`."""
        own = row_of(self.lines[position])
        while position > 0:
            position -= 1
            index = row_of(self.lines[position])
            if index != own:
                return index
        return None

    def _examine(self, start: int, stop: int) -> None:
        matches = None if self.wanted.empty else self.wanted.matches
        append = self.lines.append
        children = self.children
        rows = 0
        for index, row in self.log.slice(start, stop):
            if matches is not None and not matches(row):
                continue
            rows += 1
            append(index << _SHIFT)
            if children and row.handlers:
                for number, handler in enumerate(row.handlers[:_CHILD_MASK], start=1):
                    if spoke(handler):
                        append(index << _SHIFT | number)
        self.rows += rows
