"""The queue between the engine thread and the front end: bounded, and it never loses text."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import replace

from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    BlockStarted,
    BudgetChanged,
    HookTraced,
    HostEvent,
    Notice,
    QueueChanged,
    ShellEnded,
    ShellProgress,
    TodoChanged,
    ToolEnded,
    ToolProgress,
    UsageChanged,
)

SOFT_LIMIT = 4_000
"""Waiting events from which on event log rows are merged and older states are replaced."""
HARD_LIMIT = 20_000
"""Waiting events from which on event log rows are only counted."""
PROGRESS_LIMIT = 64 * 1024
"""Characters of a running command's waiting output; its end is what matters."""

_PROGRESS = (ToolProgress, ShellProgress)
_LATEST_COUNTS = (BudgetChanged, UsageChanged, QueueChanged, TodoChanged)

Key = tuple[Hashable, ...]


class _Cell:
    """A waiting event and what was merged into it."""

    __slots__ = ("count", "cut", "event", "parts", "size")

    def __init__(self, event: HostEvent) -> None:
        self.event = event
        self.parts: list[str] = []
        self.size = 0
        self.cut = 0
        self.count = 0

    def add(self, text: str) -> None:
        """Add text; of a command's output the last `PROGRESS_LIMIT` characters are kept."""
        self.parts.append(text)
        self.size += len(text)
        if self.size > 2 * PROGRESS_LIMIT and isinstance(self.event, _PROGRESS):
            kept = "".join(self.parts)[-PROGRESS_LIMIT:]
            self.cut += self.size - len(kept)
            self.parts, self.size = [kept], len(kept)

    def result(self) -> HostEvent:
        event = self.event
        if isinstance(event, BlockDelta):
            return replace(event, text="".join(self.parts)) if len(self.parts) > 1 else event
        if isinstance(event, _PROGRESS) and len(self.parts) > 1:
            text = "".join(self.parts)
            cut = self.cut + max(0, len(text) - PROGRESS_LIMIT)
            text = text[-PROGRESS_LIMIT:]
            return replace(event, text=f"… {cut:,} characters left out\n{text}" if cut else text)
        if isinstance(event, HookTraced) and self.count:
            return replace(event, count=event.count + self.count)
        return event


class Outbox:
    """Events on their way up. `put` may be called from any thread, `drain` by one."""

    def __init__(self, *, soft_limit: int = SOFT_LIMIT, hard_limit: int = HARD_LIMIT) -> None:
        self._soft = soft_limit
        self._hard = hard_limit
        self._lock = threading.Lock()
        self._cells: list[_Cell] = []
        self._open: dict[Key, _Cell] = {}
        self._dropped: dict[str, int] = {}
        self._wake: Callable[[], None] | None = None

    def put(self, event: HostEvent) -> None:
        """Add an event; wakes the front end when nothing was waiting."""
        with self._lock:
            was_empty = not self._cells and not self._dropped
            self._add(event)
            wake = self._wake if was_empty else None
        if wake is not None:
            wake()

    def drain(self, limit: int = 0) -> list[HostEvent]:
        """Take what waits, oldest first.

        Args:
            limit: How many at most; 0 for all. What is left wakes nobody: drain again.
        """
        with self._lock:
            if limit and len(self._cells) > limit:
                cells, self._cells = self._cells[:limit], self._cells[limit:]
                left = set(map(id, self._cells))
                self._open = {key: c for key, c in self._open.items() if id(c) in left}
                dropped: dict[str, int] = {}
            else:
                cells, self._cells = self._cells, []
                dropped, self._dropped = self._dropped, {}
                self._open.clear()
        events = [cell.result() for cell in cells]
        events += [_left_out(session_id, count) for session_id, count in dropped.items()]
        return events

    def set_waker(self, wake: Callable[[], None] | None) -> None:
        """Call `wake` whenever something waits that did not before; None for nobody."""
        with self._lock:
            self._wake = wake
            waiting = bool(self._cells or self._dropped)
        if wake is not None and waiting:
            wake()

    def _add(self, event: HostEvent) -> None:
        match event:
            case BlockDelta():
                self._merge_text(("delta", event.session_id, event.agent, event.block_id), event)
            case ToolProgress():
                self._merge_text(("progress", event.session_id, event.agent, event.call_id), event)
            case ShellProgress():
                self._merge_text(("shell", event.session_id, event.command_id), event)
            case HookTraced():
                self._add_trace(event)
            case _ if isinstance(event, _LATEST_COUNTS):
                self._add_state(event)
            case _:
                if isinstance(event, BlockStarted | BlockEnded):
                    self._open.pop(("delta", event.session_id, event.agent, event.block_id), None)
                elif isinstance(event, ToolEnded):
                    self._open.pop(("progress", event.session_id, event.agent, event.call_id), None)
                elif isinstance(event, ShellEnded):
                    self._open.pop(("shell", event.session_id, event.command_id), None)
                self._cells.append(_Cell(event))

    def _append(self, key: Key, event: HostEvent) -> _Cell:
        cell = self._open[key] = _Cell(event)
        self._cells.append(cell)
        return cell

    def _merge_text(self, key: Key, event: BlockDelta | ToolProgress | ShellProgress) -> None:
        cell = self._open.get(key) or self._append(key, event)
        cell.add(event.text)

    def _add_trace(self, event: HookTraced) -> None:
        key = ("trace", event.session_id, event.agent, event.event, event.source, event.verdict)
        if len(self._cells) < self._soft:
            self._append(key, event)
            return
        cell = self._open.get(key)
        if cell is not None:
            cell.count += event.count
        elif len(self._cells) < self._hard:
            self._append(key, event)
        else:
            left_out = self._dropped.get(event.session_id, 0)
            self._dropped[event.session_id] = left_out + event.count

    def _add_state(self, event: HostEvent) -> None:
        key: Key = ("state", event.session_id, event.agent, type(event).__name__)
        cell = self._open.get(key) if len(self._cells) >= self._soft else None
        if cell is None:
            self._append(key, event)
        else:
            cell.event = event


def _left_out(session_id: str, count: int) -> Notice:
    return Notice(
        session_id=session_id,
        level="info",
        text=f"{count:,} rows of the event log were left out here while the screen was busy; "
        "all of them are in events.jsonl",
        source="host",
    )
