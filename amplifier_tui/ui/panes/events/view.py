"""The scrolling part of the event log: draws the visible lines, straight from the ring."""

import asyncio
import time
from collections.abc import Callable
from typing import ClassVar

from textual import events, work
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events.filtering import EventFilter, parse_filter
from amplifier_tui.ui.panes.events.index import EventIndex, child_of, line_of, row_of
from amplifier_tui.ui.panes.events.rows import EventLayout, empty_words, event_row, handler_row
from amplifier_tui.ui.state.instruments.event_ring import EventRing
from amplifier_tui.ui.widgets.line_view import LineView, cursor_bindings
from amplifier_tui.ui.widgets.messages import (
    CopyRequested,
    ExportRequested,
    InspectRequested,
    MomentRequested,
)

PERIOD = 1 / 8
"""Seconds between two repaints at least."""

_SLICE = 1_000
_SLICE_SECONDS = 0.003
_STRIPS = 500
_BATCH = 1_500
_BREATH = 0.01
"""New rows looked at in one go, and the seconds until the next ones of a backlog."""


class EventLogView(LineView[int]):
    """The lines, as codes of `EventIndex`, drawn straight from the ring."""

    DEFAULT_CSS = "EventLogView { height: 1fr; }"
    CHANGES = frozenset(("export",))
    BINDINGS: ClassVar[list[BindingType]] = [
        *cursor_bindings("events", first="Oldest", last="Newest"),
        Binding("f", "follow", "Follow", id="events.follow"),
        Binding("p", "pause", "Pause", id="events.pause"),
        Binding("enter", "inspect", "Inspect", id="events.inspect"),
        Binding("y", "copy", "Copy", id="events.copy"),
        Binding("s", "moment", "Show it in the conversation", id="events.moment"),
        Binding("t", "moment(True)", "Modules and context of that moment", id="events.past"),
        Binding("x", "export", "Write these events to a file", id="events.export"),
    ]

    @dataclass
    class Changed(Message):
        """What the head line says may have changed."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._columns = EventLayout(0)
        self._strips: dict[tuple[int, int, int | None], Strip] = {}
        self._log = EventRing()
        self._seen = -1
        self._wanted = parse_filter("")
        self._show_index(EventIndex(self._log, self._wanted, children=True))
        self._timer: Timer | None = None
        self._painted = float("-inf")
        self._cursor: int | None = None
        self._total_at_pause = 0
        self.following = True
        self.paused = False
        self.filtering = False
        """A new filter is being worked out; the lines are still those of the old one."""

    @property
    def filter(self) -> EventFilter:
        """The filter that the lines were chosen with."""
        return self._index.wanted

    @property
    def matched(self) -> int:
        """Rows that are shown."""
        return self._index.rows

    @property
    def total(self) -> int:
        """Events seen so far, or until the pause."""
        return self._total_at_pause if self.paused else self._log.total

    @property
    def older(self) -> int:
        """Events of the session's log that came before those."""
        return self._log.older

    @property
    def waiting(self) -> int:
        """Events that came during the pause."""
        return self._log.total - self._total_at_pause if self.paused else 0

    @property
    def behind(self) -> int:
        """Rows of the ring that were not looked at yet."""
        return self._index.behind

    @property
    def cursor_seq(self) -> int | None:
        """Position in the session's log of the event under the cursor, if the filter shows it."""
        if self._cursor is None or not self._index.shows(self._cursor):
            return None
        row = self._log.get(self._cursor)
        return row.seq if row is not None else None

    def show(self, log: EventRing) -> None:
        """Show what is new in the ring, now or as soon as the repaint limit allows."""
        if log is not self._log:
            self._log = log
            self._seen = -1
            self._cursor = None
            self._strips.clear()
            self._show_index(EventIndex(log, self._wanted, children=not self._columns.wide))
        if log.version == self._seen:
            return
        self._seen = log.version
        if self.paused and log.total < self._total_at_pause:
            # Another session began; what was held is gone.
            self.paused = False
        if not self.paused:
            self._schedule()
        elif self._timer is None:
            # Only the head's number moves; not more often than the lines would.
            self._timer = self.set_timer(PERIOD, self._tell)

    def set_filter(self, text: str) -> None:
        """Show only what passes a filter. The ring is searched in slices between keys."""
        self._wanted = parse_filter(text)
        self._rebuild()

    def _schedule(self) -> None:
        if self._timer is not None or not self.is_mounted:
            return
        wait = self._painted + PERIOD - self._clock()
        if wait > 0:
            self._timer = self.set_timer(wait, self._flush)
        else:
            self._flush()

    def _tell(self) -> None:
        self._timer = None
        self.post_message(self.Changed())

    def _flush(self) -> None:
        self._timer = None
        self._painted = self._clock()
        if not self.paused:
            self._relayout()
            self._index.ingest(_BATCH)
        self._show_lines()
        if not self.paused and self._index.behind:
            self._timer = self.set_timer(_BREATH, self._catch_up)

    def _catch_up(self) -> None:
        """Look at more of a backlog, without a repaint before its time."""
        self._timer = None
        if not self.paused and self._index.ingest(_BATCH) and self._index.behind:
            self._timer = self.set_timer(_BREATH, self._catch_up)
        else:
            self._schedule()

    def _show_lines(self) -> None:
        dropped = self._index.trim()
        if self.pressed_row is not None:
            self.pressed_row = max(0, self.pressed_row - dropped)
        self.grow(Size(self._columns.width, max(1, len(self._index.lines))))
        if self.following:
            self.scroll_end(animate=False, immediate=True, force=True, x_axis=False)
        elif dropped:
            place = max(0, self.scroll_offset.y - dropped)
            self.scroll_to(y=place, animate=False, force=True, immediate=True)
        self.refresh()
        self.post_message(self.Changed())

    def _relayout(self) -> None:
        """Take the width and the lanes into account; the lines may change with them."""
        columns = EventLayout(self.content_width(), len(self._log.lanes) > 1)
        if columns != self._columns:
            turned = columns.wide != self._columns.wide
            self._columns = columns
            self._strips.clear()
            if turned:
                self._rebuild()

    def _show_index(self, index: EventIndex) -> None:
        self._index = index
        self.rows = index.lines

    def _rebuild(self) -> None:
        """Choose the lines anew. While that lasts the old ones stay on screen."""
        end = self._index.next if self.paused else None
        fresh = EventIndex(self._log, self._wanted, children=not self._columns.wide)
        if not self.is_mounted:
            self._show_index(fresh)
            return
        self.filtering = True
        self._fill(fresh, end)

    @work(exclusive=True, group="events-filter")
    async def _fill(self, fresh: EventIndex, end: int | None) -> None:
        began = time.perf_counter()
        while end is None or fresh.next < end:
            limit = _SLICE if end is None else min(_SLICE, end - fresh.next)
            if not fresh.ingest(limit):
                break
            if time.perf_counter() - began > _SLICE_SECONDS:
                await asyncio.sleep(0)
                began = time.perf_counter()
        if fresh.log is not self._log:
            return
        top = self._index.lines[self.scroll_offset.y :][:1]
        self._show_index(fresh)
        self._strips.clear()
        self.filtering = False
        self._show_lines()
        if not self.following and top:
            place = fresh.place_of(row_of(top[0]))
            self.scroll_to(y=place, animate=False, force=True, immediate=True)
        if not self.paused and fresh.behind:
            self._schedule()

    def _draw_row(self, row: int, width: int) -> Strip:
        line = self._index.lines[row]
        index = row_of(line)
        if row == self.scroll_offset.y and child_of(line):
            # The first row on screen names the event whose handlers follow.
            line = line_of(index)
        above = self._index.row_above(row) if self._columns.wide else None
        if index == self._cursor and self.has_focus and not child_of(line):
            return self._draw(line, above, width, cursor=True)
        key = (line, self._index.log.count(index), above)
        strip = self._strips.get(key)
        if strip is None or strip.cell_length != width:
            if len(self._strips) >= _STRIPS:
                self._strips.clear()
            strip = self._strips[key] = self._draw(line, above, width)
        return strip

    def _draw(self, line: int, above: int | None, width: int, *, cursor: bool = False) -> Strip:
        index, child = row_of(line), child_of(line)
        row = self._index.log.get(index)
        if row is None:
            return self.palette.strip([("left memory, still on disk", "muted")], width)
        if child:
            return self.palette.strip(handler_row(row.handlers[child - 1], self._columns), width)
        before = self._index.log.get(above) if above is not None else None
        previous = before.at if before is not None else None
        pieces = event_row(row, self._index.log.count(index), self._columns, previous)
        return self.palette.strip(pieces, width, cursor=cursor)

    def _draw_below(self, row: int, width: int) -> Strip:
        words: list[str] = []
        if not self._index.lines:
            filtered = bool(self._log.total) and not self._index.wanted.empty
            words = empty_words(max(1, self._columns.width), filtered=filtered)
        return self.palette.strip([(words[row] if row < len(words) else "", "muted")], width)

    def notify_style_update(self) -> None:
        """Take the colours of a new theme."""
        super().notify_style_update()
        self._strips.clear()

    def on_mount(self) -> None:
        """Show what came before there was a screen."""
        self._schedule()

    def lay_out(self) -> None:
        """Lay the columns out for the width."""
        self._relayout()
        self._show_lines()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow while the end is in view, stop when the user scrolls away from it."""
        super().watch_scroll_y(old_value, new_value)
        at_end = round(new_value) >= self.max_scroll_y
        if at_end != self.following and round(old_value) != round(new_value):
            self.following = at_end
            self.post_message(self.Changed())

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on an event; a click on the cursor opens the inspector."""
        row = self.clicked_row()
        if row is not None:
            if row_of(self.rows[row]) == self._cursor:
                self.action_inspect()
            self.put_cursor(row)

    def _stops_at(self, row: int) -> bool:
        return not child_of(row)

    def put_cursor(self, row: int) -> None:
        """Put the cursor on an event."""
        self._cursor = row_of(self.rows[row])
        self.cursor_row = self._index.place_of(self._cursor)
        self.show_rows(self.cursor_row)
        # Reading an event is a wish that it stays where it is.
        if self._cursor != row_of(self.rows[-1]):
            self.following = False
        self.refresh()
        self.post_message(self.Changed())

    def action_move(self, by: int) -> None:
        """Move the cursor by events; it begins at the last one in sight."""
        if not self.rows:
            return
        if self.cursor_seq is None or self._cursor is None:
            self._begin()
            return
        self.cursor_row = self._index.place_of(self._cursor)
        super().action_move(by)

    def _begin(self) -> None:
        """Put the cursor on the last event in sight."""
        self.put_cursor(min(len(self.rows), self.scroll_offset.y + self.size.height) - 1)

    def _chosen(self) -> int | None:
        """Return what a key is about: the event under the cursor, which is put down when it is not.

        A pane that follows shows no cursor at first, and names its keys.
        """
        if self.cursor_seq is None and self.rows:
            self._begin()
        return self.cursor_seq

    def action_move_to(self, place: int) -> None:
        """Go to the oldest (0) or newest (-1) event; the newest one is followed."""
        super().action_move_to(place)
        if place < 0:
            self._set_following(True)

    def action_follow(self) -> None:
        """Follow the newest event, or stop following."""
        self._set_following(not self.following)

    def action_pause(self) -> None:
        """Hold the display while events are collected, or show what was collected."""
        self._total_at_pause = self._log.total
        self.paused = not self.paused
        if self.paused:
            self.post_message(self.Changed())
        else:
            self._flush()

    def action_inspect(self) -> None:
        """Ask for the inspector."""
        if (seq := self._chosen()) is not None:
            self.post_message(InspectRequested(seq))

    def action_moment(self, past: bool = False) -> None:
        """Go to the moment of the event under the cursor."""
        if (seq := self._chosen()) is not None:
            self.post_message(MomentRequested(seq, past))

    def action_export(self) -> None:
        """Write the events that pass the filter to a file."""
        self.post_message(ExportRequested(events=self.filter.text))

    def go_to(self, index: int) -> None:
        """Put the cursor on a row of the ring, or where it would be."""
        if self.rows:
            self.put_cursor(min(self._index.place_of(index), len(self.rows) - 1))

    def action_copy(self) -> None:
        """Ask for a copy of the event's payload, or of its line when that left memory."""
        self._chosen()
        row = self._log.get(self._cursor) if self._cursor is not None else None
        if row is None or self._cursor is None:
            return
        if row.data:
            self.post_message(CopyRequested(row.data, "payload"))
            return
        pieces = event_row(row, self._log.count(self._cursor), EventLayout(200), None)
        self.post_message(CopyRequested("".join(text for text, _ in pieces).rstrip(), "event"))

    def _set_following(self, following: bool) -> None:
        self.following = following
        if following:
            self.scroll_end(animate=False, immediate=True, force=True, x_axis=False)
        self.post_message(self.Changed())
