"""Events with short arguments, and a state whose clock stands still."""

from typing import Any, TypeVar

from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    BlockKind,
    BlockStarted,
    HandlerTrace,
    HookTraced,
    HostEvent,
    SessionOpened,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    TurnStatus,
)
from amplifier_tui.ui.state.session import SessionState

S = "s1"
NOW = 1_000.0

E = TypeVar("E", bound=HostEvent)


def make(event_type: type[E], /, **fields: Any) -> E:
    fields.setdefault("session_id", S)
    return event_type(**fields)


def opened(**fields: Any) -> SessionOpened:
    return make(SessionOpened, **{"bundle": "coding", "cwd": "/src", "directory": "/d", **fields})


def turn(number: int = 1, prompt: str = "fix it", **fields: Any) -> TurnStarted:
    return make(TurnStarted, turn=number, prompt=prompt, **fields)


def turn_ended(number: int = 1, status: TurnStatus = "success", **fields: Any) -> TurnEnded:
    return make(TurnEnded, turn=number, status=status, **fields)


def started(block_id: str, kind: BlockKind = "text", **fields: Any) -> BlockStarted:
    return make(BlockStarted, block_id=block_id, kind=kind, **fields)


def delta(block_id: str, text: str, **fields: Any) -> BlockDelta:
    return make(BlockDelta, block_id=block_id, text=text, **fields)


def ended(block_id: str, text: str, kind: BlockKind = "text", **fields: Any) -> BlockEnded:
    return make(BlockEnded, block_id=block_id, kind=kind, text=text, **fields)


def tool(call_id: str, name: str = "bash", **fields: Any) -> ToolStarted:
    return make(ToolStarted, call_id=call_id, tool=name, **fields)


def tool_ended(call_id: str, name: str = "bash", ok: bool = True, **fields: Any) -> ToolEnded:
    return make(ToolEnded, call_id=call_id, tool=name, ok=ok, **fields)


def traced(seq: int = 1, event: str = "tool:pre", **fields: Any) -> HookTraced:
    return make(HookTraced, seq=seq, event=event, **fields)


def handler(name: str, verdict: str = "continue", ms: float = 0.1, **fields: Any) -> HandlerTrace:
    return HandlerTrace(name=name, verdict=verdict, ms=ms, **fields)


def new_state(*events: HostEvent, **arguments: Any) -> SessionState:
    state = SessionState(clock=lambda: NOW, **arguments)
    state.apply(events)
    return state
