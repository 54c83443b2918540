"""A scrolling window on a document of rows: sizes, scrolling, painting, selecting."""

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Offset, Size
from textual.selection import Selection
from textual.strip import Strip

from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.images.cells import row_segments
from amplifier_tui.ui.images.pictures import PictureRow
from amplifier_tui.ui.transcript.entries.renderer import plain_text
from amplifier_tui.ui.transcript.entries.scene import Column
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from amplifier_tui.ui.transcript.layout.pager import Pager
from amplifier_tui.ui.transcript.layout.selection import (
    clamped,
    rows_of,
    selected_text,
    selection_at,
)
from amplifier_tui.ui.transcript.lines import StyledLine, width_of
from amplifier_tui.ui.widgets.line_view import LineView
from amplifier_tui.ui.widgets.messages import FollowChanged
from amplifier_tui.ui.widgets.palette import Palette, under_cursor
from amplifier_tui.ui.widgets.styled import highlighted

_MOST_COUNTED = 999
_SHORT_PILL = " ↓"
"""Where no row has room for the count."""
_PREFIX = "transcript--"

_CLASSES = frozenset(
    _PREFIX + name
    for name in (
        *("text", "muted", "secondary", "strong", "heading", "code", "link", "quote"),
        *("user", "edge", "error-edge", "thinking", "running", "success", "warning", "error"),
        *(
            "added",
            "removed",
            "added-ground",
            "removed-ground",
            "fence",
            "syn-keyword",
            "syn-string",
            "syn-comment",
        ),
        *("syn-number", "syn-name", "syn-type", "cursor", "pill", "found", "found-here"),
    )
)

_CSS = """
DocumentView {
    background: $background;
    color: $foreground;
    scrollbar-background: $background;
    scrollbar-background-hover: $background;
    scrollbar-background-active: $background;
    scrollbar-color: $panel;
    scrollbar-color-hover: $text-muted;
    scrollbar-color-active: $primary;

    & > .transcript--text { color: $foreground; }
    & > .transcript--secondary, & > .transcript--quote { color: $foreground 85%; }
    & > .transcript--muted { color: $text-muted; }
    & > .transcript--strong, & > .transcript--heading, & > .transcript--user {
        color: $foreground; text-style: bold;
    }
    & > .transcript--thinking { color: $text-muted; text-style: italic; }
    & > .transcript--code { color: $primary; text-style: bold; }
    & > .transcript--link { color: $primary; text-style: underline; }
    & > .transcript--edge, & > .transcript--running { color: $primary; }
    & > .transcript--success, & > .transcript--added { color: $success; }
    & > .transcript--warning { color: $warning; }
    & > .transcript--error, & > .transcript--error-edge, & > .transcript--removed {
        color: $error;
    }
    & > .transcript--added-ground { background: $success 10%; }
    & > .transcript--removed-ground { background: $error 10%; }
    & > .transcript--cursor { background: $surface; }
    & > .transcript--pill { background: $panel; color: $foreground; text-style: bold; }

    & > .transcript--found { background: $warning; color: $background; }
    & > .transcript--found-here {
        background: $primary; color: $background; text-style: bold underline;
    }

    & > .transcript--fence { background: $surface; color: $foreground; }
    & > .transcript--syn-keyword { background: $surface; color: $primary; }
    & > .transcript--syn-string { background: $surface; color: $success; }
    & > .transcript--syn-number { background: $surface; color: $warning; }
    & > .transcript--syn-type { background: $surface; color: $accent; }
    & > .transcript--syn-name { background: $surface; color: $foreground; text-style: bold; }
    & > .transcript--syn-comment {
        background: $surface; color: $text-muted; text-style: italic;
    }

    &:ansi {
        & > .transcript--muted, & > .transcript--thinking, & > .transcript--syn-comment,
        & > .transcript--secondary {
            color: $foreground; text-style: dim;
        }
        & > .transcript--cursor { text-style: reverse; }
        & > .transcript--pill, & > .transcript--found { text-style: reverse; }
        & > .transcript--found-here { text-style: reverse bold underline; }
    }
}
"""


