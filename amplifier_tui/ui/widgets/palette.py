"""From the names of styles to the theme's colours, for widgets drawn line by line."""

from collections.abc import Sequence, Set
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from amplifier_tui.ui.terminal.textual_costs import LazyComponents
from amplifier_tui.ui.widgets.styled import PAD, Piece, Row, fit_pieces

MARGIN = 1
"""Cells left free at the left of a pane's row. The one at the right is the scrollbar's."""

ROLE_CLASSES: Final[Set[str]] = {
    *("pane--text", "pane--strong", "pane--muted", "pane--head", "pane--key", "pane--primary"),
    *("pane--accent", "pane--success", "pane--warning", "pane--error", "pane--alarm"),
    "pane--cursor",
}
ROLE_CSS = """
    & > .pane--text { color: $foreground; }
    & > .pane--strong { color: $foreground; text-style: bold; }
    & > .pane--muted { color: $text-muted; }
    & > .pane--head { color: $secondary; text-style: bold; }
    & > .pane--key { color: $secondary; }
    & > .pane--primary { color: $primary; }
    & > .pane--accent { color: $accent; }
    & > .pane--success { color: $success; }
    & > .pane--warning { color: $warning; }
    & > .pane--error { color: $error; }
    & > .pane--alarm { color: $error; text-style: bold; }
    & > .pane--cursor { background: $block-cursor-background; }
    &:focus > .pane--head { color: $primary; }
"""
"""Rules for the classes above, to stand inside a widget's own block."""

_FLAGS = {
    "b": Style(bold=True),
    "i": Style(italic=True),
    "s": Style(strike=True),
    "u": Style(underline=True),
}


CURSOR_MARK: Final = "▌"
"""In the free cell before a row with the cursor: its surface alone is hard to see in grey."""


def under_cursor(strip: Strip, surface: Style, mark: Style) -> Strip:
    """Return a row with the cursor on it: on another ground, its first cell marked if it is free.

    Args:
        surface: Its ground is taken; where colours are the terminal's own, it is reversed.
        mark: The colour of the mark.
    """
    ground = Style(bgcolor=surface.bgcolor, reverse=surface.reverse)
    segments = [Segment(text, (style or Style()) + ground) for text, style, _ in strip]
    if segments and segments[0].text.startswith(" "):
        text, style, _ = segments[0]
        edge = Segment(CURSOR_MARK, (style or Style()) + Style(color=mark.color))
        segments[:1] = [edge, Segment(text[1:], style)]
    return Strip(segments, strip.cell_length)


class Palette:
    """The Rich styles of a widget's component classes, whose names begin with `prefix`."""

    def __init__(self, widget: Widget, prefix: str = "pane--") -> None:
        self._widget = widget
        self._prefix = prefix
        self._styles: dict[tuple[str, str], Style] = {}

    def clear(self) -> None:
        """Forget the styles: the theme, the focus or the rules have changed."""
        self._styles.clear()

    def style(self, name: str, link: str = "") -> Style:
        """Return the style of a name such as `muted`, or `link+b` for bold; `pad` is plain text.

        `muted@fence` is on the ground of another name. An empty name stands for the widget's own
        colours. The link travels in the style's meta.
        """
        style = self._styles.get((name, link))
        if style is None:
            named, _, flags = name.partition("+")
            base, _, ground = named.partition("@")
            style = self._named(base)
            if ground:
                style += Style(bgcolor=self._named(ground).bgcolor)
            for flag in flags:
                style += _FLAGS[flag]
            if link:
                style += Style(meta={"link": link})
            self._styles[name, link] = style
        return style

    def _named(self, name: str) -> Style:
        if not name:
            return self._widget.rich_style
        component = self._prefix + ("text" if name == PAD else name)
        return self._widget.get_component_rich_style(component)

    def strip(self, pieces: Sequence[Piece], width: int, *, cursor: bool = False) -> Strip:
        """Return pieces behind the margin as a strip of `width` cells in all, cut or filled up.

        With `cursor` it is on the cursor's surface.
        """
        base = self.style("")
        segments = [Segment(" " * MARGIN, base)]
        segments += [
            Segment(text, self.style(role))
            for text, role in fit_pieces(pieces, width - MARGIN)
            if text
        ]
        strip = Strip(segments).adjust_cell_length(max(0, width), base)
        return under_cursor(strip, self.style("cursor"), self.style("primary")) if cursor else strip


class RowWidget(LazyComponents):
    """A widget of one row, drawn from pieces."""

    ALLOW_SELECT = False
    COMPONENTS = ROLE_CLASSES
    DEFAULT_CSS = f"""
    RowWidget {{
        height: 1;
        color: $foreground;
        {ROLE_CSS}
    }}
    """

    def __init__(self) -> None:
        super().__init__()
        self._palette = Palette(self)
        self._row: Row = []

    def say(self, row: Row) -> None:
        """Show another row; nothing is drawn if it reads the same."""
        if row != self._row:
            self._row = row
            self.refresh()

    def notify_style_update(self) -> None:
        """Take the colours of a new theme."""
        super().notify_style_update()
        self._palette.clear()

    def render_line(self, y: int) -> Strip:
        """Draw the row."""
        return self._palette.strip(self._row, self.size.width)
