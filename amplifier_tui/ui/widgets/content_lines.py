"""Styled text to be scrolled through, of which only the lines that are seen are drawn."""

from collections.abc import Sequence

from textual.content import Content
from textual.strip import Strip

from amplifier_tui.ui.widgets.line_view import LineView


class ContentLines(LineView[Content], can_focus=False):
    """Shows lines, wrapped at words where they are too long."""

    DEFAULT_CSS = """
    ContentLines { background: transparent; overflow-y: scroll; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines: Sequence[Content] = ()

    def set_lines(self, lines: Sequence[Content]) -> None:
        """Show other lines, from the first one on."""
        self._lines = lines
        self.scroll_to(y=0, animate=False, force=True)
        self.lay_out()
        self.refresh()

    def content_width(self) -> int:
        """Return the cells of a row, which has no margin."""
        return self.scrollable_content_region.width

    def _make_rows(self, width: int) -> Sequence[Content]:
        rows: list[Content] = []
        for line in self._lines:
            rows += [line] if line.cell_length <= width else line.wrap(width)
        return rows

    def _draw_row(self, row: int, width: int) -> Strip:
        content = self.rows[row]
        strip = Strip(content.render_segments(self.visual_style), content.cell_length)
        return strip.adjust_cell_length(width, self.palette.style(""))
