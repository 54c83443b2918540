"""Text that must be readable to the last character: folded, never cut, scrolled by line."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from rich.cells import cell_len, chop_cells
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from amplifier_tui.ui.widgets.line_view import LineView


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of a payload, before it is folded.

    Attributes:
        text: The characters, already made visible; no newline.
        style: Style of the text.
        lead: What stands before the text in a column of its own, such as a line number.
        note: Shown at the right end, on a row of its own where it does not fit.
        note_style: Style of the note.
        marks: Start and end of characters of `text` that are drawn in the warning colour.
    """

    text: str
    style: str = ""
    lead: str = ""
    note: str = ""
    note_style: str = "$text-muted"
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """One row of a line: its text, where that begins in the line, the note that ends the row."""

    text: str
    offset: int = 0
    note: str = ""


class ScrollLines(LineView[TextLine]):
    """Draws folded lines behind a column of `lead` cells; only rows on screen are folded."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_by(1)", show=False),
        Binding("up,k", "scroll_by(-1)", show=False),
        Binding("pagedown,space,enter", "scroll_page(1)", show=False),
        Binding("pageup", "scroll_page(-1)", show=False),
        Binding("home", "scroll_edge(0)", show=False),
        Binding("end", "scroll_edge(1)", show=False),
    ]
    DEFAULT_CSS = """
    ScrollLines {
        height: auto;
        background: transparent;
        scrollbar-color: $scrollbar;
        scrollbar-color-hover: $scrollbar-hover;
        scrollbar-color-active: $scrollbar-active;
        scrollbar-background: $panel;
        scrollbar-background-hover: $panel;
        scrollbar-background-active: $panel;
    }
    """

    @dataclass
    class Read(Message):
        """The last row has been on screen."""

    def __init__(
        self, lines: Sequence[TextLine] = (), lead: int = 0, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._lines = lines
        self._lead = lead
        self._width = 0
        self._ends: list[int] = []
        self._folded: dict[int, list[Strip]] = {}
        self.read_to_end = not lines

    def set_lines(self, lines: Sequence[TextLine], lead: int | None = None) -> None:
        """Show other lines, from the top."""
        self._lines = lines
        self._lead = self._lead if lead is None else lead
        self.read_to_end = not lines
        self._measure(self._width)
        self.scroll_to(y=0, animate=False, force=True)
        self.refresh(layout=True)

    @property
    def total(self) -> int:
        """Rows when folded to the present width."""
        return self._ends[-1] if self._ends else 0

    def row_of(self, line: int) -> int:
        """Return the first row of a line."""
        return self._ends[line - 1] if 0 < line <= len(self._ends) else 0

    def _measure(self, width: int) -> None:
        self._width = width
        self._folded.clear()
        room = max(1, width - self._lead)
        self._ends = list(accumulate(_height(line, room) for line in self._lines))
        self.virtual_size = Size(0, self.total)

    def _fold(self, index: int) -> list[Strip]:
        known = self._folded.get(index)
        if known is None:
            line = self._lines[index]
            room = max(1, self._width - self._lead)
            rows = [self._row(line, part, room) for part in _parts(line, room)]
            known = self._folded[index] = [
                Strip(row.render_segments(self.visual_style), row.cell_length) for row in rows
            ]
        return known

    def _row(self, line: TextLine, part: _Part, room: int) -> Content:
        lead = line.lead[: self._lead] if part.offset == 0 else ""
        body = Content(part.text)
        if line.style:
            body = body.stylize(line.style)
        for start, end in line.marks:
            low, high = max(start - part.offset, 0), min(end - part.offset, len(part.text))
            if low < high:
                body = body.stylize("$text-warning bold", low, high)
        gap = " " * max(0, room - cell_len(part.text) - cell_len(part.note))
        return Content.assemble(
            (lead.ljust(self._lead), "$text-muted"), body, gap, (part.note, line.note_style)
        )

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the folded height, so that `height: auto` fits it."""
        # The scrollbar's column is kept free, and not counted off `width`.
        width -= self.styles.scrollbar_size_vertical
        if width == self._width:
            return max(1, self.total)
        room = max(1, width - self._lead)
        return max(1, sum(_height(line, room) for line in self._lines))

    def notify_style_update(self) -> None:
        """Colours have changed: draw the rows again."""
        super().notify_style_update()
        self._folded.clear()

    def lay_out(self) -> None:
        """Fold the lines to the width."""
        width = self.scrollable_content_region.width
        if width != self._width:
            self._measure(width)
        self._note_reading()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Notice when the end has been seen."""
        super().watch_scroll_y(old_value, new_value)
        self._note_reading()

    def _note_reading(self) -> None:
        height = self.scrollable_content_region.height
        if not self.read_to_end and height and self.scroll_offset.y + height >= self.total:
            self.read_to_end = True
            self.post_message(self.Read())

    def count_rows(self) -> int:
        """Return how many folded rows there are."""
        return self.total

    def draw_row(self, row: int, width: int) -> Strip:
        """Draw a folded row."""
        index = bisect_right(self._ends, row)
        strips = self._fold(index)
        at = row - self.row_of(index)
        strip = strips[at] if at < len(strips) else Strip([])
        return strip.adjust_cell_length(width, self.rich_style)

    def draw_below(self, row: int, width: int) -> Strip:
        """Draw an empty row."""
        return Strip.blank(width, self.rich_style)

    def action_scroll_by(self, rows: int) -> None:
        """Scroll by rows."""
        self.scroll_relative(y=rows, animate=False)

    def action_scroll_page(self, direction: int) -> None:
        """Scroll by a page, one row less."""
        rows = max(1, self.scrollable_content_region.height - 1)
        self.scroll_relative(y=direction * rows, animate=False)

    def action_scroll_edge(self, end: int) -> None:
        """Scroll to the first or the last row."""
        self.scroll_to(y=self.max_scroll_y if end else 0, animate=False)


def _fold_text(text: str, room: int) -> list[str]:
    if not text:
        return [""]
    if text.isascii():
        return [text[at : at + room] for at in range(0, len(text), room)]
    return list(chop_cells(text, room))


def _parts(line: TextLine, room: int) -> list[_Part]:
    texts = _fold_text(line.text, room)
    fits = _note_fits(line, room)
    parts: list[_Part] = []
    offset = 0
    for text in texts:
        parts.append(_Part(text, offset, line.note if fits and not parts else ""))
        offset += len(text)
    if line.note and not fits:
        parts.append(_Part("", offset, line.note[:room]))
    return parts


def _note_fits(line: TextLine, room: int) -> bool:
    return cell_len(line.text) + 2 + cell_len(line.note) <= room


def _height(line: TextLine, room: int) -> int:
    text = line.text
    rows = max(1, -(-len(text) // room)) if text.isascii() else len(_fold_text(text, room))
    return rows + (1 if line.note and not _note_fits(line, room) else 0)
