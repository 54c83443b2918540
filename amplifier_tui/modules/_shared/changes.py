"""What a change of a text file changes, for the hooks and for the model."""

import difflib
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass

_MAX_LINES: Final = 4_000
"""Lines of either text up to which they are compared; beyond, comparing takes too long."""

_MAX_DIFF: Final = 64 * 1024
"""Characters of a diff that are passed on."""


@dataclass(frozen=True)
class Change:
    """A change: a unified diff (empty for very long texts) and how many lines it has."""

    diff: str = ""
    added: int | None = None
    removed: int | None = None

    def facts(self) -> dict[str, Any]:
        """Return the change as event data."""
        return {"diff": self.diff, "lines_added": self.added, "lines_removed": self.removed}

    def __str__(self) -> str:
        return "" if self.added is None else f" (+{self.added} −{self.removed} lines)"


def compare(before: str, after: str, name: str) -> Change:
    """Compare two versions of a file; its name is for the head of the diff."""
    old, new = _lines(before), _lines(after)
    if max(len(old), len(new)) > _MAX_LINES:
        return Change()
    diff = list(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm=""))
    added = sum(line.startswith("+") for line in diff[2:])
    removed = sum(line.startswith("-") for line in diff[2:])
    text = "\n".join(diff)
    if len(text) > _MAX_DIFF:
        text = text[:_MAX_DIFF].rpartition("\n")[0]
    return Change(text, added, removed)


def _lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    # A line end at the end ends the last line; it does not begin another.
    return lines[:-1] if lines[-1] == "" else lines
