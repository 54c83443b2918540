import pytest

from amplifier_tui.base.messages.tool_calls import tool_names_of
from amplifier_tui.context.entries import source_of
from tests.context.support import Row, assistant, calling, hooked, result, system, user


@pytest.mark.parametrize(
    ("row", "source"),
    [
        (user(), "user"),
        (assistant(), "assistant"),
        (system(), "system"),
        ({"role": "developer", "content": "x"}, "system"),
        (result("c1", tool="bash"), "tool:bash"),
        ({"role": "function", "name": "f", "content": "x"}, "tool:f"),
        (hooked(name="linter"), "hook:linter"),
        ({"role": "user", "content": "x", "metadata": {"source": "hook"}}, "hook:unknown"),
        ({"role": "user", "content": "x", "metadata": {"source": "compaction"}}, "compaction"),
        ({"role": "user", "content": "x", "metadata": None}, "user"),
        ({"role": "", "content": "x"}, "no role"),
    ],
)
def test_the_source_of_a_message(row: Row, source: str) -> None:
    assert source_of(row) == source


def test_a_mark_wins_over_hook_and_role() -> None:
    row = hooked()
    row["metadata"]["_attribution"] = {"source_id": "rag"}
    assert source_of(row) == "rag"
    assert source_of({"role": "user", "_attribution": {"source_id": "memory"}}) == "memory"


def test_a_mark_that_makes_no_sense_is_not_one() -> None:
    row = {"role": "user", "content": "x", "metadata": {"_attribution": {"source_id": 7}}}
    assert source_of(row) == "user"


def test_a_result_without_a_name_gets_that_of_its_call() -> None:
    names = tool_names_of([calling("c1", tool="read_file")])
    assert source_of(result("c1", tool=None), names) == "tool:read_file"
    assert source_of(result("c2", tool=None), names) == "tool"


def test_a_name_that_is_no_text_is_no_name() -> None:
    row = {"role": "tool", "tool_call_id": "c", "name": {"a": 1}}
    assert source_of(row) == "tool"
    assert source_of(row, {"c": "grep"}) == "tool:grep"
    assert source_of({"role": "user", "metadata": {"source": "hook", "hook_name": ["x"]}}) == (
        "hook:unknown"
    )
