import pytest

from amplifier_tui.host.events import (
    ApprovalRequested,
    ApprovalResolved,
    CancelRequested,
    Failed,
    HostEvent,
    LaneClosed,
    ModuleLoading,
    SessionClosed,
)
from tests.ui.state.make import (
    ended,
    make,
    new_state,
    opened,
    started,
    tool,
    tool_ended,
    turn,
    turn_ended,
)


def ask(call_id: str = "c") -> ApprovalRequested:
    return make(
        ApprovalRequested, request_id="r", call_id=call_id, tool="bash", asker="h", action="x"
    )


def answer(at: float = 0.0) -> ApprovalResolved:
    return make(ApprovalResolved, request_id="r", outcome="allowed", at=at)


GO = turn(at=10.0)

CASES: dict[str, tuple[list[HostEvent], tuple[str, float] | None]] = {
    "nothing runs": ([], None),
    "a turn without a sign of life works": ([GO], ("working", 10.0)),
    "thinking": ([GO, started("b", "thinking")], ("thinking", 10.0)),
    "an answer": ([GO, started("b")], ("answering", 10.0)),
    "a call being written": ([GO, started("b", "tool_use")], ("writing", 10.0)),
    "between blocks": ([GO, started("b"), ended("b", "x")], ("working", 10.0)),
    "a tool with its own clock": ([GO, tool("c", at=12.0)], ("bash", 12.0)),
    "several tools": ([GO, tool("c", at=12.0), tool("d", "read", at=13.0)], ("2 tools", 12.0)),
    "a tool that ended": ([GO, tool("c"), tool_ended("c")], ("working", 10.0)),
    "a sub-agent inside its tool": (
        [GO, tool("t", "task", at=11.0), tool("c", at=12.0, agent="lane1")],
        ("task", 11.0),
    ),
    "a tool of a sub-agent alone": ([GO, tool("c", at=12.0, agent="lane1")], ("bash", 12.0)),
    "all that runs waits for the user": ([GO, tool("c"), ask()], None),
    "one waits, one runs": (
        [GO, tool("c"), ask(), tool("d", "read", at=13.0)],
        ("read", 13.0),
    ),
    "a sub-agent answers while a call waits": (
        [GO, tool("c"), ask(), started("b", agent="lane1")],
        ("answering", 10.0),
    ),
    "an allowed tool counts from the answer": (
        [GO, tool("c", at=12.0), ask(), answer(at=60.0)],
        ("bash", 60.0),
    ),
    "a request before the start is reported": ([GO, ask(), tool("c", at=12.0)], None),
    "a turn that ended": ([GO, tool("c"), turn_ended()], None),
    "a turn told again after its end": ([GO, turn_ended(), GO], None),
    "a turn told twice keeps its tools": ([GO, tool("c", at=12.0), GO], ("bash", 12.0)),
    "a session that closed": ([GO, tool("c"), make(SessionClosed)], None),
    "a lane that closed": (
        [GO, tool("c", agent="lane1"), make(LaneClosed, lane="lane1")],
        ("working", 10.0),
    ),
    "a replayed turn": ([turn(replayed=True), tool("c", replayed=True)], None),
    "a session that opens": (
        [make(ModuleLoading, module_id="a", kind="tool", at=5.0)],
        ("opening", 5.0),
    ),
    "a session that is open": (
        [make(ModuleLoading, module_id="a", kind="tool"), opened()],
        None,
    ),
    "a module mounted later": (
        [opened(), make(ModuleLoading, module_id="a", kind="tool")],
        None,
    ),
    "a session that did not open": (
        [
            make(ModuleLoading, module_id="a", kind="tool"),
            make(Failed, kind="bundle", message="broken"),
        ],
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_spinner_says_what_moves(name: str) -> None:
    events, expected = CASES[name]
    phase = new_state(*events).activity.phase
    assert (None if phase is None else (phase.word, phase.since)) == expected


def stop(immediate: bool) -> CancelRequested:
    return make(CancelRequested, immediate=immediate)


def test_a_stop_is_acknowledged_in_two_stages() -> None:
    state = new_state(GO, tool("c"), stop(False))
    assert state.activity.stop == "stopping…"
    assert state.activity.phase is not None
    assert state.activity.phase.word == "stopping"
    state.apply([stop(True), stop(False)])
    assert state.activity.stop == "stopping now…"
    state.apply([turn_ended(status="cancelled", duration_ms=5.0)])
    assert (state.activity.stop, state.activity.phase) == ("", None)


def test_a_stop_without_a_turn_stops_nothing() -> None:
    assert new_state(stop(False)).activity.stop == ""


def test_the_next_turn_is_not_stopping() -> None:
    state = new_state(GO, stop(False), turn(2, at=20.0))
    assert (state.activity.stop, state.activity.turn) == ("", 2)
