"""Rows of styled text, cut to a width in cells; a style is a name (see `palette.py`)."""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

Tone = Literal["text", "strong", "muted", "primary", "success", "warning", "error"]
Role = Tone | Literal["head", "key", "accent", "alarm", "cursor"]
"""What a piece of a pane's text is."""

Piece = tuple[str, Role]
"""Text that is clean already (`base/text.py`), and its role."""

Row = list[Piece]

StyleT = TypeVar("StyleT")

PAD = "pad"
"""The style of spaces that only move what follows them; copied as two spaces at most."""


def fit(text: str, width: int) -> str:
    """Return `text` in at most `width` cells, with an ellipsis where it was cut."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…"


def pieces_width(pieces: Iterable[tuple[str, object]]) -> int:
    """Return the width of the pieces in cells."""
    return sum([cell_len(text) for text, _ in pieces])


def fit_pieces(pieces: Sequence[tuple[str, StyleT]], width: int) -> list[tuple[str, StyleT]]:
    """Return the pieces cut to `width` cells, with an ellipsis where they were cut."""
    if pieces_width(pieces) <= width:
        return list(pieces)
    result: list[tuple[str, StyleT]] = []
    room = width
    for index, (text, style) in enumerate(pieces):
        taken = cell_len(text)
        if taken < room or (taken == room and index + 1 == len(pieces)):
            result.append((text, style))
            room -= taken
            continue
        cut = fit(text, room) if taken > room else fit(text + "…", room)
        if cut:
            result.append((cut, style))
        break
    return result


def spread(left: Sequence[Piece], right: Sequence[Piece], width: int) -> Row:
    """Return a row of `width` cells: `right` flush right, and of `left` what has room beside it."""
    right = fit_pieces(right, width)
    taken = pieces_width(right)
    left = fit_pieces(left, max(0, width - taken - (1 if taken else 0)))
    gap = width - taken - pieces_width(left)
    middle: Row = [(" " * gap, "text")] if gap > 0 else []
    return [*left, *middle, *right]


def highlighted(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """Return a strip with the background of `style` from character `start` to `end`."""
    if start >= end:
        return strip
    segments: list[Segment] = []
    position = 0
    for text, own, control in strip:
        low, high = max(start - position, 0), min(end - position, len(text))
        position += len(text)
        if low >= high:
            segments.append(Segment(text, own, control))
            continue
        marked = own + style if own is not None else style
        parts = ((text[:low], own), (text[low:high], marked), (text[high:], own))
        segments += [Segment(part, part_style) for part, part_style in parts if part]
    return Strip(segments, strip.cell_length)
