"""How panes draw: rows of styled pieces, cut to the width in cells, as strips."""

from collections.abc import Iterable, Sequence
from typing import Literal

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

Role = Literal[
    "text",
    "strong",
    "muted",
    "head",
    "key",
    "primary",
    "accent",
    "success",
    "warning",
    "error",
    "alarm",
    "cursor",
]
"""What a piece of text is; `PAINT_CSS` gives each a theme token."""

Piece = tuple[str, Role]
"""Text that is clean already (`base/text.py`), and its role."""

PAINT_CLASSES = {
    "pane--text",
    "pane--strong",
    "pane--muted",
    "pane--head",
    "pane--key",
    "pane--primary",
    "pane--accent",
    "pane--success",
    "pane--warning",
    "pane--error",
    "pane--alarm",
    "pane--cursor",
}

MARGIN = 1
"""Cells left free at the left of a row. The one at the right is the scrollbar's."""

PAINT_CSS = """
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

SCROLL_CSS = """
    overflow-x: hidden;
    scrollbar-size: 0 1;
    scrollbar-gutter: stable;
    scrollbar-color: $text-muted 35%;
    scrollbar-color-hover: $text-muted;
    scrollbar-color-active: $text-muted;
    scrollbar-background: transparent;
    scrollbar-background-hover: transparent;
    scrollbar-background-active: transparent;
"""
"""Rules for a pane that scrolls: a thin, quiet bar in the right margin."""


def fit(text: str, width: int) -> str:
    """Return `text` in at most `width` cells, with an ellipsis where it was cut."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…"


def pieces_width(pieces: Iterable[Piece]) -> int:
    """Return the width of the pieces in cells."""
    return sum(cell_len(text) for text, _ in pieces)


def fit_pieces(pieces: Sequence[Piece], width: int) -> list[Piece]:
    """Return the pieces cut to `width` cells, with an ellipsis where they were cut."""
    if pieces_width(pieces) <= width:
        return list(pieces)
    result: list[Piece] = []
    room = width
    for index, (text, role) in enumerate(pieces):
        taken = cell_len(text)
        more = index + 1 < len(pieces)
        if taken < room or (taken == room and not more):
            result.append((text, role))
            room -= taken
            continue
        cut = fit(text, room) if taken > room else fit(text + "…", room)
        if cut:
            result.append((cut, role))
        break
    return result


def spread(left: Sequence[Piece], right: Sequence[Piece], width: int) -> list[Piece]:
    """Return a row of exactly `width` cells: `left` at the left, `right` flush right.

    The left side gives way; when the right side alone is too wide it is cut as well.
    """
    right = fit_pieces(right, width)
    taken = pieces_width(right)
    room = width - taken - (1 if taken else 0)
    left = fit_pieces(left, max(0, room))
    gap = width - taken - pieces_width(left)
    middle: list[Piece] = [(" " * gap, "text")] if gap > 0 else []
    return [*left, *middle, *right]


class Palette:
    """The rich styles of a widget's roles, looked up once per style change."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[Role | None, Style] = {}

    def clear(self) -> None:
        """Forget the styles: the theme, the focus or the rules have changed."""
        self._styles.clear()

    def __getitem__(self, role: Role) -> Style:
        style = self._styles.get(role)
        if style is None:
            style = self._widget.get_visual_style(f"pane--{role}").rich_style
            self._styles[role] = style
        return style

    @property
    def base(self) -> Style:
        """The widget's own colours."""
        style = self._styles.get(None)
        if style is None:
            style = self._styles[None] = self._widget.get_visual_style().rich_style
        return style

    def strip(self, pieces: Sequence[Piece], width: int, *, cursor: bool = False) -> Strip:
        """Return the pieces, behind the margin, as a strip of exactly `width` cells.

        Args:
            pieces: The row; cut or filled up at the right.
            width: In cells, the margin included.
            cursor: Draw it on the cursor's surface.
        """
        segments = [Segment(" " * MARGIN, self.base)]
        segments += [
            Segment(text, self[role]) for text, role in fit_pieces(pieces, width - MARGIN) if text
        ]
        strip = Strip(segments).adjust_cell_length(max(0, width), self.base)
        if cursor:
            surface = Style(bgcolor=self["cursor"].bgcolor)
            strip = Strip(
                [Segment(text, (style or self.base) + surface) for text, style, _ in strip],
                strip.cell_length,
            )
        return strip
