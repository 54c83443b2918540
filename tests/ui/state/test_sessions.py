import pytest

from amplifier_tui.host.events import (
    Failed,
    HostEvent,
    ModeChanged,
    ModelChanged,
    ModuleFailed,
    ModuleLoading,
    ModuleMounted,
    Notice,
    QueueChanged,
    SessionClosed,
    TrustAnswered,
)
from amplifier_tui.ui.state.conversation.entries import (
    ErrorEntry,
    NoteEntry,
    UserEntry,
    WelcomeEntry,
)
from amplifier_tui.ui.state.session import SessionState
from tests.ui.state.make import ended, make, new_state, opened, traced, turn, turn_ended
from tests.ui.trust_questions import asked, power


def loading(module_id: str, session_id: str = "s1") -> ModuleLoading:
    return make(ModuleLoading, module_id=module_id, kind="tool", session_id=session_id)


def mounted(module_id: str, session_id: str = "s1") -> ModuleMounted:
    return make(ModuleMounted, module_id=module_id, kind="tool", session_id=session_id)


def said(state: SessionState) -> list[str]:
    return [entry.text for entry in state.entries if isinstance(entry, UserEntry)]


def running() -> SessionState:
    return new_state(loading("tool-a"), mounted("tool-a"), opened(), turn(1, "first"), traced(1))


def test_modules_are_seen_loading_before_the_session_is_open() -> None:
    state = new_state(loading("tool-a"))
    assert state.modules.count("loading") == 1
    assert not state.facts.opened


def test_a_session_being_opened_changes_nothing_until_it_is_open() -> None:
    state = running()
    state.apply([loading("tool-b", "s2"), mounted("tool-b", "s2"), traced(1, session_id="s2")])
    assert list(state.modules.by_key) == ["tool-a"]
    assert state.log.total == 1
    assert state.facts.session_id == "s1"


def test_the_session_that_opens_takes_the_screen_with_what_it_said_before() -> None:
    state = running()
    state.apply([loading("tool-b", "s2"), mounted("tool-b", "s2"), traced(7, session_id="s2")])
    changes = state.apply([opened(session_id="s2", bundle="minimal")])
    assert changes[0].op == "clear"
    assert list(state.modules.by_key) == ["tool-b"]
    assert state.log.find(7) is not None
    assert state.facts.bundle == "minimal"
    assert [type(entry) for entry in state.entries] == [WelcomeEntry]


def test_a_bundle_that_cannot_be_opened_leaves_the_session_and_says_why() -> None:
    state = running()
    state.apply(
        [
            loading("tool-b", "s2"),
            make(Failed, kind="bundle", message="broken", session_id="s2"),
            ended("b", "still here"),
        ]
    )
    assert state.facts.session_id == "s1"
    assert list(state.modules.by_key) == ["tool-a"]
    assert isinstance(state.entries[-2], ErrorEntry)
    assert state.activity.phase is not None
    assert state.activity.phase.word != "opening"


def test_opening_another_session_shows_as_activity() -> None:
    state = new_state(opened(), loading("tool-b", "s2"))
    assert state.activity.phase is not None
    assert state.activity.phase.word == "opening"


def test_a_failure_while_opening_is_still_there_when_the_session_opens_all_the_same() -> None:
    state = running()
    failure = make(Failed, kind="internal", message="No log", session_id="s2")
    state.apply([loading("tool-b", "s2"), failure, opened(session_id="s2")])
    assert [type(entry) for entry in state.entries] == [ErrorEntry, WelcomeEntry]


def test_late_events_of_the_session_that_was_left_are_dropped() -> None:
    state = running()
    state.apply([opened(session_id="s2")])
    state.apply([ended("b", "late"), turn_ended(), make(SessionClosed), traced(2)])
    assert [type(entry) for entry in state.entries] == [WelcomeEntry]
    assert state.log.total == 0
    assert not state.facts.closed


