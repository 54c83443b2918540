"""The text of a diff as rows: unified diffs, and the patch format of `apply_patch`."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

RowKind = Literal["file", "section", "context", "added", "removed", "other"]
"""What a row is: the name of a file, the start of a hunk, a line, or text that is none of these."""

SIGNS = {"context": " ", "added": "+", "removed": "−"}

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)")
_PATCH_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.*)")
_NO_FILE = "/dev/null"
_EMPHASIS_LIMIT = 500
_KINDS: dict[str, RowKind] = {"": "context", " ": "context", "+": "added", "-": "removed"}
_CHANGED = {"Add": "new file ", "Update": "", "Delete": "deleted file "}


class DiffRow(NamedTuple):
    """A line of a diff, without its sign.

    `old` and `new` are its numbers before and after, 0 where it is not in that file or the diff
    does not tell; `counterpart` is the text of the line that was put in its place, or that it was
    put in place of, where as many lines were removed as then added.
    """

    kind: RowKind
    text: str
    old: int = 0
    new: int = 0
    counterpart: str | None = None

    @property
    def emphasis(self) -> tuple[int, int]:
        """The part that differs from its counterpart; (0, 0) where there is none."""
        return _difference(self.text, self.counterpart or "")

    @property
    def number(self) -> int:
        """The number to show: where the line stands after, or stood before."""
        return self.new or self.old

    @property
    def is_line(self) -> bool:
        """Whether it is a line of a file."""
        return self.kind in SIGNS


def parse_diff(text: str, shown: Callable[[str], str]) -> list[DiffRow]:
    """Return the rows of a diff; `shown` makes a line fit to be drawn.

    Nothing is trusted and nothing left out: counts in hunk headers only tell where a hunk ends,
    and what is no part of a diff is a row of the kind `other`. The last newline begins no row.
    """
    # As columns, each row is made once, when its counterpart is known.
    kinds: list[RowKind] = []
    texts: list[str] = []
    olds: list[int] = []
    news: list[int] = []

    def put(kind: RowKind, text: str, old: int = 0, new: int = 0) -> None:
        kinds.append(kind)
        texts.append(text)
        olds.append(old)
        news.append(new)

    old = new = old_left = new_left = 0
    in_patch = False
    lines = text.removesuffix("\n").split("\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        sign = line[:1].rstrip("\r")
        kind = _KINDS.get(sign)
        if kind and (old_left > 0 or new_left > 0):
            in_old, in_new = kind != "added", kind != "removed"
            put(kind, shown(line[1:]), old * in_old, new * in_new)
            old, new = old + in_old, new + in_new
            old_left, new_left = old_left - in_old, new_left - in_new
        elif line.startswith("--- ") and lines[index : index + 1] and lines[index][:4] == "+++ ":
            names = (shown(_name(each[4:])) for each in (line, lines[index]))
            put("file", _file_words(*names))
            old_left = new_left = 0
            in_patch = False
            index += 1
        elif found := _HUNK.match(line):
            old, new = int(found[1]), int(found[3])
            old_left, new_left = int(found[2] or 1), int(found[4] or 1)
            put("section", shown(found[5].rstrip("\r")), old, new)
        elif named := _PATCH_FILE.match(line):
            put("file", _CHANGED[named[1]] + shown(named[2]))
            in_patch = True
        elif in_patch and line.startswith("@@"):
            put("section", shown(line[2:].lstrip()))
        elif in_patch and kind and sign:
            put(kind, shown(line[1:]))
        else:
            put("other", shown(line))
    return list(map(DiffRow, kinds, texts, olds, news, _counterparts(kinds, texts)))


def is_diff(rows: Iterable[DiffRow]) -> bool:
    """Say whether there is a diff in what was parsed."""
    return any(row.kind != "other" for row in rows)


def counted_lines(rows: Iterable[DiffRow]) -> tuple[int, int]:
    """Return how many lines are added and removed."""
    kinds = [row.kind for row in rows]
    return kinds.count("added"), kinds.count("removed")


def number_width(rows: Iterable[DiffRow]) -> int:
    """Return the cells that the highest line number takes."""
    return len(str(max((max(row.old, row.new) for row in rows if row.is_line), default=0)))


def _name(path: str) -> str:
    path = path.split("\t")[0].removesuffix("\r")
    return path[2:] if path.startswith(("a/", "b/")) else path


def _file_words(old: str, new: str) -> str:
    if old == new:
        return new
    if old == _NO_FILE:
        return f"new file {new}"
    return f"deleted file {old}" if new == _NO_FILE else f"{old} → {new}"


def _counterparts(kinds: Sequence[RowKind], texts: Sequence[str]) -> list[str | None]:
    """Return the text of each row's counterpart, by their kinds and texts."""
    found: list[str | None] = [None] * len(kinds)
    for start, middle, end in _runs(kinds):
        if end - middle == middle - start:
            found[start:middle] = texts[middle:end]
            found[middle:end] = texts[start:middle]
    return found


def change_runs(
    rows: Sequence[DiffRow],
) -> Iterator[tuple[Sequence[DiffRow], Sequence[DiffRow]]]:
    """Yield the removed lines of each change with the added ones that follow them.

    Any other row comes alone, as if it were removed.
    """
    for start, middle, end in _runs([row.kind for row in rows]):
        yield rows[start:middle], rows[middle:end]


def _runs(kinds: Sequence[RowKind]) -> Iterator[tuple[int, int, int]]:
    """Yield where each change begins, where its removed lines end, and where its added ones."""
    end, count = 0, len(kinds)
    while end < count:
        start = end
        while end < count and kinds[end] == "removed":
            end += 1
        middle = end
        while end < count and kinds[end] == "added":
            end += 1
        if end == start:
            middle = end = start + 1
        yield start, middle, end


def _difference(text: str, other: str) -> tuple[int, int]:
    """Return the middle of a line in which it differs from another; none if they share little."""
    shorter = min(len(text), len(other))
    if shorter == 0 or max(len(text), len(other)) > _EMPHASIS_LIMIT:
        return (0, 0)
    start = _common(text, other)
    end = _common(text[start:][::-1], other[start:][::-1])
    shared = len(text[:start].strip()) + len(text[len(text) - end :].strip())
    if shared * 3 < max(len(text.strip()), len(other.strip())):
        return (0, 0)
    return (start, len(text) - end)


def _common(one: str, other: str) -> int:
    """Return how many characters two texts both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
