"""Rows of a diff as lines to be shown, one below the other or before beside after."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from amplifier_tui.ui.diffs.rows import SIGNS, DiffRow, change_runs, number_width
from amplifier_tui.ui.widgets.text_lines import LinePair, Spans, TextLine, shown_marks

SPLIT_WIDTH = 140
"""Cells from which before and after stand side by side."""

_NONE: Mapping[int, Spans] = {}
_GROUNDS = {"added": "on $success 10%", "removed": "on $error 10%"}
_EMPHASIS = {
    "added": "$foreground on $success 12% bold",
    "removed": "$foreground on $error 12% bold",
}
_SIGN_STYLES = {"added": "$text-success bold", "removed": "$text-error bold"}
_STYLES = {"file": "$text-secondary bold", "section": "$text-muted", "other": "$text-muted"}


class DiffLines(NamedTuple):
    """A diff laid out: its lines, the cells of the column before them, where changes begin."""

    lines: tuple[TextLine | LinePair, ...]
    lead: int
    changes: tuple[int, ...]


def lay_out(
    rows: Sequence[DiffRow], *, split: bool = False, syntax: Mapping[int, Spans] = _NONE
) -> DiffLines:
    """Return the lines of a diff; `syntax` has the colours of rows by their index.

    With `split` what was removed stands beside what was added in its place.
    """
    digits = max(4, number_width(rows))
    lines: list[TextLine | LinePair] = []
    changes: list[int] = []
    at = 0
    in_change = False
    for removed, added in change_runs(rows):
        first = removed[0] if removed else added[0]
        changed = first.kind in _GROUNDS
        if changed and not in_change:
            changes.append(len(lines))
        in_change = changed
        ways = syntax.get
        old = [_line(row, digits, ways(at + n, ()), split) for n, row in enumerate(removed)]
        at += len(removed)
        new = [_line(row, digits, ways(at + n, ())) for n, row in enumerate(added)]
        at += len(added)
        if not split or not first.is_line:
            lines += (*old, *new)
        elif changed:
            lines += [LinePair(left, right) for left, right in zip_longest(old, new)]
        else:
            lines.append(LinePair(old[0], _line(first, digits, ways(at - 1, ()))))
    return DiffLines(tuple(lines), digits + 3, tuple(changes))


def _line(row: DiffRow, digits: int, syntax: Spans, old: bool = False) -> TextLine:
    """Return a row as a line; `old` numbers it as before the change."""
    marks = shown_marks(row.text)
    if not row.is_line:
        text = f"⋯ {row.text}".rstrip() if row.kind == "section" else row.text
        return TextLine(text, _STYLES[row.kind], marks=shown_marks(text))
    number = (row.old if old else row.number) or ""
    spans = syntax
    if row.emphasis != (0, 0):
        spans = (*spans, (*row.emphasis, _EMPHASIS[row.kind]))
    return TextLine(
        row.text,
        lead=f"{number:>{digits}} {SIGNS[row.kind]} ",
        lead_style=_SIGN_STYLES.get(row.kind, "$text-muted"),
        marks=marks,
        spans=spans,
        ground=_GROUNDS.get(row.kind, ""),
    )
