"""The conversation as one line-API widget: no child widgets, O(visible) whatever its length."""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.app.pace import stream_period
from amplifier_tui.ui.state.conversation.entries import (
    OFFERS,
    ConversationEntry,
    EntryChange,
    ErrorEntry,
    LaneEntry,
    ReportEntry,
    ToolEntry,
    UserEntry,
)
from amplifier_tui.ui.transcript.arriving import Arrivals
from amplifier_tui.ui.transcript.document_view import DocumentView
from amplifier_tui.ui.transcript.entries import cards
from amplifier_tui.ui.transcript.entries.colours import paint
from amplifier_tui.ui.transcript.entries.renderer import is_expandable, name_of, plain_text
from amplifier_tui.ui.transcript.entries.scene import WayTo
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from amplifier_tui.ui.transcript.layout.pager import EntryCursor
from amplifier_tui.ui.widgets.messages import (
    ActionWanted,
    CopyRequested,
    EntryActivated,
    EventsRequested,
    ExportRequested,
    ForkRequested,
    LinkClicked,
    RetryRequested,
    RewindRequested,
)

_PULSE_PERIOD = 1 / 4
_MEASURE_PERIOD = 1 / 20
_MEASURE_SLICE = 0.004
_WITHOUT = "After a failure of a context source: without it"
_REWIND = "Before the turn; after a failure, try again"
_FORK = "On a prompt: what came before it, in a new session, and it in the draft"


class Ticker:
    """Calls a job every `period` seconds until the job says (False) that it is done."""

    def __init__(self, widget: Widget, period: float, job: Callable[[], bool]) -> None:
        self._widget = widget
        self._period = period
        self._job = job
        self._timer: Timer | None = None

    @property
    def running(self) -> bool:
        """Whether the timer exists."""
        return self._timer is not None

    def start(self) -> None:
        """Begin to tick, unless it does already."""
        if self._timer is None:
            self._timer = self._widget.set_interval(self._period, self._tick)

    def _tick(self) -> None:
        if self._timer is not None and not self._job():
            self._timer.stop()
            self._timer = None


