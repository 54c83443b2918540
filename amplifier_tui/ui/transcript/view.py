"""The conversation as one line-API widget: no child widgets, O(visible) whatever its length."""

import asyncio
import time
from collections.abc import Callable, Iterable
from itertools import takewhile, zip_longest

from textual import events

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.app.pace import stream_period
from amplifier_tui.ui.images.decoding import ImageError, draw
from amplifier_tui.ui.images.pictures import Fetch
from amplifier_tui.ui.state.conversation.entries import (
    OFFERS,
    EntryChange,
    ErrorEntry,
    ToolEntry,
    UserEntry,
)
from amplifier_tui.ui.transcript.arriving import Arrivals
from amplifier_tui.ui.transcript.entries import cards
from amplifier_tui.ui.transcript.entries.colours import paint
from amplifier_tui.ui.transcript.entries.long_output import REST, rest_row
from amplifier_tui.ui.transcript.entries.renderer import is_expandable
from amplifier_tui.ui.transcript.entries.scene import WayTo
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from amplifier_tui.ui.transcript.lines import StyledLine
from amplifier_tui.ui.transcript.searched_view import SearchedView
from amplifier_tui.ui.transcript.ticker import Ticker
from amplifier_tui.ui.widgets.messages import (
    ActionWanted,
    ImageRequested,
    LinkClicked,
    PromptOffered,
)

_PULSE_PERIOD = 1 / 4
_MEASURE_PERIOD = 1 / 20
_MEASURE_SLICE = 0.004


class TranscriptView(SearchedView):
    """Draws the entries of a conversation and streams text into the last of them.

    Call `apply` with what changed. Text is data: nothing in it is parsed as markup, and control
    sequences are gone before it is drawn. `clock` is that of the entries' `started`, in seconds,
    `home` the lane whose conversation it is.
    """

    ALLOW_MAXIMIZE = True
    FOCUS_ON_CLICK = False  # a click must not take the keyboard away from the prompt

    def __init__(self, *, clock: Callable[[], float] = time.time, home: str = MAIN_LANE) -> None:
        super().__init__(home, clock)
        self._arrivals = Arrivals(self._document, clock)
        self._drawn_at = 0.0
        self._painting = self._drawing = False
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
            self.look_again(change.entry.key for change in changes if change.entry is not None)
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

    def use_images(self, fetch: Fetch | None) -> None:
        """Have images drawn that `fetch` gives; without it they are lines of text."""
        pictures = self._document.renderer.pictures
        if fetch == pictures.fetch:
            return
        pictures.fetch = fetch
        pictures.wanted.clear()
        pictures.problems.clear()
        self._redraw_images()

    @property
    def images(self) -> Fetch | None:
        """What gives images; None where they are lines of text."""
        return self._document.renderer.pictures.fetch

    @property
    def is_streaming(self) -> bool:
        """Whether text is arriving or waits to be drawn."""
        return self._arrivals.active

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

    def unfold(self, item: DrawnEntry, *, whole: bool = False) -> None:
        """Show the details of an item, of a long output the `whole`."""
        if whole and not item.whole:
            item.whole = True
            self._document.redraw(item)
        self._arrivals.open(item, True)
        self._settle()
        self._start_timers()

    def show_rest(self, item: DrawnEntry) -> None:
        """Show the details of an item; where it shows them, what they leave out, from there on."""
        if not item.expanded:
            self.toggle(item.entry.key)
            return
        number = rest_row(self._document.lines(item.pieces[0])) or 0
        self.unfold(item, whole=True)
        row = self._document.top(item) + number
        if not self._pager.row <= row < self._pager.row + self._pager.height:
            self._place(self._pager.scrolled(row))
        self.refresh()

    def unfold_entry(self, key: str) -> None:
        """Show the details of an entry, where it is here and has any."""
        item = self._document.items.get(key)
        if item is not None and is_expandable(item):
            self.unfold(item)

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
        before = self._shown_lines()
        touched = self._arrivals.flush()
        if not touched:
            return self._arrivals.waiting
        self._drawn_at = began
        document, row = self._document, self._pager.row
        for piece in touched:
            pieces = piece.item.pieces
            for tail in pieces[pieces.index(piece) :]:
                document.measure(tail)
        self._settle()
        if self._pager.row == row:
            # All of a paragraph is rendered anew, and most of it is as it was.
            pairs = zip_longest(before, self._shown_lines())
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] is not None, pairs))
            if same < self._pager.height:
                self.refresh_lines(row + same, self._pager.height - same)
        self._arrivals.spent(time.perf_counter() - began)
        return self._arrivals.waiting

    def _shown_lines(self) -> list[StyledLine | None]:
        """Return the lines in view from the first one on; None for one that is not rendered."""
        top, find = self._pager.row, self._document.place_at
        places = [find(row) for row in range(top, top + self._pager.height)]
        return [
            place[0].lines[place[1]]
            if place and place[0].lines and place[1] < len(place[0].lines)
            else None
            for place in places
        ]

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

    def picture_wanted(self) -> None:
        """Have it drawn once everything else is."""
        if not self._drawing:
            self._drawing = True
            self.call_after_refresh(lambda: self.run_worker(self._draw_pictures()))

    async def _draw_pictures(self) -> None:
        """Draw the images that are wanted in a thread, one by one, the latest first."""
        pictures = self._document.renderer.pictures
        try:
            while pictures.wanted and pictures.fetch is not None:
                picture = next(reversed(pictures.wanted))
                try:
                    data = await asyncio.wrap_future(pictures.fetch(picture.key, picture.lane))
                    pictures.keep(picture, await asyncio.to_thread(draw, data, picture.size))
                    self._document.repaint()
                except (RuntimeError, ImageError) as error:
                    pictures.problems[picture.key] = one_line(str(error), 200)
                    self._redraw_images()
                pictures.wanted.pop(picture, None)
                self.refresh()
        finally:
            self._drawing = False

    def _redraw_images(self) -> None:
        for item in self._document.items.values():
            if getattr(item.entry, "images", ()):
                self._document.redraw(item)
        self._settle()
        self.refresh()

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
        elif offers and link.startswith(cards.EXAMPLE):
            self.post_message(PromptOffered(link.removeprefix(cards.EXAMPLE)))
        elif link == REST and isinstance(item.entry, ToolEntry | UserEntry):
            self.show_rest(item)
        elif link:
            self.post_message(LinkClicked(link))
        elif (at := self._document.line_at(row)) is not None and at[2].picture is not None:
            self.post_message(ImageRequested(item.entry))
        elif row == self._document.top(item) + item.head or isinstance(item.entry, ErrorEntry):
            self._open(item)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show where a link leads before it is clicked."""
        link = str(event.style.meta.get("link", ""))
        own = link.startswith((cards.ACTION, cards.EXAMPLE))
        tooltip = one_line(link, 200) if link and not own else None
        if tooltip != self.tooltip:
            self.tooltip = tooltip