class DocumentView(LineView[StyledLine]):
    """Draws what is visible of a document, whatever its length."""

    ALLOW_SELECT = True
    COMPONENTS = _CLASSES
    DEFAULT_CSS = _CSS

    def __init__(self, home: str = MAIN_LANE) -> None:
        super().__init__()
        self.palette = Palette(self, _PREFIX)
        self._document = Document(home)
        self._pager = Pager(self._document)
        self._width = 0
        self._placing = False
        self._followed = True
        self._pill = ""
        self._pill_at = 0

    @property
    def follow(self) -> bool:
        """Whether the view sticks to the end; it does until the user scrolls up."""
        return self._pager.follow

    @follow.setter
    def follow(self, follow: bool) -> None:
        self._pager.follow = follow
        self._settle()

    @property
    def unseen(self) -> int:
        """How many rows came below what the user has seen."""
        return self._pager.unseen

    def lay_out(self) -> None:
        """Take the new size; the text at the top stays there."""
        region = self.scrollable_content_region
        self._pager.height = region.height
        if region.width == self._width or not region.width:
            self._settle()
            return
        self._width = region.width
        self._deselect()
        self._place(self._pager.refit(Column.fit(region.width)))
        self.refresh()
        self.fitted()

    def fitted(self) -> None:
        """Called when the document has been fitted to another width."""

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Measure what came into view before it is painted."""
        super().watch_scroll_y(old_value, new_value)
        row = round(new_value)
        if self._placing or not self._width or row == self._pager.row:
            return
        region = self.scrollable_content_region
        if (region.width, region.height) == (self._width, self._pager.height):
            self._place(self._pager.scrolled(row))
        # Otherwise the scroll was clamped to a new size, and the resize event is on its way.

    def _settle(self) -> None:
        """Measure what is visible, and keep what is read where it is."""
        if self._width:
            self._place(self._pager.settle())

    def _place(self, row: int) -> None:
        """Show the document from a row on."""
        if self._pager.moved:
            self._move_selection(self._pager.moved)
        self._placing = True
        try:
            self.grow(Size(self._width, self._document.total))
            if row != self.scroll_y:
                self.scroll_target_y = self.scroll_y = row
        finally:
            self._placing = False
        self._place_pill()
        if self._followed != self.follow:
            self._followed = self.follow
            self.post_message(FollowChanged(self.follow))

    def _place_pill(self) -> None:
        unseen = self._pager.unseen
        count = unseen if unseen <= _MOST_COUNTED else f"{_MOST_COUNTED}+"
        before = self._pill, self._pill_at
        self._pill, self._pill_at = self._pill_place(f" ↓ {count} ") if unseen else ("", 0)
        if before != (self._pill, self._pill_at):
            for y in {before[1], self._pill_at}:
                self.refresh_line(self.scroll_offset.y + y)

    def _pill_place(self, pill: str) -> tuple[str, int]:
        """Return the pill, short where it has to be, and the lowest row on which it covers no text.

        Where every row is full that is the last one.
        """
        last = self._pager.height - 1
        for shown in (pill, _SHORT_PILL):
            for y in range(last, -1, -1):
                if self._used(self._pager.row + y) <= self._pill_start(shown):
                    return shown, y
        return pill, last

    def _used(self, row: int) -> int:
        """Return the cells of a row up to the end of its text."""
        found = self._document.line_at(row)
        if found is None:
            return 0
        line = found[2]
        return width_of(line.spans) if line.picture is not None else cell_len(line.text.rstrip())

    def _pill_start(self, pill: str) -> int:
        margin = 0 if pill == _SHORT_PILL else 1
        return max(0, self._width - len(pill) - margin)

    def notify_style_update(self) -> None:
        """Look the colours up again when the CSS or the theme changed."""
        super().notify_style_update()
        self._document.repaint()

    def shown_cursor(self) -> DrawnEntry | None:
        """Return the item that is shown as selected."""
        return None

    def draw_row(self, row: int, width: int) -> Strip:
        """Return a row as it is painted, each once, and on the cursor's surface if it is there."""
        found = self._document.line_at(row)
        if found is None:
            return self.draw_below(row, width)
        piece, number, line = found
        strip = piece.strips.get(number)
        if strip is None:
            strip = piece.strips[number] = self._painted(line)
        item = piece.item
        selected = item is self.shown_cursor() and (not piece.is_first or number >= item.head)
        if selected and line.picture is None:
            strip = under_cursor(strip, self.palette.style("cursor"), self.palette.style("edge"))
        return strip

    def with_marks(self, strip: Strip, row: int) -> Strip:
        """Return a row with what is to be pointed out on it."""
        return strip

    def draw_below(self, row: int, width: int) -> Strip:
        """Return an empty row."""
        return Strip.blank(self._width, self.palette.style("text"))

    def _painted(self, line: StyledLine) -> Strip:
        """Return a line as a strip of the view's width, background everywhere."""
        width, style = self._width, self.palette.style
        spans = line.spans if line.picture is None else line.spans[:-1]
        segments = [Segment(text, style(name, link)) for text, name, link in spans]
        if line.picture is not None:
            segments += self._painted_picture(line.picture)
        used = width_of(line.spans)
        if used < width:
            segments.append(Segment(" " * (width - used), style("text")))
            return Strip(segments, width)
        strip = Strip(segments, used)
        return strip if used == width else strip.crop(0, width)

    def _painted_picture(self, found: PictureRow) -> list[Segment]:
        """Return a row of an image; blank cells until it is drawn."""
        text, size = self.palette.style("text"), found.picture.size
        pixels = self._document.renderer.pictures.pixels(found.picture)
        if pixels is None:
            self.picture_wanted()
            return [Segment(" " * size.width, text)]
        cells = row_segments(pixels, size, found.row)
        return [Segment(each.text, text + each.style) for each in cells]

    def picture_wanted(self) -> None:
        """Called when an image came into view that is not drawn."""

    def render_line(self, y: int) -> Strip:
        """Return a visible row with the selection and the pill on it."""
        row = self.scroll_offset.y + y
        strip = self.with_marks(self.draw_row(row, self._width), row)
        selection = self.text_selection
        span = selection.get_span(row) if selection is not None else None
        found = self._document.line_at(row) if span is not None else None
        if span is not None and found is not None:
            marked = self.screen.get_component_rich_style("screen--selection")
            start, end = clamped(found[2], *span)
            strip = highlighted(
                strip, start, end, Style(color=marked.color, bgcolor=marked.bgcolor)
            )
        strip = strip.apply_offsets(self.scroll_offset.x, row)
        if self._pill and y == self._pill_at:
            strip = self._with_pill(strip)
        return strip

    def _with_pill(self, strip: Strip) -> Strip:
        """Return a strip with the pill near its right end."""
        pill = self._pill
        style = self.palette.style("pill") + Style(meta={"pill": True})
        start = self._pill_start(pill)
        ends = strip.crop(0, start), strip.crop(start + len(pill), self._width)
        return Strip.join([ends[0], Strip([Segment(pill, style)], len(pill)), ends[1]])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as it was before it was wrapped."""
        if selection.start is None and selection.end is None:
            texts = [plain_text(item.entry) for item in self._document.items.values()]
            return "\n\n".join(text for text in texts if text), "\n"
        return selected_text(rows_of(self._document, selection), selection), "\n"

    def _select_at(self, place: Offset, *, word: bool) -> None:
        """Select the word or the paragraph at a place on the screen."""
        widget, offset = self.screen.get_widget_and_offset_at(place.x, place.y)
        if widget is self and offset is not None:
            selection = selection_at(self._document, offset.y, offset.x, word=word)
            self.screen.selections = {self: selection} if selection is not None else {}

    def _deselect(self) -> None:
        if self.is_attached and self.text_selection is not None:
            selections = dict(self.screen.selections)
            del selections[self]
            self.screen.selections = selections

    def _move_selection(self, rows: int) -> None:
        """Keep the selection on its text when heights above it turn out different."""
        selection = self.text_selection if self.is_attached else None
        if selection is not None:
            ends = (None if end is None else end + Offset(0, rows) for end in selection)
            self.screen.selections = {**self.screen.selections, self: Selection(*ends)}
