"""An image, as large as the screen."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import ImageCard
from amplifier_tui.ui.dialogs.parts.sheet import KeyRow, Sheet
from amplifier_tui.ui.images.cells import PixelSize, fit, row_segments
from amplifier_tui.ui.images.decoding import ImageError, draw, too_large
from amplifier_tui.ui.images.pictures import Fetch
from amplifier_tui.ui.images.showing import image_words
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.widgets import styled


class ImageCells(Widget):
    """Draws an image in the middle of its place, or says a line there."""

    DEFAULT_CSS = "ImageCells { height: 1fr; background: $background; color: $text-muted; }"

    def __init__(self) -> None:
        super().__init__()
        self._pixels = b""
        self._drawn = PixelSize(0, 0)
        self._said = ""

    def show(self, pixels: bytes, size: PixelSize) -> None:
        """Show an image."""
        self._pixels, self._drawn, self._said = pixels, size, ""
        self.refresh()

    def say(self, text: str) -> None:
        """Say something in its place."""
        self._pixels, self._drawn, self._said = b"", PixelSize(0, 0), text
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        width, ground = self.size.width, self.rich_style
        row = y - (self.size.height - self._drawn.rows) // 2
        left = " " * ((width - self._drawn.width) // 2)
        if 0 <= row < self._drawn.rows:
            cells = row_segments(self._pixels, self._drawn, row)
            # The ground shows through below an odd last row of pixels.
            found = [Segment(each.text, ground + (each.style or Style())) for each in cells]
            return Strip([Segment(left, ground), *found]).adjust_cell_length(width, ground)
        said = styled.fit(f" {self._said}", width) if y == self.size.height // 2 else ""
        return Strip([Segment(said, ground)]).adjust_cell_length(width, ground)


class ImageSheet(Sheet[None]):
    """Shows the images of an entry of the conversation, one at a time.

    Args:
        lane: Whose they are.
        fetch: Gives their bytes.
    """

    SCOPE = "image"
    BINDINGS: ClassVar[list[BindingType]] = bindings("image")
    DEFAULT_CSS = """
    ImageSheet > #sheet { height: 100%; padding: 0 2; }
    ImageSheet #image-title { text-style: bold; color: $text-secondary; }
    ImageSheet #image-title { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, cards: Sequence[ImageCard], lane: str, fetch: Fetch, keymap: Keymap) -> None:
        super().__init__()
        self._cards = cards
        self._lane = lane
        self._fetch = fetch
        self._keymap = keymap
        self._at = 0
        self._data: dict[str, bytes] = {}
        self._reading: asyncio.Future[bytes] | None = None

    def _content(self) -> ComposeResult:
        """Make the head, the image and the keys."""
        yield Static(id="image-title", classes="one-row")
        yield ImageCells()
        others = [self.choice("next", "Next"), self.choice("previous", "Previous")]
        yield KeyRow([*(others if len(self._cards) > 1 else ()), self.choice("close", "Close")])

    def _foot(self) -> int:
        return 0

    def _fit(self, rows: int) -> None:
        # The sizes of the parts are known after the layout.
        self.call_after_refresh(self._show)

    def action_step(self, step: int) -> None:
        """Show the next or previous image."""
        self._at = (self._at + step) % len(self._cards)
        self._show()

    def _show(self) -> None:
        if self.is_mounted:
            self._draw()

    @work(exclusive=True)
    async def _draw(self) -> None:
        card = self._cards[self._at]
        cells = self.query_one(ImageCells)
        place = f"{self._at + 1} of {len(self._cards)} · " if len(self._cards) > 1 else ""
        self.query_one("#image-title", Static).update(Content(f"{place}{image_words(card)}"))
        problem = too_large(card.width, card.height) if card.width else "its size can't be read"
        if problem:
            cells.say(problem)
            return
        try:
            if card.key not in self._data:
                cells.say("Reading it…")
                # Only the one that is looked at is kept.
                self._data = {card.key: await self.answer_of(self._fetch(card.key, self._lane))}
            size = fit(card.width, card.height, *cells.size, enlarge=True)
            cells.show(await self._read(self._data[card.key], size), size)
        except (RuntimeError, ImageError) as error:
            cells.say(one_line(str(error), 200))

    async def _read(self, data: bytes, size: PixelSize) -> bytes:
        """Draw in a thread, once the one before has ended: it can't be stopped and takes memory."""
        if self._reading is not None:
            await asyncio.wait([self._reading])
        self._reading = asyncio.ensure_future(asyncio.to_thread(draw, data, size))
        return await asyncio.shield(self._reading)
