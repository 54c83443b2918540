"""The images of a conversation in cells: which are drawn, which are wanted, which can't be."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, NamedTuple

from amplifier_tui.host.events import ImageCard
from amplifier_tui.ui.images.cells import PixelSize, fit
from amplifier_tui.ui.images.decoding import too_large
from amplifier_tui.ui.images.showing import is_pdf

COLUMNS, ROWS = 40, 12
"""Cells of a thumbnail at most."""
_KEPT: Final = 256
"""Thumbnails that are kept, those that were shown last: some 3 kB each. No screen shows more.

One in view that had to go for another one there would be drawn again, and so on for ever.
"""
_MOST_WANTED: Final = 32
"""Thumbnails that wait to be drawn: more than a screen has."""

Fetch = Callable[[str, str], "Future[bytes]"]
"""Asks for the bytes of an image by its key and lane; see `SessionClient.image`."""


class Picture(NamedTuple):
    """An image in a size."""

    lane: str
    key: str
    size: PixelSize


class PictureRow(NamedTuple):
    """A row of cells of an image; it takes the place of as many spaces at the end of a line."""

    picture: Picture
    row: int


class Pictures:
    """Holds the thumbnails of a conversation.

    Attributes:
        fetch: Asks for images; None where they are shown as text.
        wanted: Those that are not drawn yet, the one that came on the screen last at the end.
        problems: Why an image can't be shown, by its key.
    """

    def __init__(self) -> None:
        self.fetch: Fetch | None = None
        self.wanted: dict[Picture, None] = {}
        self.problems: dict[str, str] = {}
        self._drawn: dict[Picture, bytes] = {}

    def problem_of(self, card: ImageCard) -> str:
        """Return why an image can't be shown, as far as that is known."""
        if is_pdf(card):
            return ""
        if not card.width:
            return "its size can't be read"
        return too_large(card.width, card.height) or self.problems.get(card.key, "")

    def picture_of(self, card: ImageCard, lane: str, columns: int) -> Picture | None:
        """Return an image as a thumbnail; None where it is shown as text."""
        if self.fetch is None or is_pdf(card) or self.problem_of(card):
            return None
        size = fit(card.width, card.height, min(columns, COLUMNS), ROWS)
        return Picture(lane, card.key, size)

    def pixels(self, picture: Picture) -> bytes | None:
        """Return a thumbnail's pixels; one that is not drawn is wanted from now on."""
        pixels = self._drawn.pop(picture, None)
        if pixels is None:
            self.wanted.pop(picture, None)
            self.wanted[picture] = None
            if len(self.wanted) > _MOST_WANTED:
                del self.wanted[next(iter(self.wanted))]
        else:
            self._drawn[picture] = pixels
        return pixels

    def keep(self, picture: Picture, pixels: bytes) -> None:
        """Take a thumbnail that was drawn; the one that was shown longest ago goes."""
        self._drawn[picture] = pixels
        if len(self._drawn) > _KEPT:
            del self._drawn[next(iter(self._drawn))]
