"""What the agent is doing right now, and since when."""

from dataclasses import dataclass
from typing import Literal

from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    ApprovalResolved,
    BlockEnded,
    BlockKind,
    BlockStarted,
    CancelRequested,
    Failed,
    HostEvent,
    LaneClosed,
    ModuleLoading,
    SessionClosed,
    SessionOpened,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    TurnStatus,
)
from amplifier_tui.ui.state.section import Section

Stop = Literal["", "stopping…", "stopping now…"]

_STREAM_WORDS: dict[BlockKind, str] = {
    "text": "answering",
    "thinking": "thinking",
    "tool_use": "writing",
}


@dataclass(frozen=True, slots=True)
class Phase:
    """The spinner's word and the Unix time its clock counts from."""

    word: str
    since: float


@dataclass(slots=True)
class _Running:
    tool: str
    agent: str
    since: float
    waiting: int = 0


class Activity(Section):
    """Turn, running tools, streaming blocks and the stop in progress.

    Attributes:
        running: A turn is running.
        turn: Its number.
        started: Unix time of its start.
        stop: The stop that was acknowledged, in the words of the screen.
        last_status: How the latest turn ended, None before the first.
        last_duration_ms: How long it took.
    """

    HANDLES: tuple[type[HostEvent], ...] = (
        ApprovalRequested,
        ApprovalResolved,
        BlockEnded,
        BlockStarted,
        CancelRequested,
        Failed,
        LaneClosed,
        ModuleLoading,
        SessionClosed,
        SessionOpened,
        ToolEnded,
        ToolStarted,
        TurnEnded,
        TurnStarted,
    )

    def __init__(self) -> None:
        super().__init__()
        self.running = False
        self.turn = 0
        self.started = 0.0
        self.stop: Stop = ""
        self.last_status: TurnStatus | None = None
        self.last_duration_ms = 0.0
        self._opened = False
        self._opening: float | None = None
        self._turn_seen: tuple[int, float] | None = None
        self._tools: dict[tuple[str, str], _Running] = {}
        self._streams: dict[tuple[str, str], BlockKind] = {}
        self._requests: dict[str, tuple[str, str]] = {}

    @property
    def phase(self) -> Phase | None:
        """What moves, or None when nothing does (also while all of it waits for the user)."""
        if self.stop:
            return Phase(self.stop.removesuffix("…"), self.started)
        if self._opening is not None:
            return Phase("opening", self._opening)
        tools = [t for t in self._tools.values() if not t.waiting]
        # A sub-agent's tools run inside a tool of the main lane, which says enough.
        front = [t for t in tools if t.agent == MAIN_LANE] or tools
        if len(front) > 1:
            return Phase(f"{len(front)} tools", min(t.since for t in front))
        if front:
            return Phase(front[0].tool or "tool", front[0].since)
        if not self.running:
            return None
        kinds = set(self._streams.values())
        for kind, word in _STREAM_WORDS.items():
            if kind in kinds:
                return Phase(word, self.started)
        return None if self._tools else Phase("working", self.started)

    def clear(self) -> None:
        """Nothing happens, for another session."""
        before = self._values()
        self.turn = 0
        self.last_status = None
        self.last_duration_ms = 0.0
        self._opened = False
        self._opening = None
        self._turn_seen = None
        self._rest()
        if self._values() != before:
            self.touch()

    def open_soon(self, at: float) -> None:
        """Another session is being opened, since `at`."""
        if self._opening is None and not self.running:
            self._opening = at
            self.touch()

    def apply(self, event: HostEvent) -> None:
        """Take one event of the session."""
        if event.replayed:
            return
        before = self._values()
        match event:
            case TurnStarted() if event.agent == MAIN_LANE:
                if self._turn_seen != (event.turn, event.at):
                    self._rest()
                    self._turn_seen = (event.turn, event.at)
                    self.running, self.turn, self.started = True, event.turn, event.at
            case TurnEnded() if event.agent == MAIN_LANE:
                self._rest()
                self.turn = event.turn
                self.last_status, self.last_duration_ms = event.status, event.duration_ms
            case SessionClosed():
                self._rest()
                self._opened = False
            case CancelRequested():
                if self.running:
                    self.stop = "stopping now…" if event.immediate else self.stop or "stopping…"
            case BlockStarted():
                self._streams.setdefault((event.agent, event.block_id), event.kind)
            case BlockEnded():
                self._streams.pop((event.agent, event.block_id), None)
            case ToolStarted() | ToolEnded() | ApprovalRequested() | ApprovalResolved():
                self._tool_event(event)
            case LaneClosed():
                self._tools = {k: t for k, t in self._tools.items() if t.agent != event.lane}
                self._streams = {k: s for k, s in self._streams.items() if k[0] != event.lane}
            case ModuleLoading():
                if self._opening is None and not self._opened:
                    self._opening = event.at
            case SessionOpened():
                self._opened = True
                self._opening = None
            case Failed():
                self._opening = None
            case _:
                pass
        if self._values() != before:
            self.touch()

    def _tool_event(
        self, event: ToolStarted | ToolEnded | ApprovalRequested | ApprovalResolved
    ) -> None:
        key = (event.agent, event.call_id)
        match event:
            case ToolStarted():
                known = self._tools.get(key)
                waiting = known.waiting if known is not None else 0
                self._tools[key] = _Running(event.tool, event.agent, event.at, waiting)
            case ToolEnded():
                self._tools.pop(key, None)
            case ApprovalRequested() if event.call_id and event.request_id not in self._requests:
                self._requests[event.request_id] = key
                running = self._tools.setdefault(key, _Running(event.tool, event.agent, event.at))
                running.waiting += 1
            case ApprovalResolved():
                held = self._requests.pop(event.request_id, None)
                running_tool = self._tools.get(held) if held is not None else None
                if running_tool is not None:
                    running_tool.waiting = max(0, running_tool.waiting - 1)
                    # Its clock shows the time it runs, not the time it waited.
                    running_tool.since = event.at or running_tool.since
            case _:
                pass

    def _rest(self) -> None:
        self.running = False
        self.stop = ""
        self._tools.clear()
        self._streams.clear()
        self._requests.clear()

    def _values(self) -> tuple[object, ...]:
        return (
            self.running,
            self.turn,
            self.started,
            self.stop,
            self.last_status,
            self.last_duration_ms,
            self.phase,
        )