def test_what_the_session_that_was_left_says_late_never_shows() -> None:
    state = running()
    state.apply([opened(session_id="s2")])
    state.apply([make(Failed, kind="internal", message="late"), ended("b", "late")])
    assert [type(entry) for entry in state.entries] == [WelcomeEntry]
    state.apply([opened()])
    assert [type(entry) for entry in state.entries] == [WelcomeEntry]


def test_a_notice_of_the_session_that_was_left_is_shown() -> None:
    state = running()
    state.apply([opened(session_id="s2"), make(Notice, level="warning", text="cleanup failed")])
    shown = state.notices.current(1_000.0)
    assert shown is not None
    assert shown.notice.text == "cleanup failed"


def test_notices_outlive_the_session_they_came_in() -> None:
    state = running()
    state.apply([make(Notice, level="info", text="hello"), opened(session_id="s2")])
    assert [shown.notice.text for shown in state.notices.history] == ["hello"]


def test_a_carried_conversation_is_divided_where_the_bundle_changed() -> None:
    state = running()
    state.apply(
        [
            opened(session_id="s2", bundle="minimal"),
            turn(1, "first", session_id="s2", replayed=True),
            turn(2, "second", session_id="s2"),
        ]
    )
    words = [entry.text for entry in state.entries if isinstance(entry, UserEntry | NoteEntry)]
    assert words == ["first", "Switched to minimal", "second"]


def test_a_switch_to_a_bundle_that_works_in_another_folder_names_it() -> None:
    state = running()
    state.apply([turn(1, "first"), turn_ended(), opened(bundle="minimal", cwd="/home/me/own")])
    notes = [entry.text for entry in state.entries if isinstance(entry, NoteEntry)]
    assert notes == ["Switched to minimal · works in /home/me/own now"]


def switched(*before: HostEvent, **to: str) -> str:
    """Return what is said of a switch to another bundle."""
    state = new_state(opened(provider="anthropic", model="big"), turn(1, "first"), *before)
    state.apply(
        [
            opened(session_id="s2", bundle="minimal", **to),
            turn(1, "first", session_id="s2", replayed=True),
            turn(2, "second", session_id="s2"),
        ]
    )
    return next(entry.text for entry in state.entries if isinstance(entry, NoteEntry))


def test_a_switch_to_a_bundle_with_another_model_names_the_one_that_answers_from_now_on() -> None:
    to_small = {"provider": "openai", "model": "small"}
    assert switched(**to_small) == "Switched to minimal · small answers from now on"
    elsewhere = switched(provider="local", model="big")
    assert elsewhere == "Switched to minimal · local/big answers from now on"


def test_a_switch_of_the_bundle_names_no_model_that_answered_already() -> None:
    assert switched(provider="anthropic", model="big") == "Switched to minimal"
    chosen = make(ModelChanged, provider="openai", model="small", chosen="model")
    assert switched(chosen, provider="openai", model="small") == "Switched to minimal"
    assert "big answers" in switched(chosen, provider="anthropic", model="big")


@pytest.mark.parametrize("before", [True, False])
def test_a_session_that_goes_on_in_mode_auto_says_so_once(before: bool) -> None:
    left = make(ModeChanged, mode="auto", by="session")
    history = turn(1, "first", replayed=True)
    session = opened(resumed=True)
    state = new_state()
    state.apply([session, left, history] if before else [session, history])
    state.apply([turn(2, "second"), turn_ended(), left, left])
    notes = [entry.text for entry in state.entries if isinstance(entry, NoteEntry)]
    assert len([text for text in notes if "mode auto" in text.lower()]) == 1


@pytest.mark.parametrize(("mode", "by"), [("edits", "session"), ("auto", "user")])
def test_another_mode_is_in_the_status_bar_alone(mode: str, by: str) -> None:
    state = new_state(opened(resumed=True), turn(1, "first", replayed=True))
    state.apply([make(ModeChanged, mode=mode, by=by), turn(2, "second")])
    assert not any("mode" in e.text for e in state.entries if isinstance(e, NoteEntry))


