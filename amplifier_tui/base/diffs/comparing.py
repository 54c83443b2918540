"""Which lines of a text changed: exact where that is cheap, and never for long."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

_PAIRS: Final = 100_000
"""Pairs of equal lines that are looked through for the longest run in both texts."""
_STEPS: Final = 1_500_000
"""What all of one comparison may take: about 0.2 s."""
_FEW: Final = 128
"""Changes in which the way from one text to the other is looked for first."""
_LEAST: Final = 16
"""Changes to look ahead at least: with fewer, what is found is chance."""

Match = tuple[int, int]
"""The number of a line in the old text and in the new one."""


class LineChange(NamedTuple):
    """Old lines and the new ones in their place; without `compared` some may be in both."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int
    compared: bool = True


def line_changes(old: Sequence[str], new: Sequence[str]) -> list[LineChange]:
    """Return what turns the old lines into the new ones, from the first to the last."""
    numbers: dict[str, int] = {}
    sides = [[numbers.setdefault(line, len(numbers)) for line in side] for side in (old, new)]
    return list(_Comparison(*sides).changes())


class _Comparison:
    """Two texts, their lines as numbers: the same for equal lines."""

    def __init__(self, old: list[int], new: list[int]) -> None:
        self._old, self._new = old, new
        self._left = _STEPS

    def changes(self) -> Iterator[LineChange]:
        """Yield the changes, those that touch as one."""
        last: LineChange | None = None
        for change in self._found():
            if last and (last.old_end, last.new_end) == (change.old_start, change.new_start):
                ends = change.old_end, change.new_end
                compared = last.compared and change.compared
                last = LineChange(last.old_start, ends[0], last.new_start, ends[1], compared)
                continue
            if last:
                yield last
            last = change
        if last:
            yield last

    def _found(self) -> Iterator[LineChange]:
        # The last is what comes first in the texts.
        waiting = [(0, len(self._old), 0, len(self._new))]
        while waiting:
            a, b, c, d = self._trimmed(*waiting.pop())
            if a == b or c == d:
                if a < b or c < d:
                    yield LineChange(a, b, c, d)
                continue
            matches, whole = self._matches(self._old[a:b], self._new[c:d])
            if not matches:
                yield LineChange(a, b, c, d, whole)
                continue
            gaps = list(_gaps(matches, a, b, c, d))
            if whole:
                yield from (LineChange(*gap) for gap in gaps)
            else:
                waiting += reversed(gaps)

    def _trimmed(self, a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
        """Leave out what both begin and end with."""
        old, new = self._old, self._new
        while a < b and c < d and old[a] == new[c]:
            a += 1
            c += 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b -= 1
            d -= 1
        return a, b, c, d

    def _matches(self, old: list[int], new: list[int]) -> tuple[list[Match], bool]:
        """Return lines that stay, and whether these are all there are: else look between them."""
        found, whole = self._searched(old, new)
        if len(old) == len(new) and (whole or not found):
            # Of two ways as short, the one on which lines stay where they are.
            pairs = enumerate(zip(old, new, strict=True))
            in_place = [(at, at) for at, (one, other) in pairs if one == other]
            if len(in_place) >= (len(found) if whole else (len(old) + 1) // 2):
                return in_place, True
        return found, whole

    def _searched(self, old: list[int], new: list[int]) -> tuple[list[Match], bool]:
        size = len(old) + len(new)
        self._left -= size
        there = Counter(new)
        pairs = {line: n * there[line] for line, n in Counter(old).items() if line in there}
        if not pairs:
            return [], True
        if sum(pairs.values()) <= min(_PAIRS, max(0, self._left)):
            return self._longest(old, new, pairs), True
        if self._left <= 0:
            return [], False
        found, x, y = self._ahead(old, new, _FEW, 4 * size)
        if (x, y) == (len(old), len(new)):
            return found, True
        # Lines that are nowhere else, or in few places, tell best what belongs together.
        counts = sorted(pairs.values())
        few = sum(total <= _PAIRS for total in accumulate(counts))
        limit = counts[few] if few < len(counts) else counts[-1] + 1
        if self._left > 2 * size and (rare := {line: n for line, n in pairs.items() if n < limit}):
            return self._longest(old, new, rare), False
        found = self._stepwise(old, new)
        return found, bool(found)

    def _longest(self, old: list[int], new: list[int], pairs: dict[int, int]) -> list[Match]:
        """Return the longest run of lines in both, of those in `pairs` (Hunt and Szymanski)."""
        self._left -= 2 * sum(pairs.values())
        places: dict[int, list[int]] = {line: [] for line in pairs}
        for at in range(len(new) - 1, -1, -1):
            if new[at] in places:
                places[new[at]].append(at)
        ends: list[int] = []
        runs: list[tuple[int, int, object]] = []
        for here, line in enumerate(old):
            for at in places.get(line, ()):
                length = bisect_left(ends, at)
                run = (here, at, runs[length - 1] if length else None)
                if length == len(ends):
                    ends.append(at)
                    runs.append(run)
                elif at < ends[length]:
                    ends[length] = at
                    runs[length] = run
        found: list[Match] = []
        last: object = runs[-1] if runs else None
        while isinstance(last, tuple):
            found.append(last[:2])
            last = last[2]
        return found[::-1]

    def _stepwise(self, old: list[int], new: list[int]) -> list[Match]:
        """Return lines that stay, found a stretch at a time; none if they are too few to trust."""
        found: list[Match] = []
        most = min(4 * _FEW, self._left // (len(old) + len(new)))
        if most < _LEAST:
            return []
        here = at = 0
        while here < len(old) and at < len(new):
            if self._left <= 0:
                return []
            part, a, b = self._ahead(old[here:], new[at:], most, self._left)
            found += [(here + one, at + other) for one, other in part]
            here, at = here + a, at + b
        return found if 2 * len(found) >= min(len(old), len(new)) else []

    def _ahead(
        self, old: list[int], new: list[int], most: int, steps: int
    ) -> tuple[list[Match], int, int]:
        """Go as far as `most` changes lead (Myers): return the lines that stay, and how far it is.

        With enough of them that is the end of both, and the changes are as few as can be.
        """
        in_old, in_new = len(old), len(new)
        left = steps
        reach = {1: 0}
        rows: list[dict[int, int]] = []
        x = y = k = changes = 0
        for done in range(most + 1):
            rows.append(dict(reach))
            for diagonal in range(-done, done + 1, 2):
                start, _ = _entered(reach, diagonal)
                one, other = start, start - diagonal
                while one < in_old and other < in_new and old[one] == new[other]:
                    one += 1
                    other += 1
                reach[diagonal] = one
                left -= 2 + one - start
                if one + other > x + y and one <= in_old and other <= in_new:
                    x, y, k, changes = one, other, diagonal, done
            if left <= 0 or (x, y) == (in_old, in_new):
                break
        self._left -= steps - left
        return _way_back(rows[: changes + 1], x, k), x, y


def _entered(reach: dict[int, int], diagonal: int) -> tuple[int, int]:
    """Return where a diagonal is entered, by the old line, and from which diagonal."""
    down, right = reach.get(diagonal + 1, -1), reach.get(diagonal - 1, -1) + 1
    return (down, diagonal + 1) if down >= right else (right, diagonal - 1)


def _way_back(rows: list[dict[int, int]], x: int, diagonal: int) -> list[Match]:
    """Return the lines that stay on the way to the old line `x`."""
    found: list[Match] = []
    for reach in reversed(rows):
        start, before = _entered(reach, diagonal)
        found += [(at, at - diagonal) for at in range(x - 1, start - 1, -1)]
        x, diagonal = reach[before], before
    return found[::-1]


def _gaps(
    matches: list[Match], a: int, b: int, c: int, d: int
) -> Iterator[tuple[int, int, int, int]]:
    """Yield what lies between matches of the lines `a:b` and `c:d`."""
    old, new = a, c
    for one, other in [*matches, (b - a, d - c)]:
        if a + one > old or c + other > new:
            yield old, a + one, new, c + other
        old, new = a + one + 1, c + other + 1
