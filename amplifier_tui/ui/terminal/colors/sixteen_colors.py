"""Colours on terminals with 16 of them: texts that can be read, and two surfaces that stay apart.

What the 16 look like is the terminal's own matter; only that the bright ones stand out from black,
and the dark ones from white, can be relied upon. So hue and brightness decide, not distance.
"""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Iterable
from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from amplifier_tui.ui.terminal.colors.color_depth import RGB

_BLACK, _WHITE, _BRIGHT, _BRIGHT_WHITE = 0, 7, 8, 15
_RED, _GREEN, _YELLOW, _BLUE, _MAGENTA, _CYAN = range(1, 7)
_HUES = ((0.3, _RED), (1.25, _YELLOW), (2.8, _GREEN), (3.3, _CYAN), (4.5, _BLUE), (5.5, _MAGENTA))
"""Up to which sixth of the circle, red around 0, a colour goes."""
_GREY = 0.25
"""Channels that lie no further apart, in parts of their range, make a grey."""
_STRONG = 0.2
"""From this distance to both surfaces on, in parts of the channels' range, a ground has its own
colour."""


class Palette16(LineFilter):
    """Turns the 24-bit colours of a line into the 16 of the terminal.

    Args:
        surfaces: Returns the theme's background and panel, as `#RRGGBB`.
    """

    def __init__(self, surfaces: Callable[[], tuple[str, str]]) -> None:
        super().__init__()
        self._surfaces = surfaces

    def apply(self, segments: Iterable[Segment], background: Color) -> list[Segment]:
        """Return the segments with colours of the terminal; `background` does not matter."""
        surfaces = self._surfaces()
        return [
            Segment(text, _converted(style, *surfaces) if style is not None else None, control)
            for text, style, control in segments
        ]


@lru_cache(4096)
def _converted(style: Style, background: str, panel: str) -> Style:
    surfaces = Color.parse(background).rgb, Color.parse(panel).rgb
    ground, text = _rgb(style.bgcolor), _rgb(style.color)
    dark = _is_dark(surfaces[0])
    return style + Style.from_color(
        RichColor.from_ansi(text_of(text, dark=dark)) if text else style.color,
        RichColor.from_ansi(ground_of(ground, *surfaces)) if ground else style.bgcolor,
    )


def ground_of(color: RGB, background: RGB, panel: RGB) -> int:
    """Return the number, 0 to 15, of a ground's colour."""
    dark = _is_dark(background)
    to_background, to_panel = _distance(color, background), _distance(color, panel)
    if min(to_background, to_panel) >= _STRONG:
        return _hue(color, bright=dark)
    if to_panel < to_background:
        return _BRIGHT if dark else _WHITE
    return _BLACK if dark else _BRIGHT_WHITE


def text_of(color: RGB, *, dark: bool) -> int:
    """Return the number, 0 to 15, of a text's colour, on a theme that is dark or not."""
    if _range(color) >= _GREY:
        return _hue(color, bright=dark)
    light = sum(color) / (3 * 255)
    if dark:
        return _BLACK if light < 0.3 else _WHITE if light < 0.75 else _BRIGHT_WHITE
    return _BLACK if light < 0.7 else _BRIGHT_WHITE


def _hue(color: RGB, *, bright: bool) -> int:
    if _range(color) < _GREY:
        return _WHITE if bright else _BRIGHT
    place = 6 * colorsys.rgb_to_hls(*color)[0]
    number = next((number for end, number in _HUES if place < end), _RED)
    if not bright:
        return number
    # On black, the blue of many terminals can't be read.
    return _BRIGHT + (_CYAN if number == _BLUE else number)


def _range(color: RGB) -> float:
    return (max(color) - min(color)) / 255


def _is_dark(color: RGB) -> bool:
    return sum(color) < 3 * 128


def _distance(one: RGB, other: RGB) -> float:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / (3 * 255)


def _rgb(color: RichColor | None) -> RGB | None:
    if color is None or color.type is not ColorType.TRUECOLOR or color.triplet is None:
        return None
    return color.triplet
