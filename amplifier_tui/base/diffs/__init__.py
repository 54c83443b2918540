"""What differs between two texts, line by line, and how a diff says it."""

from amplifier_tui.base.diffs.comparing import LineChange, line_changes
from amplifier_tui.base.diffs.unified import (
    NO_FILE,
    REPLACED,
    UnifiedDiff,
    file_names,
    unified_diff,
    unshown,
)

__all__ = [
    "NO_FILE",
    "REPLACED",
    "LineChange",
    "UnifiedDiff",
    "file_names",
    "line_changes",
    "unified_diff",
    "unshown",
]
