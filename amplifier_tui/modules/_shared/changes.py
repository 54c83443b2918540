"""What a change of a text file changes, for the hooks and for the model."""

from typing import Any, Final

from amplifier_tui.base.diffs import unified_diff
from amplifier_tui.base.lazy.dataclass import dataclass

_COMPARED: Final = 1024 * 1024
"""Characters of either text up to which they are compared."""

_MAX_DIFF: Final = 64 * 1024
"""Characters of a diff that are passed on."""


@dataclass(frozen=True)
class Change:
    """A change: a unified diff (empty for very long texts) and how many lines it has."""

    diff: str = ""
    added: int | None = None
    removed: int | None = None
    compared: bool = True

    def facts(self) -> dict[str, Any]:
        """Return the change as event data."""
        return {"diff": self.diff, "lines_added": self.added, "lines_removed": self.removed}

    def __str__(self) -> str:
        if self.added is None:
            return ""
        note = "" if self.compared else ", too different to compare"
        return f" (+{self.added} −{self.removed} lines{note})"


def compare(before: str, after: str, name: str) -> Change:
    """Compare two versions of a file; its name is for the head of the diff."""
    if max(len(before), len(after)) > _COMPARED:
        return Change()
    found = unified_diff((f"a/{name}", f"b/{name}"), _plain(before), _plain(after))
    return Change(found.text(_MAX_DIFF), found.added, found.removed, found.compared)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")
