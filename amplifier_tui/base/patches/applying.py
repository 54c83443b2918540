"""A patch's hunks put into the text of a file."""

from collections.abc import Callable, Sequence
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
    bare = [line.removesuffix("\r") for line in lines]
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


def _place(lines: Sequence[str], hunk: Hunk, start: int) -> int:
    """The index of a hunk's first line in a file, from `start` on."""
    for offset, heading in enumerate(hunk.headings):
        found = _find(lines, [heading], start, looser=True)
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
        if last >= start and _find(lines[last:], old, 0) == 0:
            return last
    found = _find(lines, old, start)
    if found is None:
        raise _not_found(lines, hunk, start)
    return found


def _find(
    lines: Sequence[str], wanted: Sequence[str], start: int, *, looser: bool = False
) -> int | None:
    for reading in _READINGS[2 if looser else 0 :]:
        read = [reading(line) for line in lines[start:]]
        sought = [reading(line) for line in wanted]
        size = len(sought)
        for index in range(len(read) - size + 1):
            if read[index] == sought[0] and read[index : index + size] == sought:
                return start + index
    return None


def _not_found(lines: Sequence[str], hunk: Hunk, start: int) -> PatchProblem:
    """Say which line of a passage the file does not have, at the place that fits best."""
    old = hunk.old
    read = [_typed(line) for line in lines]
    sought = [_typed(line) for line in old]
    best, place = 0, 0
    for index in range(start, len(read)):
        fits = 0
        while (
            fits < len(sought) and index + fits < len(read) and read[index + fits] == sought[fits]
        ):
            fits += 1
        if fits > best:
            best, place = fits, index
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
