from amplifier_tui.host.events import Notice
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.state.small_sections import LIFETIME
from tests.ui.state.make import make


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def notice(text: str, **fields: object) -> Notice:
    return make(Notice, level="info", text=text, **fields)


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
