import copy
from typing import Any

import pytest

from amplifier_tui.foundation.session import (
    count_turns,
    fork_session_in_memory,
    get_turn_boundaries,
    get_turn_summary,
    is_real_user_message,
    slice_to_turn,
)
from tests.foundation.session.conversations import CUT_OFF, TWO_TURNS, Row, result, said, user


@pytest.mark.parametrize(
    ("message", "real"),
    [
        (user("hello"), True),
        ({"role": "user", "content": [{"type": "text", "text": "hello"}]}, True),
        ({"role": "user", "content": [{"type": "image"}, {"type": "tool_result"}]}, True),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}, False),
        (user("x", tool_call_id="a"), False),
        (user("x", metadata={"source": "hook"}), False),
        (user("<system-reminder>x</system-reminder>"), False),
        (said("x"), False),
        (result("a"), False),
        ({}, False),
    ],
)
def test_a_turn_begins_with_what_the_user_wrote(message: Row, real: bool) -> None:
    assert is_real_user_message(message) is real


def test_turns_are_counted_by_where_they_begin() -> None:
    rows = [{"role": "system", "content": "be brief"}, *TWO_TURNS]
    assert (get_turn_boundaries(rows), count_turns(rows), count_turns([])) == ([1, 5], 2, 0)


def test_a_slice_has_all_up_to_the_end_of_its_turn_as_copies() -> None:
    before = copy.deepcopy(TWO_TURNS)
    kept = slice_to_turn(TWO_TURNS, 1)
    assert kept == TWO_TURNS[:4]
    kept[1]["tool_calls"][0]["tool"] = "other"
    assert before == TWO_TURNS
    assert slice_to_turn(TWO_TURNS, 2) == TWO_TURNS


@pytest.mark.parametrize("turn", [0, -1, 3])
def test_a_turn_that_is_not_there_is_an_error_that_says_how_many_there_are(turn: int) -> None:
    for cut in (slice_to_turn, get_turn_summary):
        with pytest.raises(ValueError, match=rf"no turn {turn}: the session has 2"):
            cut(TWO_TURNS, turn)


def test_a_call_without_a_result_gets_one_behind_those_that_came() -> None:
    kept = slice_to_turn(CUT_OFF, 2)
    assert [row.get("tool_call_id") for row in kept[-3:]] == [None, "b", "c"]
    assert kept[-1]["content"].startswith("No result") and kept[-1]["metadata"]["is_error"]


def test_a_call_without_a_result_can_be_removed_or_refused() -> None:
    kept = slice_to_turn(CUT_OFF, 2, handle_orphaned_tools="remove")
    assert [call["id"] for call in kept[-2]["tool_calls"]] == ["b"]
    blocks = [{"type": "tool_use", "id": "x", "name": "bash", "input": {}}]
    rows = [user("one"), {"role": "assistant", "content": blocks}]
    assert slice_to_turn(rows, 1, handle_orphaned_tools="remove") == [user("one")]
    with pytest.raises(ValueError, match="without a result: c"):
        slice_to_turn(CUT_OFF, 2, handle_orphaned_tools="error")


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (1, {"user_content": "one", "assistant_content": "first", "tool_count": 1}),
        (2, {"user_content": "two", "assistant_content": "second", "tool_count": 0}),
    ],
)
def test_a_turn_is_summed_up(turn: int, expected: dict[str, Any]) -> None:
    summary = get_turn_summary(TWO_TURNS, turn)
    assert expected.items() <= summary.items()
    assert summary["turn"] == turn
    assert get_turn_summary(TWO_TURNS, 1, max_length=4)["assistant_content"] == "fir…"


def test_a_fork_in_memory_has_the_messages_and_writes_nothing() -> None:
    fork = fork_session_in_memory(TWO_TURNS, turn=1, parent_id="p")
    assert (fork.parent_id, fork.forked_from_turn, fork.message_count) == ("p", 1, 4)
    assert fork.session_dir is None and fork.messages == TWO_TURNS[:4]
    assert fork_session_in_memory(TWO_TURNS).messages == TWO_TURNS
    assert fork_session_in_memory([]).messages == []
