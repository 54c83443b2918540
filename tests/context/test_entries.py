from amplifier_tui.base.messages.context_file import context_file
from amplifier_tui.context.entries import beginning_of, read_entry
from tests.context.support import Row, calling, hooked, result, user


def entry(row: Row, **kwargs: object):
    return read_entry(row, "0", {}, **kwargs)


def test_only_what_the_user_said_is_the_users_own() -> None:
    assert entry(user()).own
    assert not entry(hooked()).own
    assert not entry(user(), provided=True).own
    assert not entry({**user(), "metadata": {"_attribution": {"source_id": "rag"}}}).own
    assert not entry(result("c")).own


def test_words_beside_a_result_are_the_users_own_and_a_mere_result_is_not() -> None:
    block = {"type": "tool_result", "tool_call_id": "c1", "output": "x"}
    mere = entry({"role": "user", "content": [block]})
    mixed = entry({"role": "user", "content": [block, {"type": "text", "text": "go on"}]})
    assert (mere.own, mere.answers) == (False, ("c1",))
    assert (mixed.own, mixed.answers) == (True, ("c1",))


def test_a_result_is_billed_to_the_tool_of_its_call() -> None:
    names: dict[str, str] = {}
    read_entry(calling("c1", tool="grep"), "0", names)
    assert read_entry(result("c1", tool=None), "1", names).source == "tool:grep"


def test_a_cut_is_measured_once_and_the_message_stays_as_it_is() -> None:
    row = result("c", "x" * 40_000)
    read = entry(row)
    assert read.tokens_under("truncate") < 110
    assert read.tokens_under("drop") == 0
    assert len(row["content"]) == 40_000
    assert len(read.under("truncate")["content"]) < 400
    assert read.under(None) is row


def test_an_answer_of_nothing_but_reasoning_is_known_as_such() -> None:
    block = {"type": "thinking", "thinking": "hm"}
    assert entry({"role": "assistant", "content": [block]}).thinks
    assert not entry({"role": "assistant", "content": []}).thinks
    assert not entry({**calling("c"), "content": [block]}).thinks


def test_a_message_with_a_file_begins_with_the_file_s_name_and_the_words() -> None:
    text = context_file("app.py", "x = 1\n" * 500) + "\n\nfix   the bug"
    assert beginning_of({"role": "user", "content": text}) == "[app.py] fix the bug"
