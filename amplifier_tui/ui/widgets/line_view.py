"""A scrolling list of rows drawn with the line API: what is out of sight costs nothing."""

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar, Final, Generic, TypeVar

from textual.binding import Binding
from textual.events import MouseDown
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from amplifier_tui.ui.keys.keymap import show_key
from amplifier_tui.ui.terminal.textual_costs import LazyComponents
from amplifier_tui.ui.widgets.palette import MARGIN, ROLE_CLASSES, ROLE_CSS, Palette
from amplifier_tui.ui.widgets.styled import Row, pieces_width

RowT = TypeVar("RowT")


def cursor_bindings(prefix: str, first: str = "First", last: str = "Last") -> list[Binding]:
    """Return the keys that move the cursor, their ids beginning with `prefix`."""
    return [
        Binding("j,down", "move(1)", "Down", show=False, id=f"{prefix}.down"),
        Binding("k,up", "move(-1)", "Up", show=False, id=f"{prefix}.up"),
        Binding("g,home", "move_to(0)", first, show=False, id=f"{prefix}.first"),
        Binding("G,end", "move_to(-1)", last, show=False, id=f"{prefix}.last"),
    ]


_OTHERS: Final = " …"
"""Ends a row of keys that does not name them all."""


def key_words(widget: Widget, words: Iterable[tuple[str, str]], width: int) -> Row:
    """Return the keys that are in force, each with its word, as many as fit, and a mark of others.

    Args:
        widget: What has the focus, or is about to.
        words: Ids of bindings, each with what its key does, the most important first.
    """
    active = [each.binding for each in widget.screen.active_bindings.values()]
    keys = {binding.id: binding.key for binding in reversed(active)}
    named: list[Row] = [
        [(show_key(keys[binding_id]), "strong"), (f" {word}", "muted")]
        for binding_id, word in words
        if binding_id in keys
    ]
    pieces: Row = []
    for number, each in enumerate(named, start=1):
        more: Row = [("   ", "muted"), *each] if pieces else each
        others = 0 if number == len(named) else len(_OTHERS)
        if pieces_width(pieces) + pieces_width(more) + others > width:
            return [*pieces, (_OTHERS, "muted")] if pieces else []
        pieces += more
    return pieces


def row_after(about: Hashable, before: Sequence[Hashable], now: Sequence[Hashable]) -> int:
    """Return the place of something among `now`; where it is gone, that of what followed it.

    The row above it where nothing follows; -1 where none of them is left.
    """
    at = before.index(about) if about in before else len(before)
    # The first of several rows about one thing is its own.
    places = {each: row for row, each in reversed([*enumerate(now)]) if each}
    order = (about, *before[at:], *reversed(before[:at]))
    return next((places[each] for each in order if each in places), -1)


