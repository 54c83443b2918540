"""The text of a diff as rows: unified diffs, and the patch format of `apply_patch`."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import compress, count
from typing import Literal, NamedTuple, overload

from amplifier_tui.base.diffs import NO_FILE, REPLACED, file_names, unshown

RowKind = Literal["file", "section", "context", "added", "removed", "other"]
"""What a row is: the name of a file, the start of a hunk, a line, or text that is none of these."""

SIGNS = {"context": " ", "added": "+", "removed": "−"}

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)")
_PATCH_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.*)")
_EMPHASIS_LIMIT = 500
_KINDS: dict[str, RowKind] = {
    "": "context",
    "\r": "context",
    " ": "context",
    "+": "added",
    "-": "removed",
}
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


class DiffRows(Sequence[DiffRow]):
    """The rows of a diff, kept as columns: a row is made when it is asked for.

    Of thousands only those on screen are, and columns of text and numbers are nothing for the
    garbage collector to go through.
    """

    def __init__(
        self,
        kinds: Sequence[RowKind] = (),
        texts: Sequence[str] = (),
        olds: Sequence[int] = (),
        news: Sequence[int] = (),
        counterparts: Sequence[str | None] = (),
        unshown: tuple[int, int] = (0, 0),
    ) -> None:
        self._unshown = unshown
        self.kinds, self.texts = kinds, texts
        self._olds, self._news, self._counterparts = olds, news, counterparts

    def __len__(self) -> int:
        return len(self.kinds)

    @overload
    def __getitem__(self, index: int) -> DiffRow: ...

    @overload
    def __getitem__(self, index: slice) -> "DiffRows": ...

    def __getitem__(self, index: "int | slice") -> "DiffRow | DiffRows":
        if isinstance(index, slice):
            return self._picked(range(*index.indices(len(self))))
        return DiffRow(
            self.kinds[index],
            self.texts[index],
            self._olds[index],
            self._news[index],
            self._counterparts[index],
        )

    @property
    def is_diff(self) -> bool:
        """Whether there is a diff in what was parsed."""
        return any(kind != "other" for kind in self.kinds)

    @property
    def changed(self) -> tuple[int, int]:
        """How many lines are added and removed, those with them where the diff is cut."""
        added, removed = self._unshown
        return added + self.kinds.count("added"), removed + self.kinds.count("removed")

    @property
    def number_width(self) -> int:
        """The cells that the highest line number takes."""
        lines = [kind in SIGNS for kind in self.kinds]
        highest = (max(compress(each, lines), default=0) for each in (self._olds, self._news))
        return len(str(max(highest)))

    def without(self, kind: RowKind) -> "DiffRows":
        """Return the rows that are not of a kind."""
        found = self._picked([at for at, each in enumerate(self.kinds) if each != kind])
        found._unshown = self._unshown
        return found

    def without_lead(self) -> "DiffRows":
        """Return them with a count in place of the unchanged lines above the first change."""
        changed = (at for at, kind in enumerate(self.kinds) if kind in ("added", "removed"))
        first = next(changed, 0)
        above = self.kinds[:first]
        if not (count := above.count("context")):
            return self
        kept = [
            at
            for at, kind in enumerate(above)
            if kind not in ("context", "section") or self.texts[at] == REPLACED
        ]
        lead, rest = self._picked(kept), self._picked(range(first, len(self)))
        said = f"{count} unchanged {'line' if count == 1 else 'lines'} above"
        return DiffRows(
            [*lead.kinds, "section", *rest.kinds],
            [*lead.texts, said, *rest.texts],
            [*lead._olds, 0, *rest._olds],
            [*lead._news, 0, *rest._news],
            [*lead._counterparts, None, *rest._counterparts],
            self._unshown,
        )

    def change_runs(self) -> Iterator[tuple[int, int, int]]:
        """Yield where each change begins, where its removed lines end, and where its added ones.

        Any other row comes alone, as if it were removed.
        """
        return _runs(self.kinds)

    def _picked(self, numbers: Sequence[int]) -> "DiffRows":
        return DiffRows(
            [self.kinds[at] for at in numbers],
            [self.texts[at] for at in numbers],
            [self._olds[at] for at in numbers],
            [self._news[at] for at in numbers],
            [self._counterparts[at] for at in numbers],
        )


def parse_diff(text: str, shown: Callable[[str], str]) -> DiffRows:
    """Return the rows of a diff; `shown` makes a line fit to be drawn.

    Nothing is trusted and nothing left out: counts in hunk headers only tell where a hunk ends,
    and what is no part of a diff is a row of the kind `other`. The last newline begins no row.
    """
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
    in_patch = of_git = False
    cut_added = cut_removed = 0
    lines = text.removesuffix("\n").split("\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        kind = _KINDS.get(line[:1])
        if kind and (old_left > 0 or new_left > 0):
            run = _lines_of_hunk(lines, index, old_left, new_left)
            kinds += run
            texts += [shown(each[1:]) for each in lines[index : index + len(run)]]
            olds += _numbered(run, old, "added")
            news += _numbered(run, new, "removed")
            in_old, in_new = len(run) - run.count("added"), len(run) - run.count("removed")
            old, new = old + in_old, new + in_new
            old_left, new_left = old_left - in_old, new_left - in_new
            index += len(run)
            continue
        index += 1
        if line.startswith("--- ") and lines[index : index + 1] and lines[index][:4] == "+++ ":
            names = file_names(line, lines[index], of_git=of_git)
            put("file", _file_words(*map(shown, names)))
            old_left = new_left = 0
            in_patch = False
            index += 1
        elif found := _HUNK.match(line):
            old, new = int(found[1]), int(found[3])
            old_left, new_left = int(found[2] or 1), int(found[4] or 1)
            words = shown(found[5].rstrip("\r"))
            # Nothing is left out above the first line of a file.
            if words or max(old, new) > 1 or kinds[-1:] not in ([], ["file"]):
                put("section", words, old, new)
        elif named := _PATCH_FILE.match(line):
            put("file", _CHANGED[named[1]] + shown(named[2]))
            in_patch = True
        elif in_patch and line.startswith("@@"):
            put("section", shown(line[2:].lstrip()))
        elif in_patch and kind and line[:1].rstrip("\r"):
            put(kind, shown(line[1:]))
        else:
            put("other", shown(line))
            of_git = of_git or line.startswith("diff --git ")
            added, removed = (0, 0) if in_patch else unshown(line)
            cut_added, cut_removed = cut_added + added, cut_removed + removed
    cut = cut_added, cut_removed
    return DiffRows(kinds, texts, olds, news, _counterparts(kinds, texts), cut)


def _lines_of_hunk(lines: Sequence[str], start: int, old_left: int, new_left: int) -> list[RowKind]:
    """Return the kinds of the lines from `start` on that a hunk with so many left has in it."""
    found: list[RowKind] = []
    for at in range(start, len(lines)):
        kind = _KINDS.get(lines[at][:1])
        if kind is None or (old_left <= 0 and new_left <= 0):
            break
        found.append(kind)
        old_left -= kind != "added"
        new_left -= kind != "removed"
    return found


def _numbered(kinds: Sequence[RowKind], first: int, absent: RowKind) -> Iterator[int]:
    """Yield the number of each line in a file in which those of one kind are `absent`: 0."""
    numbers = count(first)
    return (0 if kind == absent else next(numbers) for kind in kinds)


def _file_words(old: str, new: str) -> str:
    if old == new:
        return new
    if old == NO_FILE:
        return f"new file {new}"
    return f"deleted file {old}" if new == NO_FILE else f"{old} → {new}"


def _counterparts(kinds: Sequence[RowKind], texts: Sequence[str]) -> list[str | None]:
    """Return the text of each row's counterpart, by their kinds and texts."""
    found: list[str | None] = [None] * len(kinds)
    for start, middle, end in _runs(kinds):
        if end - middle == middle - start:
            found[start:middle] = texts[middle:end]
            found[middle:end] = texts[start:middle]
    return found


def _runs(kinds: Sequence[RowKind]) -> Iterator[tuple[int, int, int]]:
    """Yield where each change begins, where its removed lines end, and where its added ones."""
    end, most = 0, len(kinds)
    while end < most:
        start = end
        while end < most and kinds[end] == "removed":
            end += 1
        middle = end
        while end < most and kinds[end] == "added":
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
