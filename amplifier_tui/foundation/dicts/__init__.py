"""Merging and addressing nested plain data."""

from amplifier_tui.foundation.dicts.merge import deep_merge, merge_module_lists
from amplifier_tui.foundation.dicts.nested import get_nested, set_nested

__all__ = ["deep_merge", "get_nested", "merge_module_lists", "set_nested"]
