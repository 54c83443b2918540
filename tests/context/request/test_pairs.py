from amplifier_tui.context.request.pairs import repaired
from tests.context.support import (
    Row,
    assistant,
    calling,
    hooked,
    read_entries,
    result,
    unpaired,
    user,
)


def view(*rows: Row) -> list[Row]:
    names: dict[str, str] = {}
    return [dict(e.message) for e in repaired(read_entries(rows, names), names)]


def test_a_conversation_in_order_is_left_alone() -> None:
    rows = [user(), calling("a", "b"), result("b"), result("a"), assistant()]
    names: dict[str, str] = {}
    read = read_entries(rows, names)
    assert repaired(read, names) is read


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    seen = view(user(), calling("a", "b", tool="grep"), result("a"), user("go on"))
    made = seen[3]
    assert (made["role"], made["tool_call_id"], made["name"]) == ("tool", "b", "grep")
    assert "interrupted" in made["content"]
    assert made["metadata"]["is_error"] is True
    assert unpaired(seen) == (set(), set())


def test_a_result_without_a_call_is_told_as_text() -> None:
    seen = view(user(), result("gone", "42 lines", "wc"), assistant())
    assert seen[1]["role"] == "user"
    assert "42 lines" in seen[1]["content"]
    assert "wc" in seen[1]["content"]


def test_words_between_a_call_and_its_result_come_after_it() -> None:
    seen = view(user(), calling("a"), hooked("steer"), result("a"), assistant())
    assert [row["role"] for row in seen] == ["user", "assistant", "tool", "user", "assistant"]
    assert seen[3]["content"] == "steer"


def test_the_second_result_of_a_call_is_no_result() -> None:
    seen = view(user(), calling("a"), result("a", "one"), result("a", "two"))
    assert [row["role"] for row in seen] == ["user", "assistant", "tool", "user"]
    assert "two" in seen[3]["content"]


def test_an_id_used_again_is_answered_by_what_follows_it() -> None:
    seen = view(calling("a"), user("stop"), calling("a"), result("a", "late"))
    assert "interrupted" in seen[1]["content"]
    assert seen[4]["content"] == "late"


def test_results_in_a_users_message_become_rows_of_their_own() -> None:
    blocks = [
        {"type": "tool_result", "tool_call_id": "a", "output": "A"},
        {"type": "tool_result", "tool_use_id": "gone", "content": "B", "is_error": True},
        {"type": "text", "text": "and now?"},
    ]
    seen = view(calling("a"), hooked(), {"role": "user", "content": blocks})
    assert [row["role"] for row in seen] == ["assistant", "tool", "user", "user", "user"]
    assert seen[1]["content"] == "A"
    assert "B" in seen[3]["content"]
    assert seen[4]["content"] == [{"type": "text", "text": "and now?"}]


def test_an_old_flaw_does_not_reorder_what_is_in_order() -> None:
    seen = view(calling("a", "b"), result("b"), result("a"), calling("c"), user())
    assert [row["tool_call_id"] for row in seen if row["role"] == "tool"] == ["b", "a", "c"]


def test_an_orphan_that_is_a_list_of_blocks_is_told_as_one() -> None:
    row = {"role": "tool", "tool_call_id": "gone", "content": [{"type": "text", "text": "found"}]}
    (told,) = repaired(read_entries([row], {}), {})
    label = {"type": "text", "text": "[Result of an earlier tool call (tool)]"}
    assert told.message["content"] == [label, {"type": "text", "text": "found"}]
    assert told.message["role"] == "user"
    (empty,) = repaired(read_entries([{**row, "content": None}], {}), {})
    assert empty.message["content"] == label["text"]
