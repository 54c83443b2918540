"""Laying out readable text: as wide as the terminal, or as wide as it likes in a pipe."""

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from amplifier_tui.base.text import one_line

_UNLIMITED = 100_000
_LONGEST = 2_000
_GAP = 2

Paint = Mapping[int, Callable[[str], str]]
"""Makes the cells of a column coloured; gets the cell as it is shown."""


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is there, and a terminal; a closed one is None."""
    return stream is not None and stream.isatty()


def width() -> int:
    """Return the columns there are; in a pipe nothing is cut or wrapped."""
    if not is_terminal(sys.stdout):
        return _UNLIMITED
    return max(40, shutil.get_terminal_size().columns)


def table(
    rows: Iterable[Sequence[str]], *, indent: int = 0, paint: Paint | None = None
) -> list[str]:
    """Return aligned lines; the last column takes what is left and is continued below itself.

    Args:
        rows: Cells, each as it came from a bundle.
        indent: Spaces before each line.
        paint: Colours by column; not for the last one.
    """
    return [line for row in table_rows(rows, indent=indent, paint=paint) for line in row]


def table_rows(
    rows: Iterable[Sequence[str]], *, indent: int = 0, paint: Paint | None = None
) -> list[list[str]]:
    """Return the lines of each row of a `table`."""
    clean = [[one_line(cell, _LONGEST) for cell in row] for row in rows]
    if not clean:
        return []
    room = width() - indent
    # One long name must not push everything else out of the window.
    most = max(12, room // 3)
    sizes = [min(most, max(map(cells, column))) for column in zip(*clean, strict=True)][:-1]
    left = indent + sum(sizes) + _GAP * len(sizes)
    laid: list[list[str]] = []
    for row in clean:
        padded = "".join(
            f"{_painted(cut(cell, size), paint, place)}{_padding(cell, size)}"
            for place, (cell, size) in enumerate(zip(row[:-1], sizes, strict=True))
        )
        first, *more = wrapped(row[-1], max(20, width() - left))
        head = f"{' ' * indent}{padded}{first}".rstrip()
        laid.append([head, *(f"{' ' * left}{line}" for line in more)])
    return laid


def paragraph(text: str, *, indent: int = 0) -> list[str]:
    """Return a text in lines that fit."""
    lines = wrapped(one_line(text, _LONGEST), width() - indent)
    return [f"{' ' * indent}{line}" for line in lines]


def _painted(cell: str, paint: Paint | None, place: int) -> str:
    make = paint.get(place) if paint is not None else None
    return make(cell) if make is not None and cell else cell


def _padding(cell: str, size: int) -> str:
    return " " * (size - min(size, cells(cut(cell, size))) + _GAP)


def cells(text: str) -> int:
    """Return the columns a cleaned text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, most: int) -> str:
    """Return a text of at most so many columns, with an ellipsis where something is missing."""
    if cells(text) <= most:
        return text
    return f"{_fitting(text, most - 1)}…"


def wrapped(text: str, most: int) -> list[str]:
    """Return a text on one line as lines of at most so many columns, at least one line."""
    lines: list[str] = []
    line = ""
    for piece in _pieces(text, most):
        longer = f"{line} {piece}" if line else piece
        if cells(longer) > most:
            lines.append(line)
            longer = piece
        line = longer
    return [*lines, line]


def _pieces(text: str, most: int) -> Iterator[str]:
    """Yield the words, too long ones in parts."""
    for word in text.split(" "):
        rest = word
        while cells(rest) > most:
            part = _fitting(rest, most) or rest[0]
            yield part
            rest = rest[len(part) :]
        yield rest


def _fitting(text: str, most: int) -> str:
    room, end = most, 0
    for character in text:
        room -= cells(character)
        if room < 0:
            break
        end += 1
    return text[:end]
