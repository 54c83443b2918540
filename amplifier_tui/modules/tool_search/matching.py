"""Searching one file.

Standard library only: the searching process imports this.
"""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_HEAD: Final = 8 * 1024
_WIDTH: Final = 400
"""Characters of a line that are shown."""


class TooSlowError(Exception):
    """The pattern takes too long on a file."""


@dataclass(frozen=True)
class ShownLine:
    """A line that is shown.

    Attributes:
        number: Counted from 1.
        text: Without its end, shortened.
        matches: False for a line around a match.
        gap: Lines are left out before it.
    """

    number: int
    text: str
    matches: bool
    gap: bool = False


def read_text(path: str, largest: int) -> str | None:
    """Return a file's text, or None when it is binary or larger than `largest` bytes.

    Raises:
        OSError: It can't be read.
    """
    with open(path, "rb") as file:
        head = file.read(_HEAD)
        if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
            return None
        data = head + file.read(max(0, largest + 1 - len(head)))
    if len(data) > largest:
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def matching_lines(text: str, pattern: re.Pattern[str], *, multiline: bool) -> list[int]:
    """Return the numbers of the lines that match, counted from 0.

    Args:
        text: The file's.
        pattern: What to look for.
        multiline: Whether a match may span lines; then all of its lines count.
    """
    if not multiline:
        search = pattern.search
        return [
            number
            for number, line in enumerate(text.split("\n"))
            if search(line[:-1] if line.endswith("\r") else line)
        ]
    numbers: dict[int, None] = {}
    number, place = 0, 0
    for match in pattern.finditer(text):
        number += text.count("\n", place, match.start())
        place = match.start()
        spanned = text.count("\n", match.start(), max(match.start(), match.end() - 1))
        numbers.update(dict.fromkeys(range(number, number + spanned + 1)))
    return list(numbers)


def shown_lines(
    text: str, numbers: list[int], pattern: re.Pattern[str], before: int, after: int
) -> Iterator[ShownLine]:
    """Yield the matching lines with those around them."""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    matches, around = set(numbers), before + after > 0
    last = -1
    for number in numbers:
        first = max(last + 1, number - before)
        until = min(len(lines) - 1, number + after)
        for each in range(first, until + 1):
            gap = around and each == first and last >= 0 and first > last + 1
            line = _shortened(lines[each].rstrip("\r"), pattern if each in matches else None)
            yield ShownLine(each + 1, line, each in matches, gap)
        last = max(last, until)


def _shortened(line: str, pattern: re.Pattern[str] | None) -> str:
    if len(line) <= _WIDTH:
        return line
    found = pattern.search(line) if pattern is not None else None
    middle = found.start() if found is not None else 0
    start = max(0, min(middle - _WIDTH // 4, len(line) - _WIDTH))
    end = start + _WIDTH
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End the block with a `TooSlowError` after so many seconds, where the system can.

    The expression engine looks for signals every few thousand steps; elsewhere than on POSIX the
    process is ended from outside instead.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: object) -> None:
        raise TooSlowError

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
