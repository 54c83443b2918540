"""What is said while nothing comes: a request that is sent again, a stream that is silent."""

import pytest

from amplifier_tui.host.events import (
    Compacted,
    Failed,
    HostEvent,
    JobChanged,
    LimitAsked,
    Notice,
    ProviderRetrying,
    ShellStarted,
)
from amplifier_tui.ui.state.conversation.entries import RetryEntry
from amplifier_tui.ui.state.session import SILENCE, SessionState
from amplifier_tui.ui.state.status_line import notice_segment
from tests.ui.state.make import (
    NOW,
    delta,
    make,
    new_state,
    started,
    tool,
    tool_ended,
    turn,
    turn_ended,
)


def retry(**fields: object) -> ProviderRetrying:
    return make(ProviderRetrying, **{"at": NOW, "delay": 30.0, "status": 429, **fields})


def retries(state: SessionState) -> list[RetryEntry]:
    return [entry for entry in state.entries if isinstance(entry, RetryEntry)]


@pytest.mark.parametrize(
    "end",
    [
        started("b", at=NOW + 30),
        tool("c", at=NOW + 30),
        turn_ended(status="cancelled", at=NOW + 2),
        make(Failed, kind="rate_limit", message="no", at=NOW + 2),
        make(Compacted, before_tokens=18_900, after_tokens=3_400, at=NOW + 30),
        make(Notice, level="warning", text="No summary came", source="context", at=NOW + 30),
    ],
)
def test_a_request_that_is_sent_again_stands_there_until_something_comes(end: HostEvent) -> None:
    state = new_state(turn(at=NOW), retry(attempt=1), retry(attempt=2, at=NOW + 9))
    (entry,) = retries(state)
    assert entry.event.attempt == 2
    state.apply([end])
    assert retries(state) == []
    assert state.notices.retrying is None


def test_each_lane_has_its_own() -> None:
    state = new_state(turn(at=NOW), retry(), retry(agent="child"))
    assert len(retries(state)) == 2
    state.apply([started("b", agent="child", at=NOW)])
    assert [entry.agent for entry in retries(state)] == ["main"]


def silent(state: SessionState, seconds: float) -> str:
    segment = notice_segment(state, NOW + seconds)
    return "".join(text for text, _ in segment.pieces) if segment is not None else ""


def test_a_silent_stream_says_so_and_what_can_be_done() -> None:
    state = new_state(turn(at=NOW), started("b", at=NOW), delta("b", "One ", at=NOW + 1))
    assert silent(state, SILENCE) == ""
    assert silent(state, 14) == "! nothing for 13 s: esc stops"
    # What else happens is no sign of life of the model.
    state.apply([make(ShellStarted, command_id="c", command="ls", at=NOW + 13)])
    state.apply([make(Notice, level="info", text="x", at=NOW + 13)])
    state.apply([make(JobChanged, job_id="j", command="npm run dev", tail="tick", at=NOW + 13)])
    state.notices.dismiss()
    assert silent(state, 14) != ""
    state.apply([delta("b", "two", at=NOW + 13.5)])
    assert silent(state, 14) == ""
    state.apply([turn_ended(at=NOW + 14)])
    assert silent(state, 99) == ""


@pytest.mark.parametrize(
    "event",
    [
        tool("c", at=NOW),
        retry(),
        make(LimitAsked, request_id="l", at=NOW),
    ],
)
def test_where_something_else_is_waited_for_nothing_is_said(event: HostEvent) -> None:
    state = new_state(turn(at=NOW), event)
    assert "nothing for" not in silent(state, 60)


def test_after_a_tool_the_model_is_waited_for_again() -> None:
    state = new_state(turn(at=NOW), tool("c", at=NOW), tool_ended("c", at=NOW + 50))
    assert silent(state, 55) == ""
    assert "nothing for 12 s" in silent(state, 62)
