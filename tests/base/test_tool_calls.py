import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.messages.tool_calls import (
    NO_RESULT,
    answers_of,
    as_arguments,
    calls_of,
    failed_result,
    match_calls,
    read_call,
    tool_names_of,
    unanswered,
)

Row = dict[str, object]


def calling(*ids: str) -> Row:
    return {"role": "assistant", "tool_calls": [{"id": i, "name": f"tool-{i}"} for i in ids]}


def test_calls_are_found_in_every_form_and_each_once() -> None:
    row = {
        "role": "assistant",
        "content": [{"type": "tool_call", "id": "a", "name": "bash", "input": {}}],
        "tool_calls": [
            {"id": "a", "name": "bash"},
            {"id": "b", "function": {"name": "grep", "arguments": "{}"}},
            {"id": "c", "tool": "todo"},
            "not a call",
        ],
    }
    assert [(call.call_id, call.name) for call in calls_of(row)] == [
        ("a", "bash"),
        ("b", "grep"),
        ("c", "todo"),
    ]


@pytest.mark.parametrize(
    "item",
    [
        {"id": "a", "name": "bash", "arguments": {"n": 1}},
        {"id": "a", "tool": "bash", "arguments": '{"n": 1}'},
        {"type": "tool_use", "id": "a", "name": "bash", "input": {"n": 1}},
        {"id": "a", "type": "function", "function": {"name": "bash", "arguments": '{"n": 1}'}},
        {"tool_call_id": "a", "name": "bash", "input": {"n": 1}},
    ],
)
def test_a_call_is_the_same_in_whatever_form_it_is_recorded(item: Row) -> None:
    call = read_call(item)
    assert (call.call_id, call.name, call.arguments) == ("a", "bash", {"n": 1})


def test_arguments_that_are_no_json_are_kept_as_text() -> None:
    assert as_arguments("{half") == {"arguments": "{half"}
    assert as_arguments(None) == {}
    assert as_arguments([1]) == {}


def test_results_are_rows_or_blocks_of_rows() -> None:
    assert answers_of({"role": "tool", "tool_call_id": 7, "content": "x"}) == ("7",)
    blocks = [
        {"type": "tool_result", "tool_use_id": "a"},
        {"type": "text", "text": "and"},
        {"type": "tool_result", "tool_call_id": "b"},
    ]
    assert answers_of({"role": "user", "content": blocks}) == ("a", "b")
    assert answers_of({"role": "tool", "content": blocks}) == ("a", "b")
    assert answers_of({"role": "assistant", "content": blocks}) == ()
    assert answers_of({"role": "user", "content": "a"}) == ()


def test_calls_without_a_result_are_found_in_order() -> None:
    rows = [calling("a", "b"), {"role": "tool", "tool_call_id": "a"}, calling("c", "")]
    assert [call.call_id for call in unanswered(rows)] == ["b", "c"]
    assert tool_names_of(rows)["c"] == "tool-c"


def test_a_made_up_result_says_that_it_is_one() -> None:
    row = failed_result("a", "bash", mark="interrupted")
    assert (row["role"], row["tool_call_id"], row["name"]) == ("tool", "a", "bash")
    assert row["content"] == NO_RESULT
    assert row["metadata"] == {"is_error": True, "interrupted": True}
    assert "name" not in failed_result("a", "")


def test_results_find_their_calls_however_far_away() -> None:
    found = match_calls([(["a", "b"], []), ([], ["b"]), ([], []), ([], ["a"]), ([], ["a"])])
    assert found.results == {(0, 0): 3, (0, 1): 1}
    assert found.orphans == {4}


def test_an_id_used_again_starts_afresh() -> None:
    found = match_calls([(["a"], []), (["a"], []), ([], ["a"])])
    assert found.results == {(1, 0): 2}


def test_two_calls_with_one_id_take_two_results_in_order() -> None:
    found = match_calls([(["a", "a"], []), ([], ["a"]), ([], ["a"])])
    assert found.results == {(0, 0): 1, (0, 1): 2}


@given(
    st.recursive(
        st.none() | st.booleans() | st.text() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_nothing_in_a_row_makes_reading_fail(value: object) -> None:
    for row in (
        {"role": "assistant", "content": value, "tool_calls": value},
        {"role": "assistant", "content": [value], "tool_calls": [value, {"function": value}]},
        {"role": "tool", "content": [value], "tool_call_id": value},
    ):
        assert json.dumps([call.call_id for call in calls_of(row)])
        answers_of(row)
        unanswered([row])
