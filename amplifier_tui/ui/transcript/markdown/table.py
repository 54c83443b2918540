"""Tables: columns that fit, wrapped cells, and a list of records where no columns fit."""

from collections.abc import Sequence
from typing import NamedTuple

from amplifier_tui.ui.transcript.lines import Span, StyledLine, spaces, width_of, wrap

Cell = list[Span]

_GAP = 2
_NARROWEST = 6


class Table(NamedTuple):
    """A table; every row is as long as the header.

    `aligns` are empty, `left`, `center` or `right`. `naturals`, the width in cells of each column,
    comes from the head and the first rows: a later one never moves a row on screen.
    """

    header: list[Cell]
    rows: list[list[Cell]]
    aligns: list[str]
    naturals: tuple[int, ...]


def table_lines(table: Table, measure: int, base: str, *, continued: bool) -> list[StyledLine]:
    """Return a table as lines of at most `measure` cells; a continued one without its header."""
    widths = column_widths(table.naturals, measure)
    if widths is None:
        return _records(table, measure, base)
    lines: list[StyledLine] = []
    if not continued:
        lines += _row(table.header, widths, table.aligns, base)
        rule: list[Span] = []
        for width in widths:
            rule += [Span("─" * width, "muted"), spaces(_GAP, base)]
        lines.append(StyledLine(tuple(rule[:-1])))
    for row in table.rows:
        lines += _row(row, widths, table.aligns, base)
    return lines


def column_widths(naturals: Sequence[int], measure: int) -> list[int] | None:
    """Return the width of each column, or None when they would be too narrow to read.

    Columns that need less than a fair share keep what they need; the others share the rest in
    proportion to what they need.
    """
    available = measure - _GAP * (len(naturals) - 1)
    if sum(naturals) <= available:
        return list(naturals)
    if available < _NARROWEST * len(naturals):
        return None
    widths = list(naturals)
    wide = list(range(len(naturals)))
    while wide:
        fair = available // len(wide)
        modest = [column for column in wide if naturals[column] <= fair]
        if not modest:
            break
        available -= sum(naturals[column] for column in modest)
        wide = [column for column in wide if column not in modest]
    needed = sum(naturals[column] for column in wide)
    spare = available - _NARROWEST * len(wide)
    for column in wide:
        share = spare * naturals[column] // needed
        widths[column] = _NARROWEST + share
    return widths


def _row(
    cells: Sequence[Cell], widths: Sequence[int], aligns: Sequence[str], base: str
) -> list[StyledLine]:
    wrapped = [wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
    lines: list[StyledLine] = []
    for number in range(max(map(len, wrapped))):
        spans: list[Span] = []
        for cell, width, align in zip(wrapped, widths, aligns, strict=True):
            if spans:
                spans.append(spaces(_GAP, base))
            spans += _aligned(cell[number].spans if number < len(cell) else (), width, align, base)
        while spans and not spans[-1].text.strip():
            spans.pop()
        lines.append(StyledLine(tuple(spans)))
    return lines


def _aligned(spans: Sequence[Span], width: int, align: str, base: str) -> list[Span]:
    room = max(0, width - width_of(spans))
    before = {"center": room // 2, "right": room}.get(align, 0)
    aligned = [spaces(before, base), *spans, spaces(room - before, base)]
    return [span for span in aligned if span.text]


def _records(table: Table, measure: int, base: str) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for row in table.rows:
        for number, (head, cell) in enumerate(zip(table.header, row, strict=True)):
            if number and not cell:
                continue
            label = [*head, Span(": ", base)] if number else []
            content = [*label, *cell] if number else [*_emphasized(cell)]
            indent = min(2, measure - 1) if number else 0
            prefix = (spaces(indent, base),) if indent else ()
            rows = wrap(content, max(1, measure - indent))
            lines += [line._replace(spans=(*prefix, *line.spans)) for line in rows]
    heads = (line for cell in table.header for line in wrap(cell, measure))
    return lines or [line._replace(join=None) for line in heads]


def _emphasized(cell: Cell) -> list[Span]:
    return [span if "+" in span.style else span._replace(style=f"{span.style}+b") for span in cell]
