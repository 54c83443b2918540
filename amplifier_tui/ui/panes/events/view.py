"""The scrolling part of the event log: draws the visible lines, straight from the ring."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, work
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from amplifier_tui.ui.panes.events.index import EventIndex, child_of, row_of
from amplifier_tui.ui.panes.events.painter import EventPainter
from amplifier_tui.ui.panes.events.rows import EventLayout, event_row
from amplifier_tui.ui.state.instruments.event_filter import EventFilter, parse_filter
from amplifier_tui.ui.state.instruments.event_ring import EventRing
from amplifier_tui.ui.widgets.messages import CopyRequested, InspectRequested
from amplifier_tui.ui.widgets.styled import MARGIN, PAINT_CLASSES, PAINT_CSS, SCROLL_CSS, Palette

PERIOD = 1 / 8
"""Seconds between two repaints at least."""

_SLICE = 1_000
_SLICE_SECONDS = 0.003
_BATCH = 4_000
"""New rows looked at per repaint; a backlog is worked off over several."""


class EventLogView(ScrollView, can_focus=True):
    """Line-API list over the ring; see `EventLogPane` for the keys.

    Args:
        clock: Monotonic seconds, for the repaint limit.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES = PAINT_CLASSES
    DEFAULT_CSS = f"""
    EventLogView {{
        height: 1fr;
        background: $surface;
        color: $foreground;
        {SCROLL_CSS}
        {PAINT_CSS}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Down", show=False, id="events.down"),
        Binding("k,up", "move(-1)", "Up", show=False, id="events.up"),
        Binding("g,home", "first", "Oldest", show=False, id="events.first"),
        Binding("G,end", "last", "Newest", show=False, id="events.last"),
        Binding("f", "follow", "Follow", id="events.follow"),
        Binding("p", "pause", "Pause", id="events.pause"),
        Binding("enter", "inspect", "Inspect", id="events.inspect"),
        Binding("y", "copy", "Copy", id="events.copy"),
    ]

    @dataclass
    class Changed(Message):
        """What the head line says may have changed."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._palette = Palette(self)
        self._painter = EventPainter(self._palette)
        self._log = EventRing()
        self._seen = -1
        self._wanted = parse_filter("")
        self._index = EventIndex(self._log, self._wanted, children=True)
        self._timer: Timer | None = None
        self._painted = float("-inf")
        self._cursor: int | None = None
        self._total_at_pause = 0
        self.following = True
        self.paused = False
        self.filtering = False
        """A new filter is being worked out; the lines are still those of the old one."""

    # --- what the head line says -----------------------------------------------------------

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
    def waiting(self) -> int:
        """Events that came during the pause."""
        return self._log.total - self._total_at_pause if self.paused else 0

    @property
    def behind(self) -> int:
        """Rows of the ring that were not looked at yet."""
        return self._index.behind

    @property
    def cursor_seq(self) -> int | None:
        """Position in the session's log of the event under the cursor."""
        row = self._log.get(self._cursor) if self._cursor is not None else None
        return row.seq if row is not None else None

    # --- new rows --------------------------------------------------------------------------

    def show(self, log: EventRing) -> None:
        """Show what is new in the ring, now or as soon as the repaint limit allows."""
        if log is not self._log:
            self._log = log
            self._seen = -1
            self._cursor = None
            self._reset()
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
        if wait <= 0:
            self._flush()
        else:
            self._timer = self.set_timer(wait, self._flush)

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
            self._schedule()

    def _show_lines(self) -> None:
        dropped = self._index.trim()
        self.virtual_size = Size(self._painter.columns.width, max(1, len(self._index.lines)))
        if self.following:
            self.scroll_end(animate=False, immediate=True, force=True, x_axis=False)
        elif dropped:
            place = max(0, self.scroll_offset.y - dropped)
            self.scroll_to(y=place, animate=False, force=True, immediate=True)
        self.refresh()
        self.post_message(self.Changed())

    def _relayout(self) -> None:
        """Take the width and the lanes into account; the lines may change with them."""
        columns = EventLayout(
            self.scrollable_content_region.width - MARGIN, len(self._log.lanes) > 1
        )
        if columns != self._painter.columns:
            turned = columns.wide != self._painter.columns.wide
            self._painter.columns = columns
            self._painter.clear()
            if turned:
                self._rebuild()

    def _reset(self) -> None:
        self._painter.clear()
        self._index = EventIndex(self._log, self._wanted, children=not self._painter.columns.wide)

    def _rebuild(self) -> None:
        """Choose the lines anew. While that lasts the old ones stay on screen."""
        end = self._index.next if self.paused else None
        fresh = EventIndex(self._log, self._wanted, children=not self._painter.columns.wide)
        if not self.is_mounted:
            self._index = fresh
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
        self._index = fresh
        self._painter.clear()
        self.filtering = False
        self._show_lines()
        if not self.following and top:
            place = fresh.place_of(row_of(top[0]))
            self.scroll_to(y=place, animate=False, force=True, immediate=True)
        if not self.paused and fresh.behind:
            self._schedule()

    # --- drawing ---------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """Draw one line of the viewport."""
        width = self.size.width
        position = y + self.scroll_offset.y
        if position >= len(self._index.lines):
            return self._painter.blank(self._index, y, width)
        cursor = self._cursor if self.has_focus else None
        return self._painter.line(self._index, position, width, cursor)

    def notify_style_update(self) -> None:
        """Take the colours of a new theme."""
        super().notify_style_update()
        self._palette.clear()
        self._painter.clear()

    def on_mount(self) -> None:
        """Show what came before there was a screen."""
        self._schedule()

    def on_resize(self) -> None:
        """Lay the columns out for the new width."""
        self._relayout()
        self._show_lines()

    # --- keys and mouse --------------------------------------------------------------------

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow while the end is in view, stop when the user scrolls away from it."""
        super().watch_scroll_y(old_value, new_value)
        at_end = round(new_value) >= self.max_scroll_y
        if at_end != self.following and round(old_value) != round(new_value):
            self.following = at_end
            self.post_message(self.Changed())

    def on_focus(self) -> None:
        """Show the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on an event; a click on the cursor opens the inspector."""
        position = event.y + self.scroll_offset.y
        if 0 <= position < len(self._index.lines):
            index = row_of(self._index.lines[position])
            if index == self._cursor:
                self.action_inspect()
            self._put_cursor(index)

    def action_move(self, by: int) -> None:
        """Move the cursor by events."""
        lines = self._index.lines
        if not lines:
            return
        if self.cursor_seq is None or self._cursor is None:
            bottom = min(len(lines), self.scroll_offset.y + self.size.height) - 1
            self._put_cursor(row_of(lines[max(0, bottom)]))
            return
        place = self._index.place_of(self._cursor)
        step = 1 if by > 0 else -1
        place += step
        while 0 <= place < len(lines) and child_of(lines[place]):
            place += step
        if 0 <= place < len(lines):
            self._put_cursor(row_of(lines[place]))

    def action_first(self) -> None:
        """Go to the oldest event."""
        if self._index.lines:
            self._put_cursor(row_of(self._index.lines[0]))

    def action_last(self) -> None:
        """Go to the newest event and follow."""
        if self._index.lines:
            self._put_cursor(row_of(self._index.lines[-1]))
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
        seq = self.cursor_seq
        if seq is not None:
            self.post_message(InspectRequested(seq))

    def action_copy(self) -> None:
        """Ask for a copy of the event's payload, or of its line when that left memory."""
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

    def _put_cursor(self, index: int) -> None:
        self._cursor = index
        place = self._index.place_of(index)
        height = max(1, self.size.height)
        top = self.scroll_offset.y
        if not top <= place < top + height:
            target = place if place < top else place - height + 1
            self.scroll_to(y=target, animate=False, force=True, immediate=True)
        # Reading an event is a wish that it stays where it is.
        if index != row_of(self._index.lines[-1]):
            self.following = False
        self.refresh()
        self.post_message(self.Changed())
