import pytest

from amplifier_tui.host.events import (
    Compacted,
    Failed,
    HostEvent,
    ModuleFailed,
    ModuleMounted,
    Notice,
    TurnEnded,
)
from amplifier_tui.ui.state.conversation.entries import (
    ErrorEntry,
    NoteEntry,
    UserEntry,
    WelcomeEntry,
)
from amplifier_tui.ui.state.session import SessionState
from tests.ui.state.make import make, new_state, opened, turn, turn_ended

SOURCE = make(Failed, kind="context_source", message="No", prompt="fix it", source="memory")


def newest(state: SessionState) -> ErrorEntry | None:
    return state.conversation.failures.newest


def test_a_failure_in_a_turn_is_gone_on_with() -> None:
    state = new_state(opened(), turn(), make(Failed, kind="network", message="No", prompt="fix it"))
    failed = newest(state)
    assert failed is not None and failed.taken


def test_a_prompt_that_no_turn_ran_for_is_not_taken() -> None:
    failure = make(Failed, kind="no_session", message="No", prompt="again")
    state = new_state(opened(), turn(), turn_ended(), failure)
    failed = newest(state)
    assert failed is not None and not failed.taken


def test_a_later_turn_leaves_nothing_to_try_again() -> None:
    state = new_state(opened(), turn(), SOURCE, turn_ended(status="error"))
    assert newest(state) is not None
    state.apply([turn(2, "something else")])
    assert newest(state) is None
    assert not any(e.retryable for e in state.entries if isinstance(e, ErrorEntry))


def test_a_failed_source_can_be_tried_again_whatever_the_kind_of_failure() -> None:
    state = new_state(opened(), turn(), SOURCE)
    entry = state.entries[-1]
    assert isinstance(entry, ErrorEntry)
    assert (entry.retryable, entry.source) == (True, "memory")


def test_a_failure_of_the_stored_part_is_not_offered_again() -> None:
    stored = make(Failed, kind="network", message="No", prompt="x", retryable=True, replayed=True)
    state = new_state(opened(resumed=True), turn(replayed=True), stored)
    assert newest(state) is None
    kept = state.entries[-1]
    assert isinstance(kept, ErrorEntry) and not (kept.retryable or kept.prompt)


def test_a_session_that_opens_offers_what_it_goes_on_with() -> None:
    stored = make(Failed, kind="network", message="No", prompt="x", retryable=True, replayed=True)
    ended = turn_ended(status="error", replayed=True)
    state = new_state(turn(replayed=True, prompt="x"), stored, ended)
    state.apply([opened(resumed=True, failed="x")])
    failed = newest(state)
    assert failed is not None and (failed.prompt, failed.taken, failed.retryable) == (
        "x",
        True,
        True,
    )
    state.apply([turn(2)])
    assert newest(state) is None and not failed.retryable


def test_the_failure_of_an_earlier_turn_is_not_taken_for_that_of_the_last() -> None:
    stored = make(Failed, kind="network", message="No", prompt="x", retryable=True, replayed=True)
    state = new_state(turn(replayed=True, prompt="x"), stored, turn(2, "y", replayed=True))
    state.apply([opened(resumed=True, failed="y")])
    assert newest(state) is None


def test_a_turn_that_is_tried_again_shows_its_prompt_once() -> None:
    state = new_state(opened(), turn(at=1.0), SOURCE, turn_ended(status="error"))
    state.apply([turn(at=2.0)])
    kinds = [type(entry) for entry in state.entries]
    assert kinds == [UserEntry, ErrorEntry, NoteEntry]
    assert state.entries[-1].text == "Trying again"


def test_the_same_words_sent_once_more_are_a_prompt_of_their_own() -> None:
    state = new_state(opened(), turn(1, "go on"), turn_ended(), turn(2, "go on"))
    assert [type(entry) for entry in state.entries] == [UserEntry, UserEntry]


def test_another_session_knows_nothing_of_the_failure() -> None:
    state = new_state(opened(), turn(), SOURCE)
    state.apply([opened(session_id="s2")])
    assert newest(state) is None


# --- the card of the empty session ---------------------------------------------------------

KEY = ("ANTHROPIC_API_KEY",)
NO_KEY = make(ModuleFailed, module_id="provider-a", kind="provider", error="no key", missing=KEY)
UNREADY = make(Failed, kind="no_provider", message="No provider", remedy="Set it", missing=KEY)


