"""The hook event log: the latest rows in memory, runs of stream deltas as one row."""

from collections.abc import Iterator
from dataclasses import replace

from amplifier_tui.host.events import HookTraced
from amplifier_tui.ui.state.section import Section, on

CAPACITY = 10_000
"""Rows kept in memory; all of them are on disk."""

PAYLOAD_LIMIT = 4 * 1024 * 1024
"""Characters of payload kept in memory over all rows; older rows lose theirs first."""

COALESCED = frozenset({"llm:stream_block_delta", "content_block:delta", "thinking:delta"})
"""Events whose uninterrupted runs in a lane make one row."""

_SMALL = 256
"""A payload this short is never dropped."""


class EventRing(Section):
    """A ring of rows with absolute indices.

    Row `i` keeps its index for good; `first` and `end` say which indices are held. So a view
    may keep indices and need not be told when old rows leave.
    """

    def __init__(self, capacity: int = CAPACITY, payload_limit: int = PAYLOAD_LIMIT) -> None:
        super().__init__()
        self.capacity = max(1, capacity)
        self.total = 0
        """Events seen, those inside runs included."""
        self.older = 0
        """Events of the session's log that came before those: a resumed one's last are read."""
        self.lanes: set[str] = set()
        """Lanes that have rows; more than one makes the lane column worth its width."""
        self._payload_limit = payload_limit
        self._slack = max(64, self.capacity // 8)
        self._rows: list[HookTraced] = []
        self._base = 0
        self._counts: dict[int, int] = {}
        self._runs: dict[str, tuple[str, str, int]] = {}
        self._payload = 0
        self._shed = 0

    @property
    def first(self) -> int:
        """Index of the oldest row that is held."""
        return max(self._base, self.end - self.capacity)

    @property
    def end(self) -> int:
        """One more than the index of the newest row."""
        return self._base + len(self._rows)

    def __len__(self) -> int:
        return min(len(self._rows), self.capacity)

    def get(self, index: int) -> HookTraced | None:
        """Return a row, or None when it has left the ring (or never was)."""
        if self.first <= index < self.end:
            return self._rows[index - self._base]
        return None

    def count(self, index: int) -> int:
        """Return how many events a row stands for."""
        run = self._counts.get(index)
        if run is not None:
            return run
        row = self.get(index)
        return row.count if row is not None else 0

    def slice(self, start: int, stop: int) -> Iterator[tuple[int, HookTraced]]:
        """Yield index and row for the held rows in `start <= index < stop`."""
        start, stop = max(start, self.first), min(stop, self.end)
        return zip(
            range(start, stop),
            self._rows[start - self._base : max(start, stop) - self._base],
            strict=True,
        )

    def find(self, seq: int) -> HookTraced | None:
        """Return the newest row with this position in the session's log, if it is held."""
        for row in reversed(self._rows[self.first - self._base :]):
            if row.seq == seq:
                return row
        return None

    def index_of_call(self, call_id: str) -> int | None:
        """Return the index of the first row that is held of a tool call."""
        rows = self.slice(self.first, self.end)
        return next((index for index, row in rows if row.call_id == call_id), None)

    def index_at(self, moment: float) -> int | None:
        """Return the index of the last row held that is not later than a moment, else the first."""
        found = self.first if len(self) else None
        for index, row in self.slice(self.first, self.end):
            if row.at > moment:
                break
            found = index
        return found

    def clear(self) -> None:
        """Drop every row, for another session. Indices go on counting."""
        if not self._rows and not self.total:
            return
        self._base = self.end
        self._rows = []
        self._counts.clear()
        self._runs.clear()
        self.lanes.clear()
        self.total = self.older = self._payload = 0
        self._shed = self._base
        self.touch()

    @on(HookTraced)
    def append(self, row: HookTraced) -> None:
        """Append one row, or lengthen the lane's run of deltas."""
        agent = row.agent
        self.version += 1
        if not self.total:
            self.older = max(0, row.seq - 1)
        self.total += row.count
        if row.event in COALESCED and row.verdict == "continue":
            run = self._runs.get(agent)
            if run is not None and run[0] == row.event and run[1] == row.source:
                index = run[2]
                if index >= self.first:
                    self._counts[index] = self.count(index) + row.count
                    return
            self._runs[agent] = (row.event, row.source, self.end)
        else:
            self._runs.pop(agent, None)
        self.lanes.add(agent)
        rows = self._rows
        rows.append(row)
        self._payload += len(row.data) + len(row.changed)
        if self._payload > self._payload_limit:
            self._shed_payloads()
        if len(rows) > self.capacity + self._slack:
            self._trim()

    def _trim(self) -> None:
        # In chunks: deleting from the front of a list moves all the rest.
        drop = len(self._rows) - self.capacity
        self._payload -= sum(len(row.data) + len(row.changed) for row in self._rows[:drop])
        del self._rows[:drop]
        self._base += drop
        self._counts = {i: n for i, n in self._counts.items() if i >= self._base}

    def _shed_payloads(self) -> None:
        """Drop the payloads of the oldest rows down to three quarters of the limit."""
        goal = self._payload_limit * 3 // 4
        index = max(self._shed, self._base)
        while self._payload > goal and index < self.end - 1:
            row = self._rows[index - self._base]
            held = len(row.data) + len(row.changed)
            if held > _SMALL:
                self._rows[index - self._base] = replace(row, data="", changed="")
                self._payload -= held
            index += 1
        self._shed = index
