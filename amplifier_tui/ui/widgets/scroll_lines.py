"""Text that must be readable to the last character: folded, never cut, scrolled by line."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.ui.widgets.folded_rows import BETWEEN, FoldedRows, ShownRow, side_width
from amplifier_tui.ui.widgets.line_view import LineView
from amplifier_tui.ui.widgets.styled import highlighted
from amplifier_tui.ui.widgets.text_lines import FOLDED, TAB, FoldedRow, LinePair, TextLine

_FOUND = "$background on $warning"
_FOUND_HERE = "$background on $accent bold underline"


class Place(NamedTuple):
    """A part of a text: its line, which side of a pair (0 or 1), and from where to where."""

    line: int
    side: int
    start: int
    end: int


class _Selected(NamedTuple):
    """What is selected of a row: where its text begins on it, and from where to where in that."""

    begin: int
    start: int
    end: int
    text: str


class ScrollLines(LineView[ShownRow]):
    """Draws folded lines behind a column of `lead` cells; only rows on screen are styled.

    Lines may stand in pairs, side by side. What is selected is copied without the column and the
    notes, of a pair the side on which the selection begins.
    """

    ALLOW_SELECT = True
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
        overflow-y: scroll;
        background: transparent;
        scrollbar-color: $scrollbar;
    }
    """

    @dataclass
    class Read(Message):
        """The last row has been on screen."""

    def __init__(
        self, lines: Sequence[TextLine | LinePair] = (), lead: int = 0, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._lines = lines
        self._lead = lead
        self._strips: dict[int, Strip] = {}
        self._drawn_for = 0
        """Cells of a row of `_strips`."""
        self._folded: tuple[int, Sequence[ShownRow]] = (0, ())
        self._found: Mapping[tuple[int, int], Sequence[Place]] = {}
        self._found_here: Place | None = None
        self.read_to_end = not lines
        self._at_end = False
        self._kept: tuple[int, float] | None = None
        """The line at the top, and how far into it, until what is folded anew is scrolled there."""

    @property
    def lines(self) -> Sequence[TextLine | LinePair]:
        """The lines that are shown."""
        return self._lines

    def set_lines(self, lines: Sequence[TextLine | LinePair]) -> None:
        """Show other lines, from the top."""
        self.read_to_end = not lines
        self.rearrange(lines, self._lead)

    def rearrange(self, lines: Sequence[TextLine | LinePair], lead: int, top: int = 0) -> None:
        """Show the same text in other lines, from the line `top` on: what was read stays read."""
        self._lines, self._lead = lines, lead
        self._folded = (0, ())
        self._strips.clear()
        super().lay_out()
        self._kept = None
        self.scroll_to(y=self.row_of(top), animate=False, force=True)
        self.refresh(layout=True)

    def recolour(self, lines: Sequence[TextLine | LinePair]) -> None:
        """Show the same lines in other colours."""
        self._lines = lines
        self._strips.clear()
        self.refresh()

    def show_found(self, places: Sequence[Place], here: Place | None) -> None:
        """Mark what was found, and bring the place that is looked at into view."""
        found: dict[tuple[int, int], list[Place]] = {}
        for place in places:
            found.setdefault((place.line, place.side), []).append(place)
        self._found, self._found_here = found, here
        self._strips.clear()
        if here is not None:
            self.bring_into_view(self._row_with(here))
        self.refresh()

    def bring_into_view(self, row: int) -> None:
        """Scroll to a row that is not on screen, with some of what is before it."""
        height = self.scrollable_content_region.height
        if not self.scroll_offset.y <= row < self.scroll_offset.y + height:
            self.scroll_to(y=max(0, row - height // 3), animate=False)

    def row_of(self, line: int) -> int:
        """Return the first row of a line, or the last row."""
        row = bisect_left(self.rows, line, key=attrgetter("number"))
        return max(0, min(row, len(self.rows) - 1))

    @property
    def top_line(self) -> int:
        """The line of the first row on screen."""
        row = self.scroll_offset.y
        return self.rows[row].number if row < len(self.rows) else 0

    def _row_with(self, place: Place) -> int:
        """Return the row on which a place begins."""
        row = self.row_of(place.line)
        for at in range(row, len(self.rows)):
            side = self.rows[at].sides[place.side] if self.rows[at].number == place.line else None
            if side is None or side.offset > place.start:
                break
            row = at
        return row

    def content_width(self) -> int:
        """Return the cells of a row, which has no margin."""
        return self.scrollable_content_region.width

    def _make_rows(self, width: int) -> Sequence[ShownRow]:
        if self._folded[0] != width:
            self._folded = width, FoldedRows(self._lines, width, self._lead)
        return self._folded[1]

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
        """Fold the lines to another width, with the same one at the top while there is more."""
        super().lay_out()
        kept, self._kept = self._kept, None
        # As it was: the rows are others already.
        at_end = self._at_end
        if kept is not None:
            line, part = kept
            row, end = self.row_of(line), self.row_of(line + 1)
            self.scroll_to(y=row + int(part * (end - row)), animate=False, immediate=True)
        top = self.scroll_offset.y
        if top > self.max_scroll_y or (at_end and top):
            self.scroll_to(y=self.max_scroll_y, animate=False)
        self._note_reading()

    def _make(self) -> None:
        if self._made_for != self.content_width() and self._kept is None and self.rows:
            # Drawing may fold before the layout does.
            at, row = self.scroll_offset.y, self.row_of(self.top_line)
            self._kept = self.top_line, (at - row) / max(1, self.row_of(self.top_line + 1) - row)
        super()._make()

    def _draw_row(self, row: int, width: int) -> Strip:
        if self._drawn_for != self._made_for:
            # The rows may have been made anew since, as where the height was asked for.
            self._strips.clear()
            self._drawn_for = self._made_for
        strip = self._strips.get(row)
        if strip is None:
            content = self._row_content(self.rows[row])
            strip = Strip(content.render_segments(self.visual_style), content.cell_length)
            self._strips[row] = strip
        return strip.adjust_cell_length(width, self.rich_style)

    def _draw_below(self, row: int, width: int) -> Strip:
        return Strip.blank(width, self.rich_style)

    def _row_content(self, row: ShownRow) -> Content:
        line = self._lines[row.number]
        if isinstance(line, TextLine):
            return self._side(line, row.sides[0], self._made_for, (row.number, 0))
        width = side_width(self._made_for)
        left, right = (
            self._side(side, part, width, (row.number, number))
            for number, (side, part) in enumerate(zip(line, row.sides, strict=True))
        )
        return Content.assemble(left, " " * BETWEEN, right)

    def _side(
        self, line: TextLine | None, row: FoldedRow | None, width: int, place: tuple[int, int]
    ) -> Content:
        """Return a part of a line, filled up to `width` cells."""
        if line is None or row is None:
            return Content(" " * width)
        body = Content(row.text)
        if line.style:
            body = body.stylize(line.style)
        marks = ((start, end, "$text-warning bold") for start, end in line.marks)
        found = (
            (each.start, each.end, _FOUND_HERE if each == self._found_here else _FOUND)
            for each in self._found.get(place, ())
        )
        for start, end, style in (*line.spans, *marks, *found):
            low, high = max(start - row.offset, 0), min(end - row.offset, len(row.text))
            if low < high:
                body = body.stylize(style, low, high)
        lead = self._lead_of(line, row)
        style = "$text-muted" if row.offset else line.lead_style
        used = len(lead) + cell_len(row.text) + cell_len(row.note)
        free = gap = max(0, width - used)
        if row.note_at and row.note:
            gap = min(free, row.note_at - cell_len(row.text))
        note = (row.note, line.note_style)
        whole = Content.assemble((lead, style), body, " " * gap, note, " " * (free - gap))
        return whole.stylize_before(line.ground) if line.ground else whole

    def _lead_of(self, line: TextLine, row: FoldedRow) -> str:
        """Return what stands before a part of a line."""
        if not row.offset:
            return line.lead.ljust(self._lead if line.lead else 0)
        return (f"{FOLDED} " if row.text else " ").rjust(self._lead if line.lead else 0)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the viewport, with what is selected on it marked."""
        row = y + self.scroll_offset.y
        strip = super().render_line(y)
        part = self._selected(row, self.text_selection)
        if part is not None:
            found = self.screen.get_component_rich_style("screen--selection")
            style = Style(color=found.color, bgcolor=found.bgcolor)
            strip = highlighted(strip, part.begin + part.start, part.begin + part.end, style)
        return strip.apply_offsets(self.scroll_offset.x, row)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return what is selected as it was before it was folded."""
        text, before = "", -1
        for row in range(len(self.rows)):
            part = self._selected(row, selection)
            if part is not None:
                number = self.rows[row].number
                text += ("\n" if before not in (-1, number) else "") + part.text
                before = number
        return text.replace(TAB, "\t"), "\n"

    def _selected(self, row: int, selection: Selection | None) -> _Selected | None:
        """Return the part of a row that is selected; None where there is none."""
        span = selection.get_span(row) if selection is not None else None
        if selection is None or span is None or row >= len(self.rows):
            return None
        shown = self.rows[row]
        line, side, begin = self._lines[shown.number], 0, 0
        if isinstance(line, LinePair):
            width = side_width(self._made_for)
            left = self._side(line.left, shown.sides[0], width, (shown.number, 0))
            side = int(selection.start is not None and selection.start.x >= len(left.plain))
            begin = side * (len(left.plain) + BETWEEN)
        own = line if isinstance(line, TextLine) else line[side]
        part = shown.sides[side]
        if own is None or part is None:
            return None
        begin += len(self._lead_of(own, part))
        size = len(part.text)
        end = size if span[1] < 0 else max(0, min(size, span[1] - begin))
        start = max(0, min(end, span[0] - begin))
        return _Selected(begin, start, end, part.text[start:end])

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Notice when the end has been seen."""
        super().watch_scroll_y(old_value, new_value)
        self._note_reading()

    def _note_reading(self) -> None:
        height = self.scrollable_content_region.height
        self._at_end = bool(height) and self.scroll_offset.y + height >= len(self.rows)
        if self._at_end and not self.read_to_end:
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