@pytest.mark.parametrize("first", [True, False])
def test_a_session_without_a_provider_says_so_once_in_its_card(first: bool) -> None:
    order = [UNREADY, opened()] if first else [opened(), UNREADY]
    state = new_state(NO_KEY, *order)
    (card,) = state.entries
    assert isinstance(card, WelcomeEntry)
    assert (card.problem, card.remedy, card.missing) == ("No provider", "Set it", KEY)
    assert [(line.name, line.missing) for line in card.providers] == [("provider-a", KEY)]


def test_a_provider_that_comes_after_all_clears_the_card() -> None:
    state = new_state(NO_KEY, opened(), UNREADY)
    state.apply([make(ModuleMounted, module_id="provider-b", kind="provider")])
    (card,) = state.entries
    assert isinstance(card, WelcomeEntry) and card.problem == ""


def test_the_card_keeps_why_the_last_key_was_not_taken_until_the_next_try() -> None:
    state = new_state(NO_KEY, opened(), UNREADY)
    (card,) = state.entries
    for text in ("Nothing was kept: no connection", "Nothing was kept: a wrong key"):
        state.apply([make(Notice, level="warning", text=text, source="setup")])
        assert isinstance(card, WelcomeEntry) and card.tried == text
    state.apply([make(Notice, level="warning", text="Something else", source="settings")])
    assert card.tried == text


@pytest.mark.parametrize("shown", [(NO_KEY, opened(), turn()), (opened(),)])
def test_where_no_card_tells_why_a_key_was_not_taken_the_conversation_keeps_it(
    shown: tuple[HostEvent, ...],
) -> None:
    state = new_state(*shown)
    before = len(state.entries)
    text = "Nothing was kept: no connection. Check base_url."
    state.apply([make(Notice, level="warning", text=text, source="setup")])
    state.apply([make(Notice, level="info", text="It answers. Kept.", source="setup")])
    (note,) = state.entries[before:]
    assert isinstance(note, NoteEntry) and (note.text, note.level) == (text, "warning")


def test_a_resumed_session_without_a_provider_has_no_card_and_says_it_in_an_error() -> None:
    state = new_state(turn(replayed=True), opened(resumed=True), UNREADY)
    assert any(isinstance(entry, ErrorEntry) for entry in state.entries)
    assert not any(isinstance(entry, WelcomeEntry) for entry in state.entries)


def test_a_prompt_no_provider_answers_is_an_error_like_any_other() -> None:
    failure = make(Failed, kind="no_provider", message="No provider", prompt="fix it", missing=KEY)
    state = new_state(opened(), turn(), failure, make(TurnEnded, turn=1, status="error"))
    assert [type(entry) for entry in state.entries] == [UserEntry, ErrorEntry]


# --- dividers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"rows": 14, "strategy": "rule"}, "Compacted 118k → 31k · 14 messages shortened"),
        ({"rows": 1, "strategy": "level 2"}, "Compacted 118k → 31k · 1 message shortened"),
        ({"rows": 8, "left_out": 8}, "Compacted 118k → 31k · 8 messages left out"),
        (
            {"rows": 8, "left_out": 1},
            "Compacted 118k → 31k · 1 message left out · 7 messages shortened",
        ),
        ({"rows": 9, "strategy": "summary"}, "Compacted 118k → 31k · 9 messages in a summary"),
        ({}, "Compacted 118k → 31k"),
    ],
)
@pytest.mark.parametrize("replayed", [True, False])
def test_a_compaction_leaves_a_divider(
    fields: dict[str, object], words: str, replayed: bool
) -> None:
    event = make(Compacted, before_tokens=118_000, after_tokens=31_000, replayed=replayed, **fields)
    state = new_state(opened(), turn(replayed=replayed), event)
    notes = [entry.text for entry in state.entries if isinstance(entry, NoteEntry)]
    assert notes == [words]


def test_a_compaction_tells_its_summary_from_what_that_stands_for() -> None:
    told = {"strategy": "summary", "summary": "They greet.", "replaced": ("user · hi",)}
    event = make(Compacted, before_tokens=9, after_tokens=3, rows=1, **told)
    (note,) = [e for e in new_state(opened(), turn(), event).entries if isinstance(e, NoteEntry)]
    assert (note.detail, note.repeats) == ("They greet.", "user · hi")


def test_a_key_that_was_refused_is_asked_for_until_a_turn_is_answered() -> None:
    refused = make(Failed, kind="authentication", message="No", prompt="go", missing=("A_KEY",))
    state = new_state(opened(), turn(), refused, turn_ended(status="error"))
    assert state.conversation.missing == ("A_KEY",)
    state.apply([turn(2), turn_ended(2)])
    assert state.conversation.missing == ()
