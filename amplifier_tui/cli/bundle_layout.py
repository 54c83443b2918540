"""Laying out readable text: as wide as the terminal, or as wide as it likes in a pipe."""

import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from amplifier_tui.base.text import one_line
from amplifier_tui.cli.bundle_cells import cells, cut, wrapped

_UNLIMITED = 100_000
_LONGEST = 2_000
_GAP = 2

Paint = Mapping[int, Callable[[str], str]]
"""Makes the cells of a column coloured; gets the cell as it is shown."""


def width() -> int:
    """Return the columns there are; in a pipe nothing is cut or wrapped."""
    if not sys.stdout.isatty():
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