class LineView(ScrollView, LazyComponents, Generic[RowT], can_focus=True):
    """Draws the visible ones of its rows, and moves a cursor over them.

    A subclass makes the rows for a width (`_make_rows`) and draws one (`_draw_row`). `PINNED` rows
    (0 or 1) at the top do not scroll. `cursor_row` is -1 where there is no cursor. `FOOT` has ids
    of bindings, each with a word: the last line says them while the keys are heard here.
    """

    ALLOW_SELECT = False
    PINNED: ClassVar[int] = 0
    FOOT: ClassVar[tuple[tuple[str, str], ...]] = ()
    CHANGES: ClassVar[frozenset[str]] = frozenset()
    """Actions that change something, or lead there: their letters wait until they stay alone."""
    COMPONENTS = ROLE_CLASSES
    DEFAULT_CSS = f"""
    LineView {{
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        scrollbar-size: 0 1;
        scrollbar-gutter: stable;
        scrollbar-color: $text-muted 35%;
        scrollbar-color-hover: $text-muted;
        scrollbar-color-active: $text-muted;
        scrollbar-background: transparent;
        scrollbar-background-hover: transparent;
        scrollbar-background-active: transparent;
        {ROLE_CSS}
    }}
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = Palette(self)
        self.rows: Sequence[RowT] = ()
        self.cursor_row = -1
        self._made_for = 0
        self._foot_drawn = False
        self.pressed_row: int | None = None
        """Where the button of the mouse went down last."""

    def _make_rows(self, width: int) -> Sequence[RowT]:
        """Return the rows in `width` cells."""
        raise NotImplementedError

    def _draw_row(self, row: int, width: int) -> Strip:
        """Return a row as a strip of `width` cells."""
        raise NotImplementedError

    def _draw_pinned(self, width: int) -> Strip:
        """Return the row that does not scroll."""
        raise NotImplementedError

    def _draw_below(self, row: int, width: int) -> Strip:
        """Return a line below the last row."""
        return self.palette.strip([], width)

    def _foot_words(self) -> tuple[tuple[str, str], ...]:
        """Return what the foot says."""
        return self.FOOT

    def _stops_at(self, row: RowT) -> bool:
        """Say whether the cursor can be on a row."""
        return True

    def _identity(self, row: RowT) -> Hashable:
        """Return what a row is about, by which the cursor finds it again in other rows."""
        return None

    @property
    def about(self) -> Hashable:
        """What the row under the cursor is about; None where there is no such row."""
        row = self.cursor_row
        return self._identity(self.rows[row]) if 0 <= row < len(self.rows) else None

    def content_width(self) -> int:
        """Return the cells that a row's words have."""
        return self.scrollable_content_region.width - MARGIN

    def lay_out(self) -> None:
        """Make the rows anew, with the cursor on the one it was on."""
        if not self.is_mounted:
            return
        before = len(self.rows)
        self._make()
        self.virtual_size = Size(self._made_for, self.PINNED + len(self.rows) + self.foot)
        self.refresh(layout=len(self.rows) != before)

    @property
    def foot(self) -> int:
        """Lines that the foot takes: 1 while the view has the focus, else 0."""
        return 1 if self.FOOT and self.has_focus else 0

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show the keys while they are heard here."""
        super().watch_has_focus(has_focus)
        if self.FOOT and self.is_mounted:
            self.lay_out()
            self.refresh(layout=True)

    def _make(self) -> None:
        width, before = self.content_width(), self.rows
        at = before[self.cursor_row] if 0 <= self.cursor_row < len(before) else None
        self.rows, self._made_for = self._make_rows(width) if width > 0 else (), width
        about = self._identity(at) if at is not None else None
        if about is None:
            self.cursor_row = min(self.cursor_row, len(self.rows) - 1)
        else:
            row = self.find_row(about)
            # Keys that are pressed next are not for the first row.
            self.cursor_row = (
                row if row >= 0 else row_after(about, *map(self._stopping, (before, self.rows)))
            )
        if self.has_focus:
            self._land()

    def _stopping(self, rows: Sequence[RowT]) -> Sequence[Hashable]:
        """Return what each row is about, and None for one that the cursor passes over."""
        return [self._identity(row) if self._stops_at(row) else None for row in rows]

    def find_row(self, about: Hashable) -> int:
        """Return the first row about something that the cursor can be on, or -1."""
        return next(
            (
                index
                for index, row in enumerate(self.rows)
                if self._stops_at(row) and self._identity(row) == about
            ),
            -1,
        )

    def on_resize(self) -> None:
        """Make the rows for the new width."""
        self.lay_out()

    def notify_style_update(self) -> None:
        """Take the colours of a new theme."""
        super().notify_style_update()
        self.palette.clear()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of rows at `width`, for `height: auto`."""
        # As wide as they will be drawn: what wraps there needs its rows.
        inner = width - self.scrollbar_gutter.width - MARGIN
        rows = len(self._make_rows(inner)) if inner > 0 else 0
        return self.PINNED + rows + self.foot

    def render_line(self, y: int) -> Strip:
        """Draw one line of the viewport."""
        width = self.size.width
        if self._made_for and self._made_for != self.content_width():
            self._make()
        if y < self.PINNED:
            return self._draw_pinned(width)
        self._foot_drawn = bool(self.foot)
        if self.foot and y == self.size.height - 1:
            return self.palette.strip(
                key_words(self, self._foot_words(), self.content_width()), width
            )
        row = y - self.PINNED + self.scroll_offset.y
        if row >= len(self.rows):
            return self._draw_below(row, width)
        return self._draw_row(row, width)

    def on_mouse_down(self, event: MouseDown) -> None:
        """Note the row under the pointer: with the focus comes a line of keys, and moves them."""
        row = event.y - self.PINNED + self.scroll_offset.y
        in_foot = self._foot_drawn and event.y == self.size.height - 1
        inside = event.y >= self.PINNED and 0 <= row < len(self.rows)
        self.pressed_row = row if inside and not in_foot else None

    def clicked_row(self) -> int | None:
        """Return the row that was clicked: the one that was pressed."""
        row = self.pressed_row
        return row if row is not None and row < len(self.rows) else None

    def grow(self, size: Size) -> None:
        """Take another size of the content; the screen needs a layout only for a scrollbar."""
        if size == self.virtual_size:
            return
        if self.show_vertical_scrollbar and size.height > self.container_size.height:
            self.set_reactive(ScrollView.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
        else:
            self.virtual_size = size

    def show_rows(self, first: int, count: int = 1) -> None:
        """Scroll as little as brings rows into view; of too many the first ones."""
        room = max(1, self.scrollable_content_region.height - self.PINNED - self.foot)
        top, last = self.scroll_offset.y, first + min(count, room)
        if first < top:
            self.scroll_to(y=first, animate=False, force=True, immediate=True)
        elif last > top + room:
            self.scroll_to(y=last - room, animate=False, force=True, immediate=True)

    def is_at_cursor(self, row: int) -> bool:
        """Say whether a row is drawn on the cursor's surface."""
        return row == self.cursor_row and self.has_focus

    def _land(self) -> None:
        """Put a cursor on a list that hears the keys, if it has a row for it and none yet."""
        if self.cursor_row < 0:
            self.cursor_row = self._stop(0)

    def on_focus(self) -> None:
        """Show the cursor."""
        self._land()
        self.refresh()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh()

    def put_cursor(self, row: int) -> None:
        """Put the cursor on a row and bring it into view."""
        self.cursor_row = row
        self.show_rows(row)
        self.refresh()

    def action_move(self, by: int) -> None:
        """Move the cursor by so many rows that it can be on; it stays inside the list."""
        step = 1 if by > 0 else -1
        row = probe = self.cursor_row
        left = abs(by)
        while left and 0 <= probe + step < len(self.rows):
            probe += step
            if self._stops_at(self.rows[probe]):
                row, left = probe, left - 1
        if row >= 0:
            self.put_cursor(row)

    def action_page(self, direction: int) -> None:
        """Move the cursor by a page, one row less."""
        self.action_move(direction * max(1, self.size.height - 1))

    def action_move_to(self, place: int) -> None:
        """Move the cursor to the first (0) or last (-1) row that it can be on."""
        row = self._stop(place)
        if row >= 0:
            self.put_cursor(row)

    def _stop(self, place: int) -> int:
        """Return the first (0) or last (-1) row that the cursor can be on, or -1."""
        rows = range(len(self.rows))
        order = rows if place == 0 else reversed(rows)
        return next((row for row in order if self._stops_at(self.rows[row])), -1)
