"""Lines that must be readable to the last character: made visible, and folded, never cut."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.cells import cell_len, get_character_cell_size

from amplifier_tui.base.text import one_line, reveal

Spans = tuple[tuple[int, int, str], ...]
"""Parts of a text, each from a character to another one, with the style of each."""

FOLDED = "»"
"""Stands before a row that goes on with the line above it."""

NOTE_GAP = 3
"""Cells between the longest text and a column of notes."""

# Spaces that look like the usual one and are not: a shell takes them for letters.
_ODD_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")
_SHOWN = re.compile("‹U\\+[0-9A-F]{4,6}›")
_BLANKS = re.compile("[ \t]+")
LINE_END = "↵"
"""Stands for the end of a line where a text must stay on one row."""
TAB = "→   "
"""A tab as it is shown."""


class TextLine(NamedTuple):
    """One line of a text, before it is folded.

    `text`, made visible already, has no newline; `style` is that of all of it, `spans` those of
    parts, and `ground` that of the row it is on. `lead` stands in a column before it and `note`
    at its right end, or from the cell `note_at` of the text on, where it has room there; `marks`
    are where its characters are drawn in the warning colour.
    """

    text: str
    style: str = ""
    lead: str = ""
    lead_style: str = "$text-muted"
    note: str = ""
    note_style: str = "$text-muted"
    note_at: int = 0
    marks: tuple[tuple[int, int], ...] = ()
    spans: Spans = ()
    ground: str = ""


class LinePair(NamedTuple):
    """Two lines side by side; None where there is none."""

    left: TextLine | None
    right: TextLine | None


class FoldedRow(NamedTuple):
    """A part of a line: its text, where that begins in the line, and the note that ends it.

    The note begins at the cell `note_at`, or, where that is 0, so that it ends with the row.
    """

    text: str
    offset: int = 0
    note: str = ""
    note_at: int = 0


def visible(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return a line with control, invisible and odd characters written out, and where those are.

    A tab becomes an arrow and three spaces.
    """
    if text.isascii() and text.isprintable():
        return text, ()
    shown = _ODD_SPACES.sub(lambda m: f"‹U+{ord(m[0]):04X}›", reveal(text)).replace("\t", TAB)
    return shown, shown_marks(shown)


def visible_line(text: str, limit: int = 400) -> str:
    """Return a text on one line of at most `limit` characters, with nothing hidden in it.

    The end of a line is an arrow: without it what stands behind a `#` reads like a comment.
    """
    if text.isascii() and text.isprintable():
        return one_line(text, limit)
    start = _BLANKS.sub(" ", text[: limit * 4].replace("\r\n", "\n")).strip(" \n")
    lines = (visible(line)[0] for part in start.split("\n") if (line := part.strip(" ")))
    shown = f" {LINE_END} ".join(lines)
    if len(shown) <= limit and len(text) <= limit * 4:
        return shown
    return shown[: limit - 1].rstrip() + "…"


def shown_marks(text: str) -> tuple[tuple[int, int], ...]:
    """Return where characters were written out in a text `visible` has made."""
    return tuple(found.span() for found in _SHOWN.finditer(text)) if "‹U+" in text else ()


def visible_lines(text: str) -> list[TextLine]:
    """Return the lines of a text, made visible. A carriage return is a character, not a line."""
    lines = map(visible, text.split("\n"))
    return [TextLine(shown, marks=marks) for shown, marks in lines]


def fold(line: TextLine, room: int, mark: int = 0) -> list[FoldedRow]:
    """Return a line in rows of `room` cells, broken after words where there are words.

    The rows after the first have `mark` cells less. A note gets rows where it does not fit.
    """
    text = line.text
    if not line.note and len(text) <= room and text.isascii():
        return [FoldedRow(text)]
    parts = list(_parts(text, room, max(1, room - mark)))
    column = max(line.note_at, cell_len(text) + 2)
    fits = column + cell_len(line.note) <= room
    rows: list[FoldedRow] = []
    offset = 0
    for part in parts:
        note = line.note if fits and not rows else ""
        rows.append(FoldedRow(part, offset, note, column if line.note_at else 0))
        offset += len(part)
    if line.note and not fits:
        later = max(1, room - mark)
        for part in map(str.rstrip, _parts(line.note, later, later)):
            at = line.note_at if line.note_at + cell_len(part) <= later else 0
            rows.append(FoldedRow("", offset, part, at))
    return rows


def note_column(lines: Iterable[TextLine], room: int) -> int:
    """Return the cell at which most of the notes that want one column have room; 0 for none."""
    noted = [line for line in lines if line.note_at]
    sizes = [(cell_len(line.text), cell_len(line.note)) for line in noted]
    most = max((line.note_at for line in noted), default=0)
    columns = {most, *(size + NOTE_GAP for size, _ in sizes if size + NOTE_GAP < most)}

    def fitting(column: int) -> tuple[int, int]:
        fits = sum(size + 2 <= column and column + note <= room for size, note in sizes)
        return fits, column

    return max(columns, key=fitting)


def _parts(text: str, room: int, later_room: int) -> Iterator[str]:
    """Yield a text in parts; no character of it is lost."""
    start = 0
    narrow = text.isascii()
    while True:
        end = start + room if narrow else _reach(text, start, room)
        if end >= len(text):
            yield text[start:]
            return
        end = break_after(text, start, end, later_room)
        yield text[start:end]
        start, room = end, later_room


def break_after(text: str, start: int, end: int, later_room: int) -> int:
    """Return where a row from `start` to `end` is broken: after a word where there is one.

    In the first half of the row that is done only where it keeps the next word whole: where that
    has no more than `later_room` characters, which the next row has.
    """
    space = text.rfind(" ", start, end)
    if space >= start + (end - start) // 2:
        return space + 1
    if space < 0 or not text[start:space].strip():
        return end
    following = space + 1
    whole = len(text) - following <= later_room
    whole = whole or text.find(" ", end, following + later_room + 1) >= 0
    return following if whole else end


def _reach(text: str, start: int, room: int) -> int:
    """Return how far a text gets from `start` in so many cells, by one character at least."""
    used = 0
    for index in range(start, len(text)):
        used += get_character_cell_size(text[index])
        if used > room and index > start:
            return index
    return len(text)
