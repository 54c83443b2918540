"""Unified diff text to rows with line numbers, and those to lines below a tool line."""

import re
from collections.abc import Iterator, Sequence
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
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What changes in one file."""

    path: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Diff:
    """A parsed unified diff."""

    files: tuple[FileDiff, ...] = ()

    @property
    def added(self) -> int:
        """How many lines it adds."""
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        """How many lines it removes."""
        return sum(file.removed for file in self.files)

    @property
    def rows(self) -> int:
        """How many rows its hunks have."""
        return sum(len(hunk.rows) for file in self.files for hunk in file.hunks)


@dataclass(slots=True)
class _Open:
    path: str = ""
    hunks: list[Hunk] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    section: str = ""
    old: int = 1
    new: int = 1
    left_old: int = 0
    left_new: int = 0

    def close_hunk(self) -> None:
        if self.rows:
            self.hunks.append(Hunk(self.section, tuple(_emphasized(self.rows))))
            self.rows = []

    def close(self) -> Iterator[FileDiff]:
        self.close_hunk()
        if self.hunks or self.path:
            kinds = [row.kind for hunk in self.hunks for row in hunk.rows]
            yield FileDiff(
                self.path, tuple(self.hunks), kinds.count("added"), kinds.count("removed")
            )


def parse_diff(text: str) -> Diff:
    """Parse unified diff text, of one file or several; what is not a diff gives no files.

    Nothing is trusted: counts in hunk headers only tell where a hunk ends, and lines that do not
    fit are skipped.
    """
    files: list[FileDiff] = []
    current = _Open()
    lines = [clean(line.rstrip("\r")).replace("\n", " ") for line in text.split("\n")]
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        inside = current.left_old > 0 or current.left_new > 0
        if inside and _row(current, line):
            continue
        if line.startswith("--- ") and index < len(lines) and lines[index].startswith("+++ "):
            files += current.close()
            current = _Open(path=_path(line[4:], lines[index][4:]))
            index += 1
        elif match := _HUNK.match(line):
            current.close_hunk()
            current.old, current.new = int(match[1]), int(match[3])
            current.left_old = int(match[2]) if match[2] else 1
            current.left_new = int(match[4]) if match[4] else 1
            current.section = match[5].strip()
        elif line.startswith(_PREAMBLE):
            current.left_old = current.left_new = 0
    files += current.close()
    return Diff(tuple(files))


def _row(current: _Open, line: str) -> bool:
    """Take a line of a hunk; False when it cannot be one."""
    mark, text = line[:1] or " ", line[1:]
    kind = _KINDS.get(mark)
    in_old, in_new = kind != "added", kind != "removed"
    if kind is None or (in_old and not current.left_old) or (in_new and not current.left_new):
        return mark == "\\"
    old, new = current.old if in_old else 0, current.new if in_new else 0
    current.rows.append(Row(kind, old, new, text))
    current.old += in_old
    current.left_old -= in_old
    current.new += in_new
    current.left_new -= in_new
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


_STYLES = {"context": "text", "added": "added", "removed": "removed"}
_SIGNS = {"context": " ", "added": "+", "removed": "−"}
_MOST_ROWS = 400


def diff_lines(diff: Diff, width: int) -> list[StyledLine]:
    """Return a diff as lines of at most `width` cells."""
    return list(_diff_lines(diff, max(1, width)))


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


def _diff_lines(diff: Diff, width: int) -> Iterator[StyledLine]:
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
                yield from _row_lines(row, digits, width)


def _row_lines(row: Row, digits: int, width: int) -> Iterator[StyledLine]:
    style = _STYLES[row.kind]
    number_style = "muted" if row.kind == "context" else style
    gutter = (
        Span(f"{row.number:>{digits}} ", number_style),
        Span(f"{_SIGNS[row.kind]} ", style),
    )
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
