"""Text that must be readable to the last character: folded, never cut, scrolled by line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

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

    `text`, made visible already, has no newline; `lead` stands in a column before it and `note` at
    its right end; `marks` are where its characters are drawn in the warning colour.
    """

    text: str
    style: str = ""
    lead: str = ""
    note: str = ""
    note_style: str = "$text-muted"
    marks: tuple[tuple[int, int], ...] = ()


class _FoldedRow(NamedTuple):
    """A part of a line: where it begins in the line, and the note that ends the row."""

    number: int
    text: str
    offset: int = 0
    note: str = ""


class ScrollLines(LineView[_FoldedRow]):
    """Draws folded lines behind a column of `lead` cells; only rows on screen are styled."""

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
        self._strips: dict[int, Strip] = {}
        self.read_to_end = not lines

    def set_lines(self, lines: Sequence[TextLine]) -> None:
        """Show other lines, from the top."""
        self._lines = lines
        self.read_to_end = not lines
        self._strips.clear()
        super().lay_out()
        self.scroll_to(y=0, animate=False, force=True)
        self.refresh(layout=True)

    def row_of(self, line: int) -> int:
        """Return the first row of a line."""
        return next((row for row, part in enumerate(self.rows) if part.number >= line), 0)

    def content_width(self) -> int:
        """Return the cells of a row, which has no margin."""
        return self.scrollable_content_region.width

    def _make_rows(self, width: int) -> list[_FoldedRow]:
        room = max(1, width - self._lead)
        return [row for number, line in enumerate(self._lines) for row in fold(number, line, room)]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the folded height, so that `height: auto` fits it."""
        # The scrollbar's column is kept free, and not counted off `width`.
        width -= self.styles.scrollbar_size_vertical
        return max(1, len(self.rows if width == self._made_for else self._make_rows(width)))

    def notify_style_update(self) -> None:
        """Colours have changed: draw the rows again."""
        super().notify_style_update()
        self._strips.clear()

    def lay_out(self) -> None:
        """Fold the lines to another width."""
        if self.content_width() != self._made_for:
            self._strips.clear()
            super().lay_out()
        self._note_reading()

    def _draw_row(self, row: int, width: int) -> Strip:
        strip = self._strips.get(row)
        if strip is None:
            content = self._content(self.rows[row])
            strip = Strip(content.render_segments(self.visual_style), content.cell_length)
            self._strips[row] = strip
        return strip.adjust_cell_length(width, self.rich_style)

    def _draw_below(self, row: int, width: int) -> Strip:
        return Strip.blank(width, self.rich_style)

    def _content(self, row: _FoldedRow) -> Content:
        line = self._lines[row.number]
        lead = line.lead[: self._lead] if row.offset == 0 else ""
        body = Content(row.text)
        if line.style:
            body = body.stylize(line.style)
        for start, end in line.marks:
            low, high = max(start - row.offset, 0), min(end - row.offset, len(row.text))
            if low < high:
                body = body.stylize("$text-warning bold", low, high)
        room = max(1, self._made_for - self._lead)
        gap = " " * max(0, room - cell_len(row.text) - cell_len(row.note))
        return Content.assemble(
            (lead.ljust(self._lead), "$text-muted"), body, gap, (row.note, line.note_style)
        )

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Notice when the end has been seen."""
        super().watch_scroll_y(old_value, new_value)
        self._note_reading()

    def _note_reading(self) -> None:
        height = self.scrollable_content_region.height
        if not self.read_to_end and height and self.scroll_offset.y + height >= len(self.rows):
            self.read_to_end = True
            self.post_message(self.Read())

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


def fold(number: int, line: TextLine, room: int) -> list[_FoldedRow]:
    """Return a line in rows of `room` cells; its note gets a row where it does not fit."""
    text = line.text
    if text.isascii():
        parts = [text[at : at + room] for at in range(0, len(text), room)] or [""]
    else:
        parts = list(chop_cells(text, room)) or [""]
    fits = cell_len(text) + 2 + cell_len(line.note) <= room
    rows: list[_FoldedRow] = []
    offset = 0
    for part in parts:
        rows.append(_FoldedRow(number, part, offset, line.note if fits and not rows else ""))
        offset += len(part)
    if line.note and not fits:
        rows.append(_FoldedRow(number, "", offset, line.note[:room]))
    return rows
