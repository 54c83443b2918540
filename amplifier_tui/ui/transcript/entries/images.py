"""The images of a prompt or of a tool's result: small, with what they are; or a line of text."""

from collections.abc import Sequence
from typing import Final

from amplifier_tui.host.events import ImageCard
from amplifier_tui.ui.images.pictures import PictureRow
from amplifier_tui.ui.images.showing import image_line, image_words
from amplifier_tui.ui.transcript.entries.scene import Scene, text_lines
from amplifier_tui.ui.transcript.lines import StyledLine, spaces

MOST_DRAWN: Final = 4
"""Images of one entry that are drawn; the others are lines."""


def image_lines(
    cards: Sequence[ImageCard], lane: str, scene: Scene, width: int
) -> list[StyledLine]:
    """Return the images of an entry of a lane in so many cells; nothing of them is copied."""
    lines: list[StyledLine] = []
    for number, card in enumerate(cards):
        pictures = scene.pictures
        picture = pictures.picture_of(card, lane, width) if number < MOST_DRAWN else None
        if picture is None:
            problem = pictures.problem_of(card) if pictures.fetch is not None else ""
            words = f"{image_line(card)} · {problem}" if problem else image_line(card)
            lines += text_lines(words, "muted", width)
            continue
        cells = spaces(picture.size.width)
        lines += [
            StyledLine((cells,), lead=len(cells.text), picture=PictureRow(picture, row))
            for row in range(picture.size.rows)
        ]
        lines += text_lines(image_words(card), "muted", width)
    return lines


def image_rows(cards: Sequence[ImageCard], scene: Scene) -> int:
    """Return about how many rows the images of an entry take."""
    found = (scene.pictures.picture_of(card, "", scene.column.measure) for card in cards)
    return sum(1 + (each.size.rows if each is not None else 0) for each in found)