class TranscriptView(DocumentView, can_focus=True):
    """Draws the entries of a conversation and streams text into the last of them.

    Call `apply` with what changed. Text is data: nothing in it is parsed as markup, and control
    sequences are gone before it is drawn. `clock` is that of the entries' `started`, in seconds,
    `home` the lane whose conversation it is.
    """

    ALLOW_MAXIMIZE = True
    FOCUS_ON_CLICK = False  # a click must not take the keyboard away from the prompt
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Next", show=False, id="transcript.next"),
        Binding("k,up", "move(-1)", "Previous", show=False, id="transcript.previous"),
        Binding("g,home", "top", "First", show=False, id="transcript.first"),
        Binding("G,end", "end", "Newest", show=False, id="transcript.newest"),
        Binding("enter,space", "open", "Details", id="transcript.open", tooltip="Show details"),
        Binding("y", "copy", "Copy", id="transcript.copy", tooltip="Copy this entry"),
        Binding("r", "rewind", "Go back", id="transcript.retry", tooltip=_REWIND),
        Binding("w", "retry_without", "Go on without", id="transcript.without", tooltip=_WITHOUT),
        Binding("v", "events", "Its events", id="transcript.events"),
        Binding("o", "agent", "The agent's own conversation", id="transcript.agent"),
        Binding("d", "diff", "Its change in full", id="transcript.diff"),
        Binding("f", "fork", "Fork before this", id="transcript.fork", tooltip=_FORK),
        Binding("e", "export", "Export from here", id="transcript.export"),
    ]

    def __init__(self, *, clock: Callable[[], float] = time.time, home: str = MAIN_LANE) -> None:
        super().__init__(home)
        self._clock = clock
        self._arrivals = Arrivals(self._document, clock)
        self._cursor = EntryCursor(self._document, self._pager)
        self._drawn_at = 0.0
        self._painting = False
        self._period = stream_period()
        self._flush_ticker = Ticker(self, self._period, self._flush)
        self._pulse_ticker = Ticker(self, _PULSE_PERIOD, self._beat)
        self._measure_ticker = Ticker(self, _MEASURE_PERIOD, self._measure)

    def apply(self, changes: Iterable[EntryChange], *, at_once: bool = True) -> None:
        """Take what happened to the entries, in order.

        Args:
            at_once: Draw text that streams now, if the frame before is long enough ago; else with
                the next frame.
        """
        changes = list(changes)
        if not at_once:
            self._drawn_at = time.perf_counter()
        self._document.renderer.now = self._clock()
        if self._arrivals.apply(changes):
            if any(change.op == "clear" for change in changes):
                self._pager.reset()
                self._deselect()
            self._cursor.check()
            self._settle()
            if self.has_focus and self._cursor.item is None:
                self._cursor.land()
                self._point_at(self._cursor.item)
            self.refresh()
        self._start_timers()

    def use_keys(self, keys: WayTo) -> None:
        """Name these keys where an entry tells of one."""
        self._document.renderer.keys = keys
        for item in self._document.items.values():
            if isinstance(item.entry, OFFERS):
                self._document.redraw(item)
        self._settle()
        self.refresh()

    @property
    def is_streaming(self) -> bool:
        """Whether text is arriving or waits to be drawn."""
        return self._arrivals.active

    @property
    def cursor(self) -> ConversationEntry | None:
        """The entry that the keys are about."""
        item = self._cursor.item
        return item.entry if item is not None else None

    def toggle(self, key: str) -> None:
        """Show or hide the details of an entry."""
        item = self._document.items.get(key)
        if item is not None and is_expandable(item):
            place = self._pager.place_of(item)
            self._arrivals.open(item, not item.expanded)
            if self._width:
                self._place(self._pager.hold(item, place))
            self.refresh()
            self._start_timers()

    def toggle_all(self) -> None:
        """Show the details of all entries or, when all show them already, hide them."""
        items = [item for item in self._document.items.values() if is_expandable(item)]
        opened = not all(item.expanded for item in items)
        for item in items:
            self._arrivals.open(item, opened)
        self._settle()
        self.refresh()
        self._start_timers()

    def fitted(self) -> None:
        """Begin to keep time: there is a size, and heights to measure."""
        self._start_timers()

    def _start_timers(self) -> None:
        """Keep time while something runs, streams or is not measured; never otherwise."""
        if not self.is_attached:
            return
        if self._arrivals.waiting and not self._flush_ticker.running:
            # Whoever brings text keeps the time; the ticker draws what is too much for a frame.
            early = time.perf_counter() - self._drawn_at < self._period / 2
            if early or self._flush():
                self._flush_ticker.start()
        if self._document.renderer.running:
            self._pulse_ticker.start()
        if self._width:
            self._measure_ticker.start()

    def _flush(self) -> bool:
        """Draw the text that arrived, and repaint from the first row that changed."""
        began = time.perf_counter()
        touched = self._arrivals.flush()
        if not touched:
            return self._arrivals.waiting
        self._drawn_at = began
        document, row = self._document, self._pager.row
        first = min(document.heights.offset(document.index(piece)) for piece in touched)
        for piece in touched:
            pieces = piece.item.pieces
            for tail in pieces[pieces.index(piece) :]:
                document.measure(tail)
        self._settle()
        if self._pager.row == row:
            below = row + self._pager.height
            first = max(first, row)
            if first < below:
                self.refresh_lines(first, below - first)
        self._arrivals.spent(time.perf_counter() - began)
        return self._arrivals.waiting

    def _beat(self) -> bool:
        """Repaint the lines whose time runs."""
        renderer = self._document.renderer
        renderer.spin(still=self.app.animation_level == "none")
        for item in renderer.running:
            self._refresh_head(item)
        return bool(renderer.running)

    def _measure(self) -> bool:
        """Measure rows nobody has looked at, so that the scrollbar tells the truth."""
        if self._arrivals.active:
            return True
        if self._document.renderer.colours.wanted and not self._painting:
            self._painting = True
            self.run_worker(self._paint())
        more = self._document.measure_slice(_MEASURE_SLICE, self._pager.top_index())
        self._settle()
        return more

    async def _paint(self) -> None:
        """Colour the code that is shown, in a thread, and draw it again."""
        colours = self._document.renderer.colours
        wanted, colours.wanted = colours.wanted, {}
        try:
            colours.keep(await asyncio.to_thread(paint, tuple(wanted)))
        finally:
            self._painting = False
        for item in set(wanted.values()):
            if self._document.items.get(item.entry.key) is item:
                self._document.redraw(item)
        self._settle()
        self.refresh()
        self._start_timers()

    def _refresh_head(self, item: DrawnEntry) -> None:
        """Repaint the row of an item that changes with time and cursor, if it did."""
        piece, number = item.pieces[0], item.head
        if piece.lines is None or number >= len(piece.lines):
            return
        self._document.renderer.now = self._clock()
        line = self._document.renderer.head_line(item)
        if line is not None and line != piece.lines[number]:
            piece.lines[number] = line
            piece.strips.pop(number, None)
            self.refresh_line(self._document.top(item) + number)

    def on_click(self, event: events.Click) -> None:
        """Follow a link, open details, or select a word or a row."""
        event.prevent_default()  # a double click on the base class selects everything
        meta = event.style.meta
        row = self.scroll_offset.y + event.y
        item = self._document.item_at(row)
        if event.chain > 1:
            self._select_at(event.screen_offset, word=event.chain == 2)
        elif self.text_selection is not None:
            return
        elif meta.get("pill"):
            self.action_end()
        elif item is not None:
            self._click(item, row, str(meta.get("link", "")))

    def _click(self, item: DrawnEntry, row: int, link: str) -> None:
        self._point_at(item)
        offers = isinstance(item.entry, OFFERS)
        if offers and link == cards.RETRY:
            self.action_retry()
        elif offers and link == cards.WITHOUT:
            self.action_retry_without()
        elif offers and link.startswith(cards.ACTION):
            self.post_message(ActionWanted(link.removeprefix(cards.ACTION)))
        elif link:
            self.post_message(LinkClicked(link))
        elif row == self._document.top(item) + item.head or isinstance(item.entry, ErrorEntry):
            self._open(item)
        else:
            self.post_message(EntryActivated(item.entry))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show where a link leads before it is clicked."""
        link = str(event.style.meta.get("link", ""))
        own = link.startswith(cards.ACTION)
        tooltip = one_line(link, 200) if link and not own else None
        if tooltip != self.tooltip:
            self.tooltip = tooltip

    def shown_cursor(self) -> DrawnEntry | None:
        """Return the item under the cursor while the keys are heard here."""
        return self._cursor.item if self.has_focus else None

    def on_focus(self) -> None:
        """Show the cursor."""
        self._cursor.land()
        self._point_at(self._cursor.item)

    def on_blur(self) -> None:
        """Hide the cursor."""
        self._point_at(self._cursor.item)

    def action_move(self, step: int) -> None:
        """Point at the next or previous entry."""
        before = self._cursor.item
        row = self._cursor.move(step)
        self._point_at(self._cursor.item, before)
        if row != self._pager.row:
            self._place(self._pager.scrolled(row))

    def action_top(self) -> None:
        """Go to the beginning."""
        if self._document.pieces:
            self._point_at(self._document.pieces[0].item)
            self._place(self._pager.scrolled(0))

    def action_end(self) -> None:
        """Go to the end and stay there."""
        if self._cursor.item is not None:
            self._point_at(self._document.pieces[-1].item)
        self.follow = True

    def action_open(self) -> None:
        """Show or hide the details of the entry under the cursor."""
        item = self._cursor.item
        if item is not None:
            self._open(item)

    def _open(self, item: DrawnEntry) -> None:
        if isinstance(item.entry, ReportEntry):
            self.post_message(ActionWanted("session.report"))
            return
        self.toggle(item.entry.key)
        self.post_message(EntryActivated(item.entry))

    def action_events(self) -> None:
        """Show the events of the entry under the cursor."""
        if (entry := self.cursor) is not None:
            self.post_message(EventsRequested(entry))

    def show_entry(self, key: str) -> bool:
        """Put the cursor on an entry and show it; False when it is not here."""
        item = self._document.items.get(key)
        if item is None:
            return False
        self._document.reveal(item)
        self._point_at(item)
        for piece in item.pieces[:2]:
            self._document.measure(piece)
        self._place(self._pager.scrolled(self._document.top(item)))
        return True

    def action_copy(self) -> None:
        """Copy the selection, else the entry under the cursor."""
        selection = self.text_selection
        if selection is not None and (selected := self.get_selection(selection)):
            self.post_message(CopyRequested(selected[0], "selection"))
        elif (entry := self.cursor) is not None:
            self.post_message(CopyRequested(plain_text(entry), name_of(entry)))

    def action_retry(self) -> None:
        """Try again what failed, if the cursor is on it."""
        entry = self.cursor
        if isinstance(entry, ErrorEntry) and entry.retryable:
            self.post_message(RetryRequested(entry))

    def action_rewind(self) -> None:
        """Go back before the turn of the entry under the cursor; a failure is tried again."""
        entry = self.cursor
        if isinstance(entry, ErrorEntry) and entry.retryable:
            self.action_retry()
        elif entry is not None:
            self.post_message(RewindRequested(entry))

    def action_export(self) -> None:
        """Write the conversation to a file, from the turn of the entry under the cursor on."""
        if (entry := self.cursor) is not None:
            self.post_message(ExportRequested(entry))

    def action_retry_without(self) -> None:
        """Go on without the context source that failed, if the cursor is on its error."""
        entry = self.cursor
        if isinstance(entry, ErrorEntry) and entry.retryable and entry.source:
            self.post_message(RetryRequested(entry, entry.source))

    def action_agent(self) -> None:
        """Open the conversation of the agent under the cursor."""
        entry = self.cursor
        lane = entry.lane if isinstance(entry, LaneEntry) else entry.agent if entry else MAIN_LANE
        if lane not in (MAIN_LANE, self._document.renderer.home):
            self.post_message(ActionWanted("agents.show", lane))

    def action_diff(self) -> None:
        """Read the change that the call under the cursor made."""
        if isinstance(entry := self.cursor, ToolEntry) and entry.diff:
            self.post_message(ActionWanted("view.diff"))

    def action_fork(self) -> None:
        """Fork before the prompt under the cursor."""
        entry = self.cursor
        if isinstance(entry, UserEntry) and entry.begins_turn:
            self.post_message(ForkRequested(entry))

    def _point_at(self, item: DrawnEntry | None, before: DrawnEntry | None = None) -> None:
        """Move the cursor; both lines show it."""
        before = before or self._cursor.item
        self._cursor.item = item
        self._document.renderer.selected = item if self.has_focus else None
        for changed in {before, item}:
            if changed is not None:
                self._refresh_head(changed)
        if self.has_focus:
            self.refresh()
