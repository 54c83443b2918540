"""The one way up: every event is noted where a crash could lose it, then put in the outbox."""

from collections.abc import Callable
from time import time
from typing import Final, TypedDict

from amplifier_tui.host.events import (
    MAIN_LANE,
    BlockDelta,
    BlockEnded,
    BudgetChanged,
    HookTraced,
    HostEvent,
    Notice,
    TodoChanged,
    ToolEnded,
    ToolProgress,
    UsageChanged,
)
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.rows import Row
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.stream.delta_gate import DeltaGate, Key

# They say nothing about the order of words and tools, so text may wait past them.
_INSTRUMENTS: Final = (
    HookTraced,
    BudgetChanged,
    UsageChanged,
    TodoChanged,
    Notice,
    ToolProgress,
)


class Stamp(TypedDict):
    """What every event carries."""

    session_id: str
    agent: str
    at: float


class Sender:
    """Sends the events of one session.

    Args:
        session_id: The session.
        put: The outbox's.
        store: Where rows, outcomes and unfinished text go.
        redactor: Keeps secrets out of streamed text.
    """

    def __init__(
        self,
        session_id: str,
        put: Callable[[HostEvent], None],
        store: SessionStore,
        redactor: Redactor,
    ) -> None:
        self.session_id = session_id
        self._put = put
        self._store = store
        self._gate = DeltaGate(self._send_delta, redactor)
        self._streamed: dict[str, list[str]] = {}
        self._stored_calls: set[str] = set()

    def stamp(self, lane: str = MAIN_LANE) -> Stamp:
        """Return the fields of an event that happens now."""
        return {"session_id": self.session_id, "agent": lane, "at": time()}

    def send(self, event: HostEvent) -> None:
        """Send an event; streamed text of its lane goes first."""
        if isinstance(event, _INSTRUMENTS):
            self._put(event)
            return
        if isinstance(event, BlockEnded):
            self._gate.end((event.agent, event.block_id), void=event.discarded)
        self._gate.flush(event.agent)
        if event.agent == MAIN_LANE:
            self._journal(event)
        self._store.note(event)
        self._put(event)

    def delta(self, lane: str, block_id: str, text: str) -> None:
        """Send a piece of a block, coalesced."""
        self._gate.add((lane, block_id), text)

    def row_added(self, row: Row) -> None:
        """A row is on disk: what it holds needs no note any more."""
        if row.get("role") == "tool":
            self._stored_calls.add(str(row.get("tool_call_id")))
        elif row.get("role") == "assistant":
            self._streamed.clear()

    def turn_over(self) -> None:
        """The turn has ended: every row of it is written."""
        self._gate.flush(MAIN_LANE)
        self._streamed.clear()
        self._stored_calls.clear()
        self._store.journal.rest()

    def close(self) -> None:
        """Send no streamed text any more."""
        self._gate.close()

    def _send_delta(self, key: Key, text: str) -> None:
        lane, block_id = key
        if lane == MAIN_LANE and block_id in self._streamed:
            self._streamed[block_id].append(text)
            self._store.journal.delta(block_id, text)
        self._put(BlockDelta(**self.stamp(lane), block_id=block_id, text=text))

    def text_begins(self, block_id: str) -> None:
        """A block of the answer's words begins to stream in the main lane."""
        self._streamed.setdefault(block_id, [])

    def _journal(self, event: HostEvent) -> None:
        journal = self._store.journal
        match event:
            case BlockEnded(discarded=True):
                self._streamed.pop(event.block_id, None)
                journal.void(event.block_id)
            case BlockEnded(kind="text"):
                streamed = self._streamed.get(event.block_id)
                if streamed is not None and "".join(streamed) != event.text:
                    journal.whole(event.block_id, event.text)
            case ToolEnded() if event.call_id not in self._stored_calls:
                journal.result(event.call_id, event.tool, event.output, event.ok)
            case _:
                pass
