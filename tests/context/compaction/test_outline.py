from amplifier_tui.context.compaction.outline import group_entries
from tests.context.support import assistant, calling, entries, result, system, user


def kinds(*rows: dict) -> list[tuple[str, list[int]]]:
    return [(group.kind, group.rows) for group in group_entries(entries(*rows))]


def test_a_call_and_its_results_are_one_group_wherever_they_are() -> None:
    rows = (system(), user(), calling("a", "b"), result("a"), user("wait"), result("b"))
    assert kinds(*rows) == [
        ("system", [0]),
        ("user", [1]),
        ("tool_call", [2, 3, 5]),
        ("user", [4]),
    ]


def test_reasoning_right_before_a_call_belongs_to_it() -> None:
    reasoning = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}
    assert kinds(reasoning, calling("a"), result("a")) == [("tool_call", [0, 1, 2])]
    assert kinds(reasoning, user(), calling("a")) == [
        ("assistant_text", [0]),
        ("user", [1]),
        ("tool_call", [2]),
    ]


def test_a_result_without_a_call_is_part_of_what_was_said() -> None:
    assert kinds(result("gone"), assistant()) == [("assistant_text", [0]), ("assistant_text", [1])]


def test_a_message_with_results_of_two_answers_ties_them_together() -> None:
    blocks = [{"type": "tool_result", "tool_call_id": i, "output": "x"} for i in ("a", "b")]
    rows = (calling("a"), calling("b"), user(), {"role": "user", "content": blocks}, result("b"))
    assert kinds(*rows) == [("tool_call", [0, 1, 3, 4]), ("user", [2])]
