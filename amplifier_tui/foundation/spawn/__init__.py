"""Agents: child sessions with a policy of what they inherit (foundation reference e.5)."""

from amplifier_tui.foundation.spawn.capability import ChildInfo, SessionSpawner
from amplifier_tui.foundation.spawn.inheritance import child_plan
from amplifier_tui.foundation.spawn.records import ChildRecord, MemoryRecords, RecordStore

__all__ = [
    "ChildInfo",
    "ChildRecord",
    "MemoryRecords",
    "RecordStore",
    "SessionSpawner",
    "child_plan",
]
