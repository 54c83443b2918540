"""From pixels to rows of cells: half blocks, the upper pixel in front and the lower behind."""

from collections.abc import Iterator
from typing import NamedTuple

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

_UPPER = "▀"


class PixelSize(NamedTuple):
    """How many pixels are drawn: one to a cell across, two down."""

    width: int
    height: int

    @property
    def rows(self) -> int:
        """The rows of cells; of the last one the lower half may stay empty."""
        return (self.height + 1) // 2


def fit(width: int, height: int, columns: int, rows: int, *, enlarge: bool = False) -> PixelSize:
    """Return the size at which an image is drawn whole, in its proportions.

    Args:
        width: Of the image in pixels, as is `height`.
        columns: The room in cells, as is `rows`; a cell is twice as high as it is wide.
        enlarge: Fill the room also with a smaller image.
    """
    scale = min(max(1, columns) / width, 2 * max(1, rows) / height)
    if not enlarge:
        scale = min(1.0, scale)
    return PixelSize(max(1, round(width * scale)), max(1, round(height * scale)))


def row_segments(pixels: bytes, size: PixelSize, row: int) -> Iterator[Segment]:
    """Yield one row of cells, equal neighbours together.

    Args:
        pixels: Red, green and blue of each pixel, from the upper left on.
    """
    stride = 3 * size.width
    upper = pixels[2 * row * stride :][:stride]
    lower = pixels[(2 * row + 1) * stride :][:stride]
    begun = 0
    for end in range(3, stride + 3, 3):
        here = slice(begun, begun + 3)
        if upper[end : end + 3] != upper[here] or lower[end : end + 3] != lower[here]:
            ground = Color.from_rgb(*lower[here]) if lower else None
            style = Style(color=Color.from_rgb(*upper[here]), bgcolor=ground)
            yield Segment(_UPPER * ((end - begun) // 3), style)
            begun = end
