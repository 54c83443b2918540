"""Unified diffs of texts, bounded in time and size, and what they say of themselves."""

import re
from collections.abc import Iterator
from typing import Final

from amplifier_tui.base.diffs.comparing import LineChange, line_changes
from amplifier_tui.base.lazy.dataclass import dataclass

REPLACED: Final = "too different to compare: shown as replaced"
"""Stands in the header of a hunk whose numbers are not those of an edit."""
_CONTEXT: Final = 3
_UNSHOWN = re.compile(
    r"\\ [\d,]{1,12} more lines of this diff are not shown: \+(\d{1,9}) −(\d{1,9})"
)


NO_FILE: Final = "/dev/null"
"""Stands for a file that is not there, before or after."""


def file_names(old: str, new: str, *, of_git: bool = False) -> tuple[str, str]:
    """Return the names of a file before and after, of the two lines that begin with them.

    Args:
        old: The line with `--- `.
        new: The line with `+++ `.
        of_git: Git's own line is above them: it puts `a/` and `b/` before each name.
    """
    names = old[4:].split("\t")[0].rstrip("\r"), new[4:].split("\t")[0].rstrip("\r")
    marked = names[0].startswith("a/") and names[1].startswith("b/")
    if not (marked or (of_git and NO_FILE in names)):
        # A folder may be called like git's marks.
        return names
    return names[0].removeprefix("a/"), names[1].removeprefix("b/")


@dataclass(frozen=True, slots=True)
class UnifiedDiff:
    """A diff, none where nothing changed, and how many lines it adds and removes in all.

    `compared`: its numbers are those of an edit, and not of a text shown as replaced.
    """

    lines: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    compared: bool = True

    def text(self, limit: int) -> str:
        r"""Return it, cut after so many characters; a last line with `\` counts the rest."""
        size = 0
        for number, line in enumerate(self.lines):
            size += len(line)
            if size > limit:
                signs = [each[:1] for each in self.lines[max(2, number) :]]
                left = len(self.lines) - number
                return "".join(self.lines[:number]) + (
                    f"\\ {left:,} more lines of this diff are not shown:"
                    f" +{signs.count('+')} −{signs.count('-')}\n"
                )
        return "".join(self.lines)


def unified_diff(names: tuple[str, str], before: str, after: str) -> UnifiedDiff:
    """Compare two texts; `names` are for the head of the diff."""
    old, new = _lines(before), _lines(after)
    changes = line_changes(old, new)
    if not changes:
        return UnifiedDiff()
    lines = [f"--- {names[0]}\n", f"+++ {names[1]}\n"]
    for hunk in _hunks(changes):
        lines += _written(hunk, old, new)
    return UnifiedDiff(
        tuple(lines),
        sum(each.new_end - each.new_start for each in changes),
        sum(each.old_end - each.old_start for each in changes),
        all(each.compared for each in changes),
    )


def unshown(line: str) -> tuple[int, int]:
    """Return how many lines are added and removed below a line, if that is where a diff is cut."""
    found = _UNSHOWN.fullmatch(line)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _lines(text: str) -> list[str]:
    # Only line feeds: str.splitlines would break lines at characters files have inside of them.
    *lines, rest = text.split("\n")
    return [line + "\n" for line in lines] + ([rest] if rest else [])


def _hunks(changes: list[LineChange]) -> Iterator[list[LineChange]]:
    """Yield the changes that share lines around them."""
    hunk = changes[:1]
    for change in changes[1:]:
        if change.old_start - hunk[-1].old_end > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    yield hunk


def _written(hunk: list[LineChange], old: list[str], new: list[str]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    above = min(_CONTEXT, first.old_start)
    below = min(_CONTEXT, len(old) - last.old_end)
    at, end = first.old_start - above, last.old_end + below
    ranges = _range(at, end), _range(first.new_start - above, last.new_end + below)
    note = "" if all(change.compared for change in hunk) else f" {REPLACED}"
    yield f"@@ -{ranges[0]} +{ranges[1]} @@{note}\n"
    for change in hunk:
        yield from (_line(" ", text) for text in old[at : change.old_start])
        yield from (_line("-", text) for text in old[change.old_start : change.old_end])
        yield from (_line("+", text) for text in new[change.new_start : change.new_end])
        at = change.old_end
    yield from (_line(" ", text) for text in old[at:end])


def _range(start: int, end: int) -> str:
    length = end - start
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"


def _line(mark: str, text: str) -> str:
    if text.endswith("\n"):
        return mark + text
    return f"{mark}{text}\n\\ No newline at end of file\n"