def test_replayed_events_may_come_before_the_session_is_open() -> None:
    state = running()
    state.apply(
        [
            turn(1, "old", session_id="s2", replayed=True),
            opened(session_id="s2", bundle="minimal"),
        ]
    )
    assert said(state) == ["old"]


def test_a_session_resumed_by_its_own_id_starts_over() -> None:
    state = running()
    state.apply([make(SessionClosed), loading("tool-a"), opened(resumed=True)])
    assert said(state) == []
    state.apply([turn(1, "first", replayed=True), turn(2, "next")])
    assert said(state) == ["first", "next"]
    assert list(state.modules.by_key) == ["tool-a"]


def test_a_session_that_was_left_can_be_opened_again() -> None:
    state = running()
    state.apply([opened(session_id="s2")])
    state.apply([loading("tool-a"), mounted("tool-a"), opened(resumed=True)])
    assert state.facts.session_id == "s1"
    assert list(state.modules.by_key) == ["tool-a"]


def test_after_a_failed_start_the_next_attempt_is_watched() -> None:
    state = new_state(
        loading("tool-a"),
        make(ModuleFailed, module_id="tool-a", kind="tool", error="no"),
        make(Failed, kind="bundle", message="broken"),
        loading("tool-b", "s2"),
    )
    assert list(state.modules.by_key) == ["tool-b"]


def test_after_an_opening_that_was_not_wanted_the_next_one_can_ask_again() -> None:
    state = new_state(
        asked(power()),
        make(TrustAnswered, request_id="t1"),
        make(Failed, kind="cancelled", message="Nothing was opened"),
        asked(power(), request_id="t2", session_id="s2"),
    )
    assert state.trust.pending is not None and state.trust.pending.request_id == "t2"


def test_what_was_cancelled_behind_an_open_session_is_a_note_in_it() -> None:
    cancelled = make(Failed, kind="cancelled", message="Nothing was opened", session_id="s2")
    state = running()
    state.apply([turn_ended(1), asked(power(), session_id="s2")])
    state.apply([make(TrustAnswered, request_id="t1", session_id="s2"), cancelled])
    assert not [entry for entry in state.entries if isinstance(entry, ErrorEntry)]
    note = state.entries[-1]
    assert isinstance(note, NoteEntry) and note.level == "info"
    assert note.text == "Nothing was opened. This session stays as it is."
    alone = new_state(cancelled)
    assert isinstance(alone.entries[-1], ErrorEntry)


def test_the_next_attempt_begun_behind_a_closing_session_is_complete() -> None:
    state = running()
    state.apply([loading("tool-b", "s2"), mounted("tool-b", "s2"), make(SessionClosed)])
    state.apply([loading("tool-c", "s2"), opened(session_id="s2")])
    assert sorted(state.modules.by_key) == ["tool-b", "tool-c"]


def test_a_closed_session_keeps_its_words_and_how_to_resume_it() -> None:
    state = running()
    state.apply([make(QueueChanged, items=("later",))])
    state.apply([make(SessionClosed, resume_command="amplifier-tui --resume s1", last_answer="x")])
    assert state.facts.closed
    assert state.facts.resume_command == "amplifier-tui --resume s1"
    assert said(state) == ["first"]
    assert state.queue.items == ()
    assert not state.activity.running


def test_an_open_event_told_twice_changes_nothing() -> None:
    state = running()
    versions = [section.version for section in state._sections]
    assert state.apply([opened()]) == []
    assert [section.version for section in state._sections] == versions


def test_an_event_without_a_session_belongs_to_the_one_on_screen() -> None:
    state = running()
    state.apply([make(Failed, kind="internal", message="engine died", session_id="")])
    assert isinstance(state.entries[-1], ErrorEntry)
