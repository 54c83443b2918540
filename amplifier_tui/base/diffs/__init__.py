"""What differs between two texts, line by line, and how a diff says it."""

from amplifier_tui.base.diffs.comparing import LineChange, line_changes
from amplifier_tui.base.diffs.unified import REPLACED, UnifiedDiff, unified_diff, unshown

__all__ = ["REPLACED", "LineChange", "UnifiedDiff", "line_changes", "unified_diff", "unshown"]
