"""Unified diff text to rows with line numbers, and those to lines below a tool line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from amplifier_tui.base.text import clean
from amplifier_tui.ui.transcript.entries.scene import counted
from amplifier_tui.ui.transcript.lines import Span, StyledLine, indented, wrap

RowKind = Literal["context", "added", "removed"]

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)")
_PREAMBLE = ("diff ", "index ", "new file", "deleted file", "old mode", "new mode", "similarity ")
_EMPHASIS_LIMIT = 500
_KINDS: dict[str, RowKind] = {" ": "context", "+": "added", "-": "removed"}


class Row(NamedTuple):
    """A line of a hunk: its numbers before and after (or 0), and its clean text without the mark.

    `emphasis` is the part that differs from its counterpart, when there is one.
    """

    kind: RowKind
    old: int
    new: int
    text: str
    emphasis: tuple[int, int] = (0, 0)

    @property
    def number(self) -> int:
        """The number to show: where the line stands after, or stood before."""
        return self.new or self.old


class Hunk(NamedTuple):
    """A run of rows; `section` is what the diff names it after (a function, say)."""

    section: str
    rows: list[Row]


@dataclass(slots=True)
class FileDiff:
    """What changes in one file."""

    path: str = ""
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """The rows of all hunks."""
        return [row for hunk in self.hunks for row in hunk.rows]


@dataclass(slots=True)
class _Place:
    """The next line's numbers before and after, and how many of each the hunk still has."""

    old: int = 1
    new: int = 1
    left_old: int = 0
    left_new: int = 0


def parse_diff(text: str) -> list[FileDiff]:
    """Parse unified diff text, of one file or several; what is not a diff gives no files.

    Nothing is trusted: counts in hunk headers only tell where a hunk ends, and lines that do not
    fit are skipped.
    """
    files = [FileDiff()]
    place = _Place()
    lines = [clean(line.rstrip("\r")).replace("\n", " ") for line in text.split("\n")]
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        current = files[-1]
        if (place.left_old > 0 or place.left_new > 0) and _take_row(current, place, line):
            continue
        if line.startswith("--- ") and index < len(lines) and lines[index].startswith("+++ "):
            files.append(FileDiff(_path(line[4:], lines[index][4:])))
            place = _Place()
            index += 1
        elif match := _HUNK.match(line):
            left_old, left_new = int(match[2] or 1), int(match[4] or 1)
            place = _Place(int(match[1]), int(match[3]), left_old, left_new)
            current.hunks.append(Hunk(match[5].strip(), []))
        elif line.startswith(_PREAMBLE):
            place.left_old = place.left_new = 0
    for file in files:
        file.hunks = [Hunk(name, list(_emphasized(rows))) for name, rows in file.hunks if rows]
    return [file for file in files if file.path or file.hunks]


def _take_row(file: FileDiff, place: _Place, line: str) -> bool:
    """Take a line of a hunk; False when it cannot be one."""
    mark, text = line[:1] or " ", line[1:]
    kind = _KINDS.get(mark)
    in_old, in_new = kind != "added", kind != "removed"
    if kind is None or (in_old and not place.left_old) or (in_new and not place.left_new):
        return mark == "\\"
    old, new = place.old if in_old else 0, place.new if in_new else 0
    file.hunks[-1].rows.append(Row(kind, old, new, text))
    place.old += in_old
    place.left_old -= in_old
    place.new += in_new
    place.left_new -= in_new
    return True


def _path(old: str, new: str) -> str:
    chosen = old if new.split("\t")[0].strip() == "/dev/null" else new
    path = chosen.split("\t")[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path


def _emphasized(rows: Sequence[Row]) -> Iterator[Row]:
    """Mark what differs where as many lines were removed as then added."""
    index = 0
    while index < len(rows):
        removed = _run(rows, index, "removed")
        added = _run(rows, index + removed, "added")
        if removed == 0 or removed != added:
            size = max(1, removed + added)
            yield from rows[index : index + size]
            index += size
            continue
        olds, news = rows[index : index + removed], rows[index + removed : index + 2 * removed]
        spans = [_difference(old.text, new.text) for old, new in zip(olds, news, strict=True)]
        yield from (row._replace(emphasis=span[0]) for row, span in zip(olds, spans, strict=True))
        yield from (row._replace(emphasis=span[1]) for row, span in zip(news, spans, strict=True))
        index += 2 * removed


def _run(rows: Sequence[Row], start: int, kind: RowKind) -> int:
    end = start
    while end < len(rows) and rows[end].kind == kind:
        end += 1
    return end - start


def _difference(old: str, new: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the differing middle of two lines; none when they share little."""
    nothing = ((0, 0), (0, 0))
    shorter = min(len(old), len(new))
    if shorter == 0 or max(len(old), len(new)) > _EMPHASIS_LIMIT:
        return nothing
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    shared = len(old[:start].strip()) + len(old[len(old) - end :].strip())
    if shared * 3 < max(len(old.strip()), len(new.strip())):
        return nothing
    return (start, len(old) - end), (start, len(new) - end)


_SIGNS = {"context": " ", "added": "+", "removed": "−"}
_MOST_ROWS = 400


def counts(rows: Iterable[Row]) -> list[Span]:
    """Return what the rows of a diff add and remove, as `+4 −1`."""
    kinds = [row.kind for row in rows]
    spans: list[Span] = []
    for kind in ("added", "removed"):
        if number := kinds.count(kind):
            gap = [Span(" ")] if spans else []
            spans += [*gap, Span(f"{_SIGNS[kind]}{number}", kind)]
    return spans


def diff_lines(files: Sequence[FileDiff], width: int) -> Iterator[StyledLine]:
    """Return the lines of a diff, of at most `width` cells."""
    rows = [row for file in files for row in file.rows]
    digits = len(str(max((row.number for row in rows), default=0)))
    shown = 0
    for file in files:
        if len(files) > 1:
            head = (Span(file.path or "file", "strong"), Span("  "))
            yield StyledLine((*head, *counts(file.rows)))
        for number, hunk in enumerate(file.hunks):
            if number:
                section = f" {hunk.section}" if hunk.section else ""
                yield StyledLine((Span(f"{'…':>{digits}}{section}", "muted"),))
            for row in hunk.rows:
                if shown == _MOST_ROWS:
                    more = counted(len(rows) - shown, "more row")
                    yield StyledLine((Span(f"… {more}", "muted"),))
                    return
                shown += 1
                yield from _row_lines(row, digits, width)


def _row_lines(row: Row, digits: int, width: int) -> Iterator[StyledLine]:
    style, number_style = ("text", "muted") if row.kind == "context" else (row.kind, row.kind)
    number = Span(f"{row.number:>{digits}} ", number_style)
    gutter = (number, Span(f"{_SIGNS[row.kind]} ", style))
    hanging = (Span(" " * (digits + 3), style),)
    folded = wrap(_emphasized_spans(row, style), max(1, width - digits - 3), words=False)
    for index, line in enumerate(folded):
        yield indented(line, hanging if index else gutter)


def _emphasized_spans(row: Row, style: str) -> list[Span]:
    start, end = row.emphasis
    text = row.text
    if start == end:
        return [Span(text.expandtabs(4), style)]
    parts = ((text[:start], style), (text[start:end], f"{style}+b"), (text[end:], style))
    return [Span(part.expandtabs(4), part_style) for part, part_style in parts]
