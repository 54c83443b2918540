"""Agents: child sessions with a policy of what they inherit."""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "capability": "ChildInfo ChildRecord MemoryRecords RecordStore SessionSpawner",
        "inheritance": "child_plan",
    },
)
