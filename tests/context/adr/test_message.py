import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.adr.message import ChatMessage, Content, Message
from amplifier_tui.kernel.message_models import Message as KernelMessage
from tests.context.support import calling, hooked, ledgers, result, user

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
_BLOCKS = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": st.text()}),
    st.fixed_dictionaries(
        {"type": st.just("thinking"), "thinking": st.text(), "signature": st.text()}
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_call"),
            "id": st.text(),
            "name": st.text(),
            "input": st.dictionaries(st.text(max_size=5), _VALUES),
        }
    ),
    st.fixed_dictionaries(
        {"type": st.just("tool_result"), "tool_call_id": st.text(), "output": _VALUES}
    ),
    st.fixed_dictionaries({"type": st.just("image"), "source": _VALUES}),
    st.fixed_dictionaries({"type": st.just("reasoning"), "content": _VALUES, "x": _VALUES}),
)
_ROWS = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool", "developer"])},
    optional={
        "content": st.none() | st.text() | st.lists(_BLOCKS, max_size=3),
        "name": _VALUES,
        "tool_call_id": st.text(),
        "tool_calls": st.lists(_VALUES, max_size=2),
        "metadata": st.none() | st.dictionaries(st.text(max_size=5), _VALUES, max_size=3),
        "timestamp": st.text(),
        "message_id": _VALUES,
    },
)


@given(_ROWS)
def test_a_kernel_message_comes_back_as_it_was(row: dict) -> None:
    message = Message.from_kernel(row)
    assert message.to_kernel() == row
    assert message.contents is not None
    assert message.to_kernel() == row


@given(_ROWS)
def test_looking_at_a_copy_does_not_change_what_comes_back(row: dict) -> None:
    copy = Message.from_kernel(row).copy()
    _ = copy.text
    assert copy.to_kernel() == row


@given(_BLOCKS)
def test_a_block_comes_back_as_it_was(block: dict) -> None:
    assert Content.from_block(block).to_block() == block


@given(ledgers(broken=True))
def test_a_message_survives_the_way_through_json(rows: list[dict]) -> None:
    for row in rows:
        message = Message.from_kernel(row)
        again = Message.from_dict(json.loads(json.dumps(message.to_dict())))
        assert again == message
        assert KernelMessage.model_validate({**again.to_kernel()}).role == row["role"]


def test_the_metadata_is_the_additional_properties() -> None:
    message = Message.from_kernel(hooked(name="linter"))
    assert message.additional_properties["hook_name"] == "linter"
    message.additional_properties["kept"] = True
    assert message.to_kernel()["metadata"]["kept"] is True
    message.additional_properties.clear()
    assert "metadata" not in message.to_kernel()


def test_what_was_changed_is_written_anew() -> None:
    message = Message.from_kernel({"role": "user", "content": "one", "timestamp": "now"})
    message.contents[0].text = "two"
    assert message.to_kernel() == {"role": "user", "content": "two"}
    message.contents = ["three", Content.from_text_reasoning("hm")]
    assert message.to_kernel()["content"] == [
        {"type": "text", "text": "three"},
        {"type": "thinking", "thinking": "hm"},
    ]


def test_a_call_and_its_result_as_contents() -> None:
    call = Message.from_kernel(calling("c1", tool="grep"))
    assert [(c.type, c.call_id, c.name) for c in call.contents] == [("function_call", "c1", "grep")]
    assert call.contents[0].parsed_arguments == {"command": "ls"}
    answer = Message.from_kernel(result("c1", "3 hits", "grep"))
    assert [(c.type, c.call_id, c.result) for c in answer.contents] == [
        ("function_result", "c1", "3 hits")
    ]


def test_new_messages_in_the_kernels_form() -> None:
    call = Content.from_function_call("c1", "grep", arguments='{"pattern": "x"}')
    assert Message("assistant", ["looking", call]).to_kernel() == {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "looking"},
            {"type": "tool_call", "id": "c1", "name": "grep", "input": {"pattern": "x"}},
        ],
        "tool_calls": [{"id": "c1", "name": "grep", "tool": "grep", "arguments": {"pattern": "x"}}],
    }
    assert Message("tool", [Content.from_function_result("c1", result="3 hits")]).to_kernel() == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "3 hits",
    }


@pytest.mark.parametrize("arguments", ["not json", "[1]", None, ""])
def test_arguments_nobody_can_read_are_none(arguments: str | None) -> None:
    assert Content.from_function_call("c", "f", arguments=arguments).parsed_arguments == {}


def test_the_adrs_ways_to_make_a_message() -> None:
    assert ChatMessage is Message
    assert Message("user", "hi") == Message(role="user", text="hi") == Message.user("hi")
    assert Message(role="system", content="You are helpful.").text == "You are helpful."
    assert Message.system("x").role == "system"
    assert Message.assistant("x").role == "assistant"


def test_the_text_is_the_text_contents_with_a_space_between() -> None:
    contents = ["one", Content.from_text_reasoning("hm"), "two"]
    assert Message("assistant", contents).text == "one two"


def test_a_copy_shares_no_properties() -> None:
    message = Message.user("hi")
    copy = message.copy()
    copy.additional_properties["x"] = 1
    copy.contents.append(Content.from_text("more"))
    assert message.additional_properties == {}
    assert message.text == "hi"


def test_author_and_id_survive() -> None:
    message = Message("user", ["hi"], author_name="ada", message_id="m1")
    row = message.to_kernel()
    assert (row["name"], row["message_id"]) == ("ada", "m1")
    again = Message.from_kernel(row)
    assert (again.author_name, again.message_id) == ("ada", "m1")


def test_data_without_a_role_is_no_message() -> None:
    with pytest.raises(ValueError, match="role"):
        Message.from_dict({"contents": []})


def test_unknown_fields_of_a_content_are_kept() -> None:
    data = {"type": "citation", "url": "https://example.org", "text": "see"}
    content = Content.from_dict(data)
    assert content.additional_properties == {"url": "https://example.org"}
    assert Content.from_dict(content.to_dict()) == content


def test_a_plain_message_reads_like_one() -> None:
    assert repr(Message.from_kernel(user("hello"))) == "Message(role='user', text='hello')"
