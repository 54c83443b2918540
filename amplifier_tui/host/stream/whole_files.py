"""A diff with all lines of its files, for who wants to see what is around a change."""

import re
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path

from amplifier_tui.base.diffs import NO_FILE, file_names
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.gate.places import locate
from amplifier_tui.host.stream.diffs import snapshot

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


@dataclass(slots=True)
class _Hunk:
    """Where a hunk begins before and after (from 0), its lines there, and as they stand in it."""

    starts: tuple[int, int]
    sides: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    body: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _FilePart:
    """What a diff says about one file; `head` are its lines up to the first hunk."""

    head: list[str] = field(default_factory=list)
    hunks: list[_Hunk] = field(default_factory=list)

    def names(self) -> tuple[str, str]:
        """The names before and after."""
        return file_names(*self.head[-2:])


def whole_files(diff: str, workspace: Path, masked: Callable[[str], str], *, made: bool) -> str:
    """Return a unified diff with all lines of its files around the changes.

    Args:
        diff: Its files have to be as they were before the change, or as after it.
        workspace: Where its files are; no other is read.
        masked: Takes secrets out of a text, as was done with the diff.
        made: The change was made, so that the files are rather as after it.

    Raises:
        ValueError: That is not possible; the message says why.
    """
    parts = list(_read(diff))
    if not parts:
        raise ValueError("This is no diff with line numbers.")
    lines: list[str] = []
    for part in parts:
        before, after = part.names()
        lines += part.head
        if NO_FILE in (before, after):
            # All of it is in the diff.
            for hunk in part.hunks:
                lines += [_header(hunk.starts, len(hunk.sides[0]), len(hunk.sides[1])), *hunk.body]
        else:
            lines += _widened(part, after, _lines_of(after, workspace, masked), made)
    return "\n".join(lines) + "\n"


def _read(diff: str) -> Iterator[_FilePart]:
    """Yield the files of a diff.

    Raises:
        ValueError: It ends within a hunk.
    """
    part: _FilePart | None = None
    lines = diff.removesuffix("\n").split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("--- ") and lines[at : at + 1] and lines[at].startswith("+++ "):
            if part is not None:
                yield part
            part = _FilePart([line, lines[at]])
            at += 1
        elif part is not None and (found := _HUNK.match(line)):
            left = [int(count or 1) for count in found.group(2, 4)]
            old, new = (
                int(start) - (1 if count else 0)
                for start, count in zip(found.group(1, 3), left, strict=True)
            )
            hunk = _Hunk((old, new))
            while any(count > 0 for count in left) or lines[at : at + 1] == [_NO_NEWLINE]:
                if at == len(lines):
                    raise ValueError("This diff is cut: the change is too long.")
                line = lines[at]
                at += 1
                hunk.body.append(line)
                for side, other in enumerate("+-"):
                    if line[:1] not in (other, "\\"):
                        hunk.sides[side].append(line[1:])
                        left[side] -= 1
            part.hunks.append(hunk)
    if part is not None:
        yield part


_NO_NEWLINE = "\\ No newline at end of file"


def _lines_of(name: str, workspace: Path, masked: Callable[[str], str]) -> list[str]:
    place = locate(name, workspace)
    if place.outside or place.secret:
        raise ValueError(f"{place.shown} is not read for this: it is not part of the project.")
    found = snapshot(place.path)
    if found.text is None:
        raise ValueError(f"{place.shown} cannot be read ({found.note or 'it is not there'}).")
    return masked(found.text).removesuffix("\n").split("\n") if found.text else []


def _widened(part: _FilePart, name: str, lines: list[str], made: bool) -> list[str]:
    """Return one hunk with all lines of a file, which is as before the change or as after it."""
    for side in (made, not made):
        if all(
            lines[hunk.starts[side] :][: len(hunk.sides[side])] == hunk.sides[side]
            for hunk in part.hunks
        ):
            break
    else:
        raise ValueError(f"{name} has changed since: it is not what this diff is about.")
    body: list[str] = []
    at = 0
    for hunk in part.hunks:
        if hunk.starts[side] < at:
            # Else a short diff could repeat a file as often as it likes.
            raise ValueError(f"The changes of {name} are not in the order of its lines.")
        body += [f" {line}" for line in lines[at : hunk.starts[side]]]
        body += hunk.body
        at = hunk.starts[side] + len(hunk.sides[side])
    body += [f" {line}" for line in lines[at:]]
    old, new = (sum(line[:1] not in (other, "\\") for line in body) for other in "+-")
    return [_header((0, 0), old, new), *body]


def _header(starts: tuple[int, int], old: int, new: int) -> str:
    first, second = (start + bool(count) for start, count in zip(starts, (old, new), strict=True))
    return f"@@ -{first},{old} +{second},{new} @@"
