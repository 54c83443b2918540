"""Unified diffs of files, bounded in time and size."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import FileTooLargeError, NotRegularFileError, read_regular
from amplifier_tui.base.lazy.dataclass import dataclass

SIZE_LIMIT: Final = 1024 * 1024
"""Bytes of a file that is compared; a larger one is only said to have changed."""
DIFF_LIMIT: Final = 64 * 1024
"""Characters of a diff; the rest is counted."""
_CONTEXT: Final = 3
# difflib needs time in the square of this; beyond it the middle is shown as replaced.
_COMPARED_LINES: Final = 2_000


Code = tuple[str, int, int, int, int]
"""An opcode of difflib: tag, range of the old lines, range of the new ones."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file at one moment.

    Attributes:
        text: What it holds; None when it does not exist or cannot be compared.
        note: Why it cannot be compared, such as `binary` or `too large`; else empty.
        stamp: Changes when the file does: modification time in ns, and size.
    """

    text: str | None = None
    exists: bool = False
    note: str = ""
    stamp: tuple[int, int] = (0, 0)


def snapshot(path: Path) -> Snapshot:
    """Read a file for a later comparison; never blocks on a pipe and never raises."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return Snapshot()
    stamp = (status.st_mtime_ns, status.st_size)
    try:
        data = read_regular(path, SIZE_LIMIT)
    except (NotRegularFileError, IsADirectoryError):
        note = "not a file"
    except FileTooLargeError:
        note = "too large"
    except OSError:
        note = "unreadable"
    else:
        return replace(snapshot_of(data), stamp=stamp)
    return Snapshot(None, True, note, stamp)


def snapshot_of(data: bytes | None) -> Snapshot:
    """Return a snapshot of a content; None stands for a file that does not exist."""
    if data is None:
        return Snapshot()
    if len(data) > SIZE_LIMIT:
        return Snapshot(None, True, "too large", (0, len(data)))
    if b"\0" in data[:8192]:
        return Snapshot(None, True, "binary", (0, len(data)))
    return Snapshot(data.decode("utf-8", "replace"), True, "", (0, len(data)))


def changes(name: str, before: Snapshot, after: Snapshot) -> str:
    """Return the diff between two snapshots, empty when nothing changed."""
    if before == after:
        return ""
    if before.note or after.note:
        if before.stamp == after.stamp and before.exists == after.exists:
            return ""
        return f"--- {name}\n+++ {name}\n@@ {after.note or before.note}: changed @@\n"
    return unified(name, before.text, after.text)


def unified(name: str, before: str | None, after: str | None, limit: int = DIFF_LIMIT) -> str:
    r"""Return a unified diff, empty when the texts are equal.

    Args:
        before: The old text; None for a file that does not exist.
        after: The new text; None for a file that is gone.
        limit: Characters at most; what is cut is counted in a last line starting with `\`.
    """
    if before == after:
        return ""
    old = _lines(before)
    new = _lines(after)
    head = [
        f"--- {'/dev/null' if before is None else name}\n",
        f"+++ {'/dev/null' if after is None else name}\n",
    ]
    return _cut([*head, *_body(old, new)], limit)


def _lines(text: str | None) -> list[str]:
    # Only line feeds: str.splitlines would break lines at characters files have inside of them.
    *lines, rest = (text or "").split("\n")
    return [line + "\n" for line in lines] + ([rest] if rest else [])


def _body(old: list[str], new: list[str]) -> Iterable[str]:
    # What both begin and end with is left out of the comparison, but for the context.
    start = max(0, _common(old, new) - _CONTEXT)
    end = _common(old[start:][::-1], new[start:][::-1])
    end = max(0, end - _CONTEXT)
    old_part = old[start : len(old) - end]
    new_part = new[start : len(new) - end]
    for hunk in _hunks(old_part, new_part):
        first, last = hunk[0], hunk[-1]
        yield (
            f"@@ -{_range(first[1] + start, last[2] + start)}"
            f" +{_range(first[3] + start, last[4] + start)} @@\n"
        )
        for tag, a, b, c, d in hunk:
            if tag == "equal":
                yield from (_line(" ", text) for text in old_part[a:b])
            else:
                yield from (_line("-", text) for text in old_part[a:b])
                yield from (_line("+", text) for text in new_part[c:d])


def _hunks(old: list[str], new: list[str]) -> Iterable[list[Code]]:
    if len(old) * len(new) <= _COMPARED_LINES**2:
        yield from difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT)
        return
    head = min(_CONTEXT, _common(old, new))
    tail = min(_CONTEXT, _common(old[head:][::-1], new[head:][::-1]))
    a, b = len(old) - tail, len(new) - tail
    yield [
        ("equal", 0, head, 0, head),
        ("replace", head, a, head, b),
        ("equal", a, len(old), b, len(new)),
    ]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _range(start: int, end: int) -> str:
    length = end - start
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"


def _line(mark: str, text: str) -> str:
    if text.endswith("\n"):
        return mark + text
    return f"{mark}{text}\n\\ No newline at end of file\n"


def _cut(lines: list[str], limit: int) -> str:
    size = 0
    for number, line in enumerate(lines):
        size += len(line)
        if size > limit:
            left = len(lines) - number
            return "".join(lines[:number]) + f"\\ {left:,} more lines of this diff are not shown\n"
    return "".join(lines)
