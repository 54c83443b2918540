"""A list of one-line rows with a cursor: every picker and popup draws its rows with it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Final, Generic, TypeVar, overload

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.ui.widgets.line_view import LineView, row_after
from amplifier_tui.ui.widgets.palette import ROLE_CLASSES, under_cursor

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class PickRow:
    """Words at the left, data at the right. Without an id it is a heading: the cursor skips it.

    What `goes_on` with the row above it is shown under the cursor with that one.
    """

    id: str
    left: Content
    right: Content = field(default_factory=Content)
    goes_on: bool = False


class LazyRows(Sequence[PickRow], Generic[Item]):
    """Rows of a long list, each made when it is drawn.

    Args:
        items: What the rows are about.
        row_of: Makes a row.
        id_of: Returns the id of a row without making it.
    """

    def __init__(
        self,
        items: Sequence[Item],
        row_of: Callable[[Item], PickRow],
        id_of: Callable[[Item], str],
    ) -> None:
        self._items = items
        self._row_of = row_of
        self._made: dict[int, PickRow] = {}
        self.ids = [id_of(item) for item in items]

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> PickRow: ...

    @overload
    def __getitem__(self, index: slice) -> list[PickRow]: ...

    def __getitem__(self, index: int | slice) -> PickRow | list[PickRow]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        if at not in self._made:
            self._made[at] = self._row_of(self._items[at])
        return self._made[at]


def row_ids(rows: Sequence[PickRow]) -> Sequence[str]:
    """Return the ids of rows; lazy ones are not made for it."""
    return rows.ids if isinstance(rows, LazyRows) else [row.id for row in rows]


def marked(text: str, positions: Iterable[int], style: str = "$primary bold") -> Content:
    """Return `text` with the matched characters marked."""
    content = Content(text)
    for at in positions:
        content = content.stylize(style, at, at + 1)
    return content


class PickList(LineView[PickRow], can_focus=False):
    """Draws only what is visible; the cursor is a surface with a mark at its edge."""

    COMPONENTS = ROLE_CLASSES | {"pick-list--cursor"}
    DEFAULT_CSS = """
    PickList {
        height: 1fr;
        background: transparent;
        scrollbar-gutter: auto;
        scrollbar-color: $scrollbar;
        & > .pick-list--cursor { background: $block-cursor-background; }
    }
    """

    @dataclass
    class Highlighted(Message):
        """The cursor came to a row; None when the list is empty."""

        row: PickRow | None

    @dataclass
    class Chosen(Message):
        """A row was clicked."""

        row: PickRow

    _empty = ""
    _ids: Sequence[str] = ()

    @property
    def row(self) -> PickRow | None:
        """The highlighted row."""
        return self.rows[self.cursor_row] if 0 <= self.cursor_row < len(self.rows) else None

    @property
    def row_id(self) -> str:
        """The id of the highlighted row; empty where there is none."""
        return self.row.id if self.row is not None else ""

    def set_rows(self, rows: Sequence[PickRow], keep: str = "", empty: str = "") -> None:
        """Show other rows, with the cursor on `keep` or the first; without any, say `empty`.

        Where `keep` is no longer there, the cursor comes to the row that followed it.

        No `Highlighted` is sent: who sets the rows knows where the cursor is at once.
        """
        self.rows = rows
        self._empty = empty
        self.virtual_size = Size(0, max(len(rows), 1))
        before, self._ids = self._ids, row_ids(rows)
        kept = row_after(keep, before, self._ids) if keep else -1
        self.cursor_row = kept if kept >= 0 else self._stop(0)
        self.lay_out()
        self.refresh(layout=True)

    def _stops_at(self, row: PickRow) -> bool:
        return bool(row.id)

    def put_cursor(self, row: int) -> None:
        """Put the cursor on a row, bring it into view and say where it is."""
        self.cursor_row = row
        self.lay_out()
        self.refresh()
        self.post_message(self.Highlighted(self.row))

    def lay_out(self) -> None:
        """Keep the cursor in view."""
        if not self.size.height:
            return
        # With the first row that can be chosen, the heading above it is to be seen as well.
        first = not any(self._ids[: max(self.cursor_row, 0)])
        self.show_rows(0 if first else self.cursor_row)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of rows, so that `height: auto` fits them."""
        return len(self.rows) or len(self._said(width))

    def _draw_row(self, row: int, width: int) -> Strip:
        first = row
        while self.rows[first].goes_on:
            first -= 1
        return self._strip(_line(self.rows[row], width), width, cursor=first == self.cursor_row)

    def _draw_below(self, row: int, width: int) -> Strip:
        said = self._said(width) if not self.rows else ()
        if row >= len(said):
            return Strip.blank(width, self.palette.style(""))
        return self._strip(_line(PickRow("", said[row]), width), width)

    def _said(self, width: int) -> Sequence[Content]:
        """Return the rows of what is said where there are none."""
        words = Content.styled(self._empty, "$text-muted")
        return words.wrap(max(width - 2, 1)) if self._empty else ()

    def _strip(self, content: Content, width: int, *, cursor: bool = False) -> Strip:
        base = self.visual_style
        if cursor:
            base = base + self.get_visual_style("pick-list--cursor")
        strip = Strip(content.render_segments(base), content.cell_length)
        own = self.palette.style("")
        strip = strip.adjust_cell_length(width, base.rich_style).apply_style(own)
        return (
            under_cursor(strip, base.rich_style, self.palette.style("primary")) if cursor else strip
        )

    def on_click(self, event: events.Click) -> None:
        """Choose the row that was clicked."""
        row = self.clicked_row()
        if row is not None and self.rows[row].id:
            self.put_cursor(row)
            self.post_message(self.Chosen(self.rows[row]))


def _line(row: PickRow, width: int) -> Content:
    room = max(width - 2, 0)
    right = row.right
    # What only keeps columns in line is room for the words.
    right = right[len(right.plain) - len(right.plain.lstrip(" ")) :]
    # The words come first: data that would leave them less than half is cut.
    right = _shortened(right, room // 2)
    gap = 2 if right.cell_length else 0
    left = row.left.truncate(max(room - right.cell_length - gap, 0), ellipsis=True)
    fill = max(room - left.cell_length - right.cell_length, 0)
    return Content.assemble(" ", left, " " * fill, right, " ")


def _shortened(data: Content, most: int) -> Content:
    """Return data of several parts with its first one cut: a name, while the others are short."""
    if data.cell_length <= most:
        return data
    if (bare := data.rstrip(" ")).cell_length <= most:
        # Only blanks that keep columns in line are lost: there is nothing for a mark to stand for.
        return bare + " " * (most - bare.cell_length)
    at = data.plain.find(_BETWEEN)
    room = most - data[at:].cell_length
    if at < 0 or room < _LEAST_NAME:
        return data.truncate(most, ellipsis=True)
    return data[:at].truncate(room, ellipsis=True) + data[at:]


_BETWEEN: Final = " · "
_LEAST_NAME: Final = 6
