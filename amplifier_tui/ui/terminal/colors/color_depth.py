"""Colours on terminals with a palette of 256: the nearest one, greys included.

Rich's own conversion rounds to the colour cube, in which every dark surface is black or navy;
here the surfaces of a theme stay apart. A plain colour is no grey: a dark green, between two levels
of the cube, would lose what it says. The tints below added and removed lines lie nearest to one
grey: they get colours of their own. The palette is xterm's: a cube of 6 levels a channel from
16 on, and 24 greys from 232 on.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from amplifier_tui.ui.app.themes import contrast

_LEVELS = (0, 95, 135, 175, 215, 255)
PLAIN = 64
"""From this difference between its channels on, a colour is never shown as a grey."""

RGB = tuple[int, int, int]


@lru_cache(4096)
def nearest(red: int, green: int, blue: int) -> int:
    """Return the number, 16 to 255, of the palette colour nearest to the channels (0 to 255).

    Where a grey is nearest to a plain colour, it is the cube's colour nearest in its tint.
    """
    wanted = (red, green, blue)
    cube = [_level(channel) for channel in wanted]
    grey = min(23, max(0, (sum(wanted) // 3 - 3) // 10))
    candidates = (16 + 36 * cube[0] + 6 * cube[1] + cube[2], 232 + grey, 232 + min(23, grey + 1))
    found = min(candidates, key=lambda number: _distance(channels(number), wanted))
    if max(wanted) - min(wanted) < PLAIN or len(set(channels(found))) > 1:
        return found
    around = product(*(_around(channel) for channel in wanted))
    numbers = [16 + 36 * red + 6 * green + blue for red, green, blue in around]
    return min(
        (number for number in numbers if len(set(channels(number))) > 1),
        key=lambda number: _distance(_tint(channels(number)), _tint(wanted)),
    )


def channels(number: int) -> RGB:
    """Return the channels of a palette colour from 16 on."""
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return level, level, level
    cube = number - 16
    return _LEVELS[cube // 36], _LEVELS[cube // 6 % 6], _LEVELS[cube % 6]


class Ground(NamedTuple):
    """A palette colour below text, and the least contrast of what stands on it."""

    number: int
    least: float


def _no_grounds() -> Mapping[RGB, Ground]:
    return {}


class Palette256(LineFilter):
    """Turns the 24-bit colours of a line into palette colours.

    Args:
        grounds: Returns the backgrounds that are not to be the nearest colour.
    """

    def __init__(self, grounds: Callable[[], Mapping[RGB, Ground]] = _no_grounds) -> None:
        super().__init__()
        self._grounds = grounds

    def apply(self, segments: Iterable[Segment], background: Color) -> list[Segment]:
        """Return the segments with the nearest colours; `background` does not matter."""
        grounds = self._grounds()
        return [
            Segment(text, _shown(style, grounds) if style is not None else None, control)
            for text, style, control in segments
        ]


@lru_cache(16)
def change_grounds(
    surfaces: tuple[str, ...], added: str, removed: str, muted: str, *, dark: bool
) -> Mapping[RGB, Ground]:
    """Return what stands for the tints below added and removed lines (`ui/diffs/lines.py`).

    Args:
        surfaces: The colours of a theme that a diff is shown on, the last as its texts' ground.
        muted: The faintest text; what it has of contrast, up to 7, others keep, too.
    """
    least = min(7.0, max(4.5, contrast(Color.parse(muted), Color.parse(surfaces[-1]))))
    found: dict[RGB, Ground] = {}
    for tint, number in ((added, 22 if dark else 194), (removed, 52 if dark else 224)):
        for surface in surfaces:
            row = Color.parse(surface).blend(Color.parse(tint), 0.1)
            for each in (row, row.blend(Color.parse(tint), 0.12)):
                found[each.rgb] = Ground(number, least)
    return found


def _shown(style: Style, grounds: Mapping[RGB, Ground]) -> Style:
    triplet = style.bgcolor.triplet if style.bgcolor is not None else None
    ground = grounds.get(triplet) if triplet is not None else None
    return _converted(style) if ground is None else _on_ground(style, ground)


@lru_cache(4096)
def _on_ground(style: Style, ground: Ground) -> Style:
    """Return a style on a ground, its text lighter or darker where it could not be read there."""
    below, text = Color(*channels(ground.number)), _converted(style).color
    triplet = style.color.triplet if style.color is not None else None
    if triplet is not None:
        ends = Color(255, 255, 255) if below.brightness < 0.5 else Color(0, 0, 0)
        steps = (Color(*triplet).blend(ends, step / 10) for step in range(11))
        numbers = [nearest(*each.rgb) for each in steps]
        readable = (
            number
            for number in numbers
            if contrast(Color(*channels(number)), below) >= ground.least
        )
        text = RichColor.from_ansi(next(readable, numbers[-1]))
    return style + Style.from_color(text, RichColor.from_ansi(ground.number))


@lru_cache(4096)
def _converted(style: Style) -> Style:
    color, background = _palette_color(style.color), _palette_color(style.bgcolor)
    if color is None and background is None:
        return style
    return style + Style.from_color(color, background)


def _palette_color(color: RichColor | None) -> RichColor | None:
    if color is None or color.type is not ColorType.TRUECOLOR or color.triplet is None:
        return None
    return RichColor.from_ansi(nearest(*color.triplet))


def _level(channel: int) -> int:
    return min(range(6), key=lambda level: abs(_LEVELS[level] - channel))


def _around(channel: int) -> set[int]:
    """Return the levels of the cube below and above a channel."""
    above = bisect_left(_LEVELS, channel)
    return {max(0, above - 1), above}


def _tint(color: RGB) -> RGB:
    """Return the differences between the channels, by which a colour differs from a grey."""
    red, green, blue = color
    return red - green, green - blue, blue - red


def _distance(one: RGB, other: RGB) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
