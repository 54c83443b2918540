from typing import Any

import pytest

from amplifier_tui.host.events import (
    BlockStarted,
    Compacted,
    Failed,
    LaneClosed,
    LimitAsked,
    LimitChanged,
    Notice,
    ProviderRetrying,
    SessionOpened,
    ToolStarted,
    TurnEnded,
)
from amplifier_tui.ui.state.notices import LIFETIME
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.state.status_line import notice_segment
from tests.ui.requests import ask
from tests.ui.state.make import make


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def notice(text: str, level: str = "info", **fields: object) -> Notice:
    return make(Notice, level=level, text=text, **fields)


def text(state: SessionState, now: float) -> str | None:
    shown = state.notices.current(now)
    return shown.notice.text if shown is not None else None


def test_a_notice_stays_for_its_time() -> None:
    state = SessionState(clock=Clock())
    state.apply([notice("a")])
    assert text(state, 100.0 + LIFETIME - 0.1) == "a"
    assert text(state, 100.0 + LIFETIME) is None


def test_the_next_notice_takes_the_place_and_its_own_time() -> None:
    clock = Clock()
    state = SessionState(clock=clock)
    state.apply([notice("a")])
    clock.now = 105.0
    state.apply([notice("b")])
    assert text(state, 112.0) == "b"
    assert [shown.notice.text for shown in state.notices.history] == ["a", "b"]


@pytest.mark.parametrize("greater", [{"session_id": ""}, {"level": "error"}])
def test_an_error_and_what_answers_the_user_stay_for_three_seconds_before_a_lesser_notice(
    greater: dict[str, str],
) -> None:
    clock = Clock()
    state = SessionState(clock=clock)
    state.apply([notice("Forked", **greater)])
    clock.now = 100.5
    state.apply([notice("no server", level="warning"), notice("no other", level="warning")])
    assert text(state, 102.9) == "Forked" and state.notices.changes_at(102.9) == 103.0
    assert text(state, 103.0) == "no other"
    assert text(state, 103.0 + LIFETIME - 0.1) == "no other" and text(state, 111.1) is None
    assert [shown.notice.text for shown in state.notices.history] == [
        "Forked",
        "no server",
        "no other",
    ]


@pytest.mark.parametrize("by", [{"level": "error"}, {"session_id": ""}])
def test_an_error_and_the_next_answer_to_the_user_are_said_at_once(by: dict[str, str]) -> None:
    state = SessionState(clock=Clock())
    state.apply([notice("Forked", session_id=""), notice("now", **by)])
    assert text(state, 100.0) == "now"


def test_a_notice_that_waits_is_next_when_the_answer_is_dismissed_unless_its_end_came() -> None:
    clock = Clock()
    state = SessionState(clock=clock)
    state.apply([notice("Forked", session_id=""), notice("b", until="answer")])
    state.notices.dismiss()
    assert text(state, 100.0) == "b"
    state.apply([notice("Copied", session_id=""), notice("c", until="answer")])
    state.apply([make(ToolStarted, call_id="c", tool="bash")])
    assert text(state, 104.0) == "Copied"


def test_a_replayed_notice_is_history_only() -> None:
    state = SessionState(clock=Clock())
    state.apply([notice("old", replayed=True)])
    assert text(state, 100.0) is None
    assert len(state.notices.history) == 1


def test_a_dismissed_notice_is_history_only() -> None:
    state = SessionState(clock=Clock())
    state.apply([notice("a")])
    version = state.notices.version
    state.notices.dismiss()
    assert text(state, 100.0) is None
    assert state.notices.version == version + 1
    state.notices.dismiss()
    assert state.notices.version == version + 1


def test_the_time_counts_from_the_screens_clock_not_the_engines() -> None:
    state = SessionState(clock=Clock())
    state.apply([notice("a", at=1.0)])
    assert text(state, 101.0) == "a"


# --- notices with an end -----------------------------------------------------------------------

RETRY = {"provider": "anthropic", "attempt": 2, "most": 5, "delay": 4.0, "status": 529}


def bar(state: SessionState, now: float) -> str:
    segment = notice_segment(state, now)
    return "" if segment is None else "".join(piece for piece, _ in segment.pieces)


def test_the_wait_for_a_retry_is_counted_down_from_the_first_second_to_its_end() -> None:
    state = SessionState(clock=Clock())
    state.apply([make(ProviderRetrying, **RETRY, problem="Overloaded")])
    assert bar(state, 100.0) == "! anthropic: 529, trying again in 4 s (2 of 5)"
    assert bar(state, 103.5) == "! anthropic: 529, trying again in 1 s (2 of 5)"
    assert bar(state, 100.0 + LIFETIME + 60) == "! anthropic: 529, trying again now (2 of 5)"
    (told,) = state.notices.history
    assert told.notice.text == "Overloaded: trying again in 4 s (2 of 5)"


@pytest.mark.parametrize(
    "end",
    [
        make(BlockStarted, block_id="b", kind="text"),
        make(ToolStarted, call_id="c", tool="bash"),
        make(Failed, kind="overloaded", message="Overloaded"),
        make(SessionOpened, bundle="b", cwd="/", directory="/d", session_id="another"),
        make(TurnEnded, turn=1, status="cancelled"),
    ],
)
def test_the_line_about_a_retry_ends_when_the_answer_comes_or_nothing_will(end: Any) -> None:
    state = SessionState(clock=Clock())
    state.apply([make(ProviderRetrying, **RETRY)])
    version = state.notices.version
    state.apply([end])
    assert bar(state, 101.0) == "" and state.notices.version > version


def test_what_another_lane_answers_does_not_end_the_wait_of_this_one() -> None:
    state = SessionState(clock=Clock())
    state.apply(
        [make(ProviderRetrying, **RETRY), make(BlockStarted, block_id="b", kind="text", agent="a")]
    )
    assert "trying again" in bar(state, 101.0)


def test_the_wait_of_a_sub_agent_ends_with_it_and_with_no_other() -> None:
    state = SessionState(clock=Clock())
    state.apply([make(ProviderRetrying, **RETRY, agent="a")])
    state.apply([make(LaneClosed, lane="b", status="error")])
    assert "trying again" in bar(state, 101.0)
    state.apply([make(LaneClosed, lane="a", status="error")])
    assert bar(state, 101.0) == ""


def test_a_notice_that_comes_while_a_retry_is_waited_for_is_read_and_then_gives_way() -> None:
    clock = Clock()
    state = SessionState(clock=clock)
    state.apply([make(ProviderRetrying, **{**RETRY, "delay": 60.0})])
    clock.now = 101.0
    state.apply([notice("saved")])
    assert bar(state, 102.0) == "· saved"
    assert "trying again in 51 s" in bar(state, 109.0)


@pytest.mark.parametrize(
    ("until", "end"),
    [
        ("opened", make(SessionOpened, bundle="b", cwd="/", directory="/d")),
        ("answer", make(BlockStarted, block_id="b", kind="text")),
        ("answer", make(Failed, kind="overloaded", message="no", remedy="wait")),
        ("compacted", make(Compacted, before_tokens=2, after_tokens=1)),
        ("limit", make(LimitChanged, tokens=200_000)),
        ("asked", ask()),
        ("asked", make(LimitAsked, request_id="l")),
    ],
)
def test_a_notice_goes_with_what_it_is_about(until: str, end: Any) -> None:
    state = SessionState(clock=Clock())
    state.apply([notice("fetching", until=until)])
    assert text(state, 101.0) == "fetching"
    state.apply([end])
    assert text(state, 101.0) is None and len(state.notices.history) == 1
