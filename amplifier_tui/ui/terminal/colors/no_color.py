"""Without colours (NO_COLOR): what a colour said is told by strength instead.

Textual makes every colour the grey of its brightness. A red, which is there to be seen, becomes
darker than the plain words around it that way.
"""

from collections.abc import Iterable
from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from amplifier_tui.ui.terminal.colors.color_depth import PLAIN

_HALF = 0.5
"""The brightness, in parts of white, from which a ground is light."""


class Strong(LineFilter):
    """Turns the plain colours of texts into greys that stand out as much as the colours did."""

    def apply(self, segments: Iterable[Segment], background: Color) -> list[Segment]:
        """Return the segments; `background` is the ground of those that have none of their own."""
        ground = background.rgb
        return [
            Segment(text, _strengthened(style, ground) if style is not None else None, control)
            for text, style, control in segments
        ]


@lru_cache(4096)
def _strengthened(style: Style, ground: tuple[int, int, int]) -> Style:
    color = style.color.triplet if style.color is not None else None
    if color is None or max(color) - min(color) < PLAIN:
        return style
    own = style.bgcolor.triplet if style.bgcolor is not None else None
    is_light = Color(*(own or ground)).brightness > _HALF
    grey = min(color) if is_light else max(color)
    return style + Style(color=RichColor.from_rgb(grey, grey, grey))
