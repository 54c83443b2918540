"""What is kept of a child session, so that it can be continued."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class ChildRecord:
    """A child session that has run.

    Attributes:
        session_id: Of the child.
        parent_id: Of the session that spawned it.
        agent_name: Which agent it is; `self` for none.
        plan: Its mount plan; empty to have it made anew from the parent's.
        instruction: Its system prompt; None for the bundle's.
        messages: Its conversation.
        working_dir: Its folder.
        self_delegation_depth: How often an agent had delegated to itself.
        metadata: What its `session.metadata` got from whoever called it.
    """

    session_id: str
    parent_id: str
    agent_name: str
    plan: dict[str, Any]
    instruction: str | None
    messages: list[dict[str, Any]]
    working_dir: str
    self_delegation_depth: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)


class RecordStore(Protocol):
    """Keeps child records, in memory or on disk."""

    async def save(self, record: ChildRecord) -> None:
        """Keep a record, replacing an earlier one of the same session."""
        ...

    async def load(self, session_id: str) -> ChildRecord | None:
        """Return a record, or None."""
        ...


@dataclass
class MemoryRecords:
    """Keeps the newest records for as long as the program runs.

    Attributes:
        limit: How many are kept.
    """

    limit: int = 64
    _records: "OrderedDict[str, ChildRecord]" = field(default_factory=OrderedDict)

    async def save(self, record: ChildRecord) -> None:
        """Keep a record; beyond the limit the oldest is forgotten."""
        self._records[record.session_id] = record
        self._records.move_to_end(record.session_id)
        while len(self._records) > self.limit:
            self._records.popitem(last=False)

    async def load(self, session_id: str) -> ChildRecord | None:
        """Return a record, or None."""
        return self._records.get(session_id)
