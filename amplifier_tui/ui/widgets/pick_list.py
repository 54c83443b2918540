"""A list of one-line rows with a cursor: every picker and popup draws its rows with it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip


@dataclass(frozen=True, slots=True)
class PickRow:
    """One row: its words at the left, data about it at the right.

    Attributes:
        id: What choosing it means; empty for a heading, which the cursor skips.
        left: Words; cut with an ellipsis when they do not fit.
        right: Data, right aligned, muted by default; dropped before `left` gets too narrow.
    """

    id: str
    left: Content
    right: Content = field(default_factory=Content)


def marked(text: str, positions: Iterable[int], style: str = "$primary bold") -> Content:
    """Return `text` with the matched characters marked."""
    content = Content(text)
    for at in positions:
        content = content.stylize(style, at, at + 1)
    return content


class PickList(ScrollView):
    """Draws only what is visible; the cursor is a surface, not a glyph."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"pick-list--cursor"}
    DEFAULT_CSS = """
    PickList {
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size: 0 1;
        scrollbar-background: $panel;
        scrollbar-background-hover: $panel;
        scrollbar-background-active: $panel;
        & > .pick-list--cursor { background: $block-cursor-background; }
    }
    """

    cursor: reactive[int] = reactive(-1, repaint=True)
    """Index of the highlighted row, -1 when there is none."""

    @dataclass
    class Highlighted(Message):
        """The cursor came to a row; None when the list is empty."""

        row: PickRow | None

    @dataclass
    class Chosen(Message):
        """A row was clicked."""

        row: PickRow

    def __init__(self, *, id: str | None = None, empty: str = "", focusable: bool = False) -> None:
        super().__init__(id=id)
        self.can_focus = focusable
        self._rows: Sequence[PickRow] = ()
        self._empty = empty

    @property
    def rows(self) -> Sequence[PickRow]:
        """The rows shown."""
        return self._rows

    @property
    def row(self) -> PickRow | None:
        """The highlighted row."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    def set_rows(self, rows: Sequence[PickRow], keep: str = "", empty: str | None = None) -> None:
        """Show other rows, with the cursor on the row `keep` or else the first one."""
        self._rows = rows
        if empty is not None:
            self._empty = empty
        self.virtual_size = Size(0, max(len(rows), 1))
        at = next((i for i, row in enumerate(rows) if keep and row.id == keep), None)
        if at is None:
            at = next((i for i, row in enumerate(rows) if row.id), -1)
        moved = self.cursor != at
        self.cursor = at
        if not moved:
            self._show_cursor()
            self._announce()
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        """Move the cursor by rows, over headings, without wrapping round."""
        step = 1 if by > 0 else -1
        at, left = self.cursor, abs(by)
        probe = at
        while left and 0 <= probe + step < len(self._rows):
            probe += step
            if self._rows[probe].id:
                at = probe
                left -= 1
        self.cursor = at

    def page(self, direction: int) -> None:
        """Move the cursor by a page."""
        self.move(direction * max(1, self.size.height - 1))

    def watch_cursor(self) -> None:
        """Keep the cursor in view and say where it is."""
        self._show_cursor()
        self._announce()

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._show_cursor()

    def _show_cursor(self) -> None:
        if not self.size.height:
            return
        if not any(row.id for row in self._rows[: max(self.cursor, 0)]):
            # The first row that can be chosen: a heading above it is to be seen as well.
            self.scroll_to(y=0, animate=False, force=True)
        else:
            self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)

    def _announce(self) -> None:
        self.post_message(self.Highlighted(self.row))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of rows, so that `height: auto` fits them."""
        return max(len(self._rows), 1 if self._empty else 0)

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        width = self.size.width
        index = y + self.scroll_offset.y
        base = self.visual_style
        if index == self.cursor:
            base = base + self.get_visual_style("pick-list--cursor")
        if 0 <= index < len(self._rows):
            content = _line(self._rows[index], width)
        elif index == 0 and self._empty:
            content = _line(PickRow("", Content.styled(self._empty, "$text-muted")), width)
        else:
            content = Content(" " * width)
        strip = Strip(content.render_segments(base), content.cell_length)
        return strip.adjust_cell_length(width, base.rich_style).apply_style(self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Choose the row that was clicked."""
        index = event.y + self.scroll_offset.y
        if 0 <= index < len(self._rows) and self._rows[index].id:
            self.cursor = index
            self.post_message(self.Chosen(self._rows[index]))


def _line(row: PickRow, width: int) -> Content:
    room = max(width - 2, 0)
    right = row.right
    # The words come first: data that would leave them less than half is cut.
    right = right.truncate(max(min(right.cell_length, room // 2), 0), ellipsis=True)
    gap = 2 if right.cell_length else 0
    left = row.left.truncate(max(room - right.cell_length - gap, 0), ellipsis=True)
    fill = max(room - left.cell_length - right.cell_length, 0)
    return Content.assemble(" ", left, " " * fill, right, " ")
