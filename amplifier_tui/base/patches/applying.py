"""A patch's hunks put into the text of a file."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Final

from amplifier_tui.base.patches.reading import Hunk, PatchProblem

_PUNCTUATION: Final = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000", " ")
)


def _same(line: str) -> str:
    return line


def _typed(line: str) -> str:
    """A line without the typography that models replace."""
    return line.translate(_PUNCTUATION).strip()


_READINGS: Final[tuple[Callable[[str], str], ...]] = (_same, str.rstrip, str.strip, _typed)
"""How lines are compared, the most exact first; a looser way only counts if no stricter fits."""


def apply_hunks(text: str, hunks: Sequence[Hunk], newline: str = "\n") -> str:
    """Return a text after hunks, which stand in the order of their places.

    Lines that stay are kept byte for byte, however loosely the patch writes them. Whether the last
    line has a line end stays as it is.

    Args:
        newline: The line end of new lines.

    Raises:
        PatchProblem: A passage is not in the text. The message says which line of the patch, and
            the nearest place.
    """
    lines = text.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    else:
        lines[-1] += newline[:-1]
    bare = _FileLines([line.removesuffix("\r") for line in lines])
    result: list[str] = []
    done = 0
    for hunk in hunks:
        start = _place(bare, hunk, done)
        result += lines[done:start]
        done = start
        for sign, content in hunk.lines:
            if sign == "+":
                result.append(content + newline[:-1])
                continue
            if sign == " ":
                result.append(lines[done])
            done += 1
    result += lines[done:]
    after = "".join(f"{line}\n" for line in result)
    return after if ended else after.removesuffix(newline)


class _FileLines:
    """The lines of a file, in which passages are found in time proportional to the text."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._read: dict[Callable[[str], str], tuple[str, list[int]]] = {}

    def find(
        self,
        wanted: Sequence[str],
        start: int,
        readings: Sequence[Callable[[str], str]] = _READINGS,
    ) -> int | None:
        """Return the first line of a passage, from `start` on; None where it is not."""
        for reading in readings:
            text, places = self._as(reading)
            at = text.find(_joined(map(reading, wanted)), places[start])
            if at >= 0:
                return bisect_left(places, at)
        return None

    def _as(self, reading: Callable[[str], str]) -> tuple[str, list[int]]:
        """Return the text as it is read, and where the end of the line before each line is."""
        if reading not in self._read:
            lines = [reading(line) for line in self.lines]
            places = [*accumulate((len(line) + 1 for line in lines), initial=0)]
            self._read[reading] = _joined(lines), places
        return self._read[reading]


def _joined(lines: Iterable[str]) -> str:
    """Return lines as a text in which each has a line end on both sides."""
    return "".join(("\n", *(f"{line}\n" for line in lines)))


def _place(file: _FileLines, hunk: Hunk, start: int) -> int:
    """The index of a hunk's first line in a file, from `start` on."""
    lines = file.lines
    for offset, heading in enumerate(hunk.headings):
        found = file.find([heading], start, _READINGS[2:])
        if found is None:
            raise PatchProblem(
                f"`{heading[:120]}` is not in the file"
                + (f" below its line {start}" if start else ""),
                hunk.line - len(hunk.headings) + offset,
            )
        start = found + 1
    old = hunk.old
    if not old:
        return start if hunk.headings and not hunk.at_end else len(lines)
    if hunk.headings and start and _READINGS[-1](old[0]) == _READINGS[-1](lines[start - 1]):
        # Models repeat the heading as the first line of the passage.
        start -= 1
    if hunk.at_end:
        last = len(lines) - len(old)
        if last >= start and file.find(old, last) == last:
            return last
    found = file.find(old, start)
    if found is None:
        raise _not_found(lines, hunk, start)
    return found


def _not_found(lines: Sequence[str], hunk: Hunk, start: int) -> PatchProblem:
    """Say which line of a passage the file does not have, at the place that fits best."""
    old = hunk.old
    sought = [_typed(line) for line in old]
    fits = _common_beginnings(sought, [_typed(line) for line in lines[start:]])
    best = max(fits, default=0)
    place = start + fits.index(best) if best else 0
    numbers = [offset for offset, (sign, _) in enumerate(hunk.lines) if sign != "+"]
    line = hunk.line + numbers[best]
    below = f" below its line {start}" if start else ""
    if not best:
        return PatchProblem(f"`{old[0][:120]}` is not in the file{below}", line)
    there = lines[place + best] if place + best < len(lines) else None
    has = "the file ends" if there is None else f"the file has `{there[:120]}`"
    return PatchProblem(
        f"`{old[best][:120]}` does not follow: line {place + best} of the file fits, then {has}",
        line,
    )


def _common_beginnings(wanted: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Return for each place in a text how many lines of a passage are there."""
    # The Z function: each line is compared a constant number of times, however alike they are.
    both: list[str | None] = [*wanted, None, *lines]
    same = [0] * len(both)
    left = right = 0
    for index in range(1, len(both)):
        size = min(right - index, same[index - left]) if index < right else 0
        while index + size < len(both) and both[size] == both[index + size]:
            size += 1
        if index + size > right:
            left, right = index, index + size
        same[index] = size
    return same[len(wanted) + 1 :]
