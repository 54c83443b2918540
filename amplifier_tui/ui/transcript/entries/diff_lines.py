"""A diff below its tool line: numbers, signs, and the part of a line that changed."""

from collections.abc import Iterator

from amplifier_tui.ui.transcript.entries.diff import Diff, Row
from amplifier_tui.ui.transcript.entries.scene import counted
from amplifier_tui.ui.transcript.text.lines import Span, StyledLine, indented
from amplifier_tui.ui.transcript.text.wrap import fold

_STYLES = {"context": "text", "added": "added", "removed": "removed"}
_SIGNS = {"context": " ", "added": "+", "removed": "−"}
_MOST_ROWS = 400


def diff_lines(diff: Diff, width: int) -> list[StyledLine]:
    """Return a diff as lines of at most `width` cells."""
    return list(_lines(diff, max(1, width)))


def counts(diff: Diff) -> tuple[Span, ...]:
    """Return what a diff adds and removes, as `+4 −1`."""
    spans = []
    if diff.added:
        spans.append(Span(f"+{diff.added}", "added"))
    if diff.added and diff.removed:
        spans.append(Span(" "))
    if diff.removed:
        spans.append(Span(f"−{diff.removed}", "removed"))
    return tuple(spans)


def _lines(diff: Diff, width: int) -> Iterator[StyledLine]:
    numbers = (row.number for file in diff.files for hunk in file.hunks for row in hunk.rows)
    digits = len(str(max(numbers, default=0)))
    shown = 0
    for file in diff.files:
        if len(diff.files) > 1:
            counted_file = (Span(file.path or "file", "strong"), Span("  "))
            yield StyledLine((*counted_file, *counts(Diff((file,)))))
        for number, hunk in enumerate(file.hunks):
            if number:
                section = f" {hunk.section}" if hunk.section else ""
                yield StyledLine((Span(f"{'…':>{digits}}{section}", "muted"),))
            for row in hunk.rows:
                if shown == _MOST_ROWS:
                    yield StyledLine(
                        (Span(f"… {counted(diff.rows - shown, 'more row')}", "muted"),)
                    )
                    return
                shown += 1
                yield from _row(row, digits, width)


def _row(row: Row, digits: int, width: int) -> Iterator[StyledLine]:
    style = _STYLES[row.kind]
    number_style = "muted" if row.kind == "context" else style
    gutter = (
        Span(f"{row.number:>{digits}} ", number_style),
        Span(f"{_SIGNS[row.kind]} ", style),
    )
    hanging = (Span(" " * (digits + 3), style),)
    pieces = fold(_emphasized(row, style), max(1, width - digits - 3))
    for index, (spans, join) in enumerate(pieces):
        yield indented(StyledLine(tuple(spans), join=join), hanging if index else gutter)


def _emphasized(row: Row, style: str) -> list[Span]:
    start, end = row.emphasis
    text = row.text
    if start == end:
        return [Span(text.expandtabs(4), style)]
    parts = ((text[:start], style), (text[start:end], f"{style}+b"), (text[end:], style))
    return [Span(part.expandtabs(4), part_style) for part, part_style in parts]
