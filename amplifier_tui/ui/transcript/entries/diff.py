"""Rows of a diff as lines below a tool line."""

from collections.abc import Iterable, Iterator, Sequence

from amplifier_tui.base.text import clean
from amplifier_tui.ui.diffs.rows import (
    SIGNS,
    DiffRow,
    counted_lines,
    is_diff,
    number_width,
    parse_diff,
)
from amplifier_tui.ui.transcript.entries.scene import counted
from amplifier_tui.ui.transcript.lines import Span, StyledLine, indented, wrap
from amplifier_tui.ui.widgets.text_lines import FOLDED

_MOST_ROWS = 400


def read_diff(text: str) -> list[DiffRow]:
    """Return the rows of a diff, cleaned, of which text that is no part of it is left out."""
    rows = parse_diff(text, _shown)
    return [row for row in rows if row.kind != "other"] if is_diff(rows) else []


def _shown(line: str) -> str:
    return clean(line.rstrip("\r")).replace("\n", " ").expandtabs(4)


def counts(rows: Iterable[DiffRow]) -> list[Span]:
    """Return what the rows of a diff add and remove, as `+4 −1`."""
    spans: list[Span] = []
    for kind, number in zip(("added", "removed"), counted_lines(rows), strict=True):
        if number:
            gap = [Span(" ")] if spans else []
            spans += [*gap, Span(f"{SIGNS[kind]}{number}", kind)]
    return spans


def diff_lines(rows: Sequence[DiffRow], width: int) -> Iterator[StyledLine]:
    """Return the lines of a diff, of at most `width` cells."""
    digits = number_width(rows)
    files = sum(row.kind == "file" for row in rows)
    shown = 0
    in_file = False
    for index, row in enumerate(rows):
        if row.kind == "file":
            in_file = False
            if files > 1:
                yield StyledLine((Span(row.text, "strong"), Span("  "), *_file_counts(rows, index)))
        elif row.kind == "section":
            if in_file or row.text:
                words = f"{'…':>{digits}} {row.text}".rstrip()
                yield StyledLine((Span(words, "muted"),))
            in_file = True
        elif shown == _MOST_ROWS:
            more = counted(sum(row.is_line for row in rows) - shown, "more row")
            yield StyledLine((Span(f"… {more}", "muted"),))
            return
        else:
            shown += 1
            yield from _row_lines(row, digits, width)


def _file_counts(rows: Sequence[DiffRow], index: int) -> list[Span]:
    """Return the counts of the file whose name is the row at `index`."""
    end = next((n for n in range(index + 1, len(rows)) if rows[n].kind == "file"), len(rows))
    return counts(rows[index:end])


def _row_lines(row: DiffRow, digits: int, width: int) -> Iterator[StyledLine]:
    style, number_style = ("text", "muted") if row.kind == "context" else (row.kind, row.kind)
    number = Span(f"{row.number or '':>{digits}} ", number_style)
    gutter = (number, Span(f"{SIGNS[row.kind]} ", style))
    hanging = (Span(f"{FOLDED} ".rjust(digits + 3), "muted"),)
    folded = wrap(_emphasized_spans(row, style), max(1, width - digits - 3), words=False)
    for index, line in enumerate(folded):
        yield indented(line, hanging if index else gutter)


def _emphasized_spans(row: DiffRow, style: str) -> list[Span]:
    start, end = row.emphasis
    text = row.text
    if start == end:
        return [Span(text, style)]
    parts = ((text[:start], style), (text[start:end], f"{style}+b"), (text[end:], style))
    return [Span(part, part_style) for part, part_style in parts]
