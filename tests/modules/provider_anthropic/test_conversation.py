import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_tui.base.files.images import image_source
from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ImageBlock,
    Message,
    ReasoningBlock,
    ResponseFormatJson,
    ResponseFormatJsonSchema,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
)
from amplifier_tui.kernel.utils import conversation
from amplifier_tui.kernel.utils.conversation import MessageMemory
from amplifier_tui.modules.provider_anthropic.request import prepare
from amplifier_tui.modules.provider_anthropic.settings import AnthropicSettings
from tests.modules.provider_anthropic.support import claude
from tests.modules.provider_strategies import HISTORIES, IMAGE, PDF
from tests.modules.provider_support import READ_FILE, ask, assistant, tool, user
from tests.pixels import plain
from tests.servers import Thinking, ToolUse, reply
from tests.servers.checks_anthropic import violation

CALL = ToolCallBlock(id="toolu_a", name="read_file", input={"path": "a.py"})


def wire(*messages: Any, config: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """The request as it would be sent, refused here if the vendor would refuse it."""
    prepared = prepare(
        ask(*messages, **options), AnthropicSettings.model_validate(config or {}), 32_000
    )
    assert violation(prepared.arguments) is None
    return prepared.arguments


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in block.items() if name != "cache_control"}
        for block in message["content"]
    ]


async def test_a_whole_turn_with_thinking_and_tools_is_replayed_as_it_was() -> None:
    first = reply(
        Thinking("Look first.", signature="sig-9"),
        "Reading.",
        ToolUse("read_file", {"path": "a.py"}, id="toolu_a"),
        ToolUse("read_file", {"path": "b.py"}, id="toolu_b"),
    )
    async with claude(first, "Done.") as (provider, server, _):
        answer = await provider.complete(ask("Read them", tools=[READ_FILE]))
        stored = [block.model_dump(mode="json") for block in answer.content]
        history = [
            user("Read them"),
            Message(role="assistant", content=stored),
            tool("toolu_a", "contents of a"),
            tool("toolu_b", "contents of b"),
        ]
        await provider.complete(ask(*history, tools=[READ_FILE]))
        messages = (await server.request(1)).json["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[1]["content"] == [
        {"type": "thinking", "thinking": "Look first.", "signature": "sig-9"},
        {"type": "text", "text": "Reading."},
        {
            "type": "tool_use",
            "id": "toolu_a",
            "name": "read_file",
            "input": {"path": "a.py"},
        },
        {
            "type": "tool_use",
            "id": "toolu_b",
            "name": "read_file",
            "input": {"path": "b.py"},
        },
    ]
    assert blocks(messages[2]) == [
        {"type": "tool_result", "tool_use_id": "toolu_a", "content": "contents of a"},
        {"type": "tool_result", "tool_use_id": "toolu_b", "content": "contents of b"},
    ]


async def test_repairs_are_told_once_each() -> None:
    history = [user("Hi"), assistant([CALL]), user("Well?"), tool("gone", "late words")]
    async with claude("One.", "Two.") as (provider, _, heard):
        await provider.complete(ask(*history))
        await provider.complete(ask(*history))
    (told,) = heard.of("provider:tool_sequence_repaired")
    assert told["repair_count"] == 2
    assert {(r["kind"], r["tool_call_id"]) for r in told["repairs"]} == {
        ("missing_result", "toolu_a"),
        ("orphan_result", "gone"),
    }


def test_leading_system_messages_are_joined_at_the_top() -> None:
    sent = wire(
        Message(role="system", content="You are brief."),
        Message(role="system", content="You are kind."),
        "Hi",
    )
    assert sent["system"][0]["text"] == "You are brief.\n\nYou are kind."
    assert [message["role"] for message in sent["messages"]] == ["user"]


def test_a_later_system_message_keeps_its_place() -> None:
    sent = wire("Hi", assistant("Hello"), Message(role="system", content="Be quick."), "Go on")
    assert "system" not in sent
    assert blocks(sent["messages"][-1]) == [
        {"type": "text", "text": "<system-reminder>\nBe quick.\n</system-reminder>"},
        {"type": "text", "text": "Go on"},
    ]


def test_developer_messages_are_the_users_in_an_element() -> None:
    sent = wire(Message(role="developer", content="File a.py"), "Hi")
    assert blocks(sent["messages"][0])[0]["text"] == "<developer>\nFile a.py\n</developer>"


def test_breakpoints_end_the_tools_the_system_prompt_and_the_last_message() -> None:
    other = ToolSpec(name="other", parameters={})
    sent = wire(
        Message(role="system", content="S"),
        "one",
        assistant("two"),
        "three",
        tools=[READ_FILE, other],
    )
    mark = {"type": "ephemeral"}
    assert [tool.get("cache_control") for tool in sent["tools"]] == [None, mark]
    assert sent["system"][-1]["cache_control"] == mark
    assert sent["messages"][-1]["content"][-1]["cache_control"] == mark
    assert sent["messages"][0]["content"][-1]["cache_control"] == mark, "where the last one was"
    longer = wire("one", assistant("two"), "three", assistant("four"), "five")["messages"]
    assert ["cache_control" in message["content"][-1] for message in longer] == [
        False,
        False,
        True,
        False,
        True,
    ]
    assert "cache_control" not in str(wire("one", config={"prompt_caching": False}))
    hour = wire("one", config={"prompt_caching": "1h"})["messages"][0]["content"][0]
    assert hour["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_tool_results_may_hold_blocks_images_errors_and_nothing() -> None:
    calls = [ToolCallBlock(id=f"t{number}", name="read_file", input={}) for number in range(5)]
    sent = wire(
        "Hi",
        assistant(calls),
        tool("t0", [TextBlock(text="one"), TextBlock(text="two")]),
        tool("t1", [TextBlock(text="see"), IMAGE]),
        tool("t2", ""),
        tool("t3", "boom", metadata={"is_error": True}),
        Message(
            role="tool",
            tool_call_id="t4",
            content=[ToolResultBlock(tool_call_id="t4", output={"a": [1]})],
        ),
    )
    results = blocks(sent["messages"][-1])
    assert results[0]["content"] == "one\ntwo"
    assert results[1]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image", "source": IMAGE.source},
    ]
    assert results[2]["content"] == "(no output)"
    assert results[3]["is_error"] is True
    assert results[4]["content"] == '{"a": [1]}'


def test_a_pdf_is_a_document_of_the_user_or_of_a_tool() -> None:
    document = {"type": "document", "source": PDF.source}
    assert blocks(wire(user([PDF]))["messages"][0]) == [document]
    sent = wire("Hi", assistant([CALL]), tool("toolu_a", [TextBlock(text="see"), PDF]))
    (result,) = blocks(sent["messages"][-1])
    assert result["content"] == [{"type": "text", "text": "see"}, document]


def test_a_missing_result_is_made_up_as_an_error() -> None:
    sent = wire("Hi", assistant([CALL]), "Never mind")
    result, text = blocks(sent["messages"][-1])
    assert result["tool_use_id"] == "toolu_a"
    assert result["is_error"] is True
    assert "interrupted" in result["content"]
    assert text["text"] == "Never mind"


def test_a_result_behind_a_steering_message_is_moved_to_its_call() -> None:
    sent = wire("Hi", assistant([CALL]), "Hurry up", tool("toolu_a", "contents"))
    assert [block["type"] for block in blocks(sent["messages"][-1])] == ["tool_result", "text"]


def test_an_orphan_result_becomes_text() -> None:
    sent = wire("Hi", tool("gone", "some words"), "Go on")
    texts = [block["text"] for block in blocks(sent["messages"][0])]
    assert texts == ["Hi", "Result of an earlier tool call (gone):", "some words", "Go on"]


def test_ids_and_names_of_other_vendors_are_made_acceptable() -> None:
    call = ToolCallBlock(id="functions.read:0", name="fs.read", input={})
    spec = ToolSpec(name="fs.read", parameters={"type": "object"})
    sent = wire("Hi", assistant([call]), tool("functions.read:0", "x"), tools=[spec])
    assert sent["messages"][1]["content"][0]["id"] == "functions_read_0"
    assert sent["messages"][1]["content"][0]["name"] == "fs_read"
    assert blocks(sent["messages"][2])[0]["tool_use_id"] == "functions_read_0"
    assert sent["tools"][0]["name"] == "fs_read"


async def test_a_call_by_a_made_up_name_comes_back_under_the_real_one() -> None:
    spec = ToolSpec(name="fs.read", parameters={"type": "object"})
    async with claude(reply(ToolUse("fs_read", {}))) as (provider, _, heard):
        response = await provider.complete(ask(tools=[spec]))
    assert response.tool_calls[0].name == "fs.read"
    assert heard.of("llm:stream_block_start")[0]["name"] == "fs.read"


def test_calls_with_the_same_id_are_told_apart() -> None:
    call = ToolCallBlock(id="call_0", name="read_file", input={})
    sent = wire(
        "Hi",
        assistant([call, call]),
        tool("call_0", "first"),
        tool("call_0", "second"),
        assistant([call]),
        tool("call_0", "third"),
    )
    results = [
        (block["tool_use_id"], block["content"])
        for message in sent["messages"]
        for block in blocks(message)
        if block["type"] == "tool_result"
    ]
    assert results == [("call_0", "first"), ("call_0_2", "second"), ("call_0_3", "third")]


def test_a_result_answers_the_latest_call_of_its_id() -> None:
    sent = wire("Hi", assistant([CALL]), "Again", assistant([CALL]), tool("toolu_a", "contents"))
    results = [
        block["content"]
        for message in sent["messages"]
        for block in blocks(message)
        if block["type"] == "tool_result"
    ]
    assert "interrupted" in results[0]
    assert results[1] == "contents"


@pytest.mark.parametrize(
    "calls",
    [
        [{"id": "toolu_a", "name": "read_file", "arguments": {"path": "a.py"}}],
        [{"id": "toolu_a", "tool": "read_file", "arguments": {"path": "a.py"}}],
        [
            {
                "id": "toolu_a",
                "type": "function",
                "function": {"name": "read_file", "arguments": '{"path": "a.py"}'},
            }
        ],
    ],
)
def test_calls_beside_the_content_are_read_in_every_form(calls: list[Any]) -> None:
    messages = [{"role": "assistant", "content": None, "tool_calls": calls}]
    prepared = prepare(
        ChatRequest.model_construct(
            messages=[user("Hi"), *messages, tool("toolu_a", "x")], tools=None
        ),
        AnthropicSettings(),
        100,
    )
    assert prepared.arguments["messages"][1]["content"] == [
        {"type": "tool_use", "id": "toolu_a", "name": "read_file", "input": {"path": "a.py"}}
    ]


def test_thinking_of_other_vendors_is_left_out() -> None:
    foreign = [
        ThinkingBlock(thinking="local"),
        ThinkingBlock(thinking="openai", content=["encrypted", "rs_1"]),
        ReasoningBlock(content=[], summary=[]),
        TextBlock(text="Hello"),
    ]
    sent = wire("Hi", assistant(foreign), "Go on")
    assert sent["messages"][1]["content"] == [{"type": "text", "text": "Hello"}]


def test_an_answer_interrupted_while_thinking_leaves_nothing_behind() -> None:
    sent = wire("Hi", assistant([ThinkingBlock(thinking="Hm", signature="s")]), "Again")
    assert [block["text"] for block in blocks(sent["messages"][0])] == ["Hi", "Again"]


def test_a_conversation_the_assistant_ended_goes_on() -> None:
    sent = wire("Hi", assistant("Half an ans"))
    assert blocks(sent["messages"][-1]) == [{"type": "text", "text": "Continue."}]


def test_characters_no_api_takes_are_dropped() -> None:
    bad = "a\x00b\ud800c\x1b[31m"
    call = ToolCallBlock(id="t", name="read_file", input={"k\ud800": [bad]})
    sent = wire(Message(role="system", content=bad), bad, assistant([call]), tool("t", bad))
    json.dumps(sent, ensure_ascii=False).encode()
    assert sent["messages"][1]["content"][0]["input"] == {"k": ["abc[31m"]}


@pytest.mark.parametrize(
    ("config", "options", "thinking", "effort"),
    [
        ({}, {}, None, None),
        ({"thinking": "adaptive"}, {}, {"type": "adaptive", "display": "summarized"}, None),
        ({"thinking": "off"}, {}, {"type": "disabled"}, None),
        ({"thinking": False}, {}, {"type": "disabled"}, None),
        ({"thinking": "5000"}, {}, {"type": "enabled", "budget_tokens": 5000}, None),
        ({"thinking": 500}, {}, {"type": "enabled", "budget_tokens": 1024}, None),
        (
            {"thinking": 90_000},
            {},
            {"type": "enabled", "budget_tokens": 31_999},
            None,
        ),
        ({"thinking": 5000}, {"max_output_tokens": 900}, None, None),
        (
            {"effort": "high"},
            {},
            {"type": "adaptive", "display": "summarized"},
            "high",
        ),
        (
            {"effort": "high"},
            {"reasoning_effort": "minimal"},
            {"type": "adaptive", "display": "summarized"},
            "low",
        ),
        ({"effort": "high"}, {"reasoning_effort": "none"}, {"type": "disabled"}, None),
        (
            {"effort": "low"},
            {"model": "claude-sonnet-4-5-20250929"},
            {"type": "enabled", "budget_tokens": 4000},
            None,
        ),
    ],
)
def test_thinking_and_effort_follow_config_request_and_model(
    config: dict, options: dict, thinking: dict | None, effort: str | None
) -> None:
    sent = wire("Hi", config=config, **options)
    assert sent.get("thinking") == thinking
    assert sent.get("output_config", {}).get("effort") == effort


def test_a_budget_is_dropped_in_a_tool_turn_that_began_without_thinking() -> None:
    history = ["Hi", assistant([CALL]), tool("toolu_a", "x")]
    assert "thinking" not in wire(*history, config={"thinking": 2000})
    thought = [ThinkingBlock(thinking="Hm", signature="s"), CALL]
    sent = wire("Hi", assistant(thought), tool("toolu_a", "x"), config={"thinking": 2000})
    assert sent["thinking"]["type"] == "enabled"


def test_sampling_is_sent_only_when_asked_for_and_not_to_a_thinking_model() -> None:
    assert "extra_body" not in wire("Hi")
    assert wire("Hi", temperature=0.0, top_p=0.5)["extra_body"] == {
        "temperature": 0.0,
        "top_p": 0.5,
    }
    assert "extra_body" not in wire("Hi", config={"temperature": 0.3, "thinking": "adaptive"})


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", {"type": "auto"}),
        ("required", {"type": "any"}),
        ("none", {"type": "none"}),
        ("read_file", {"type": "tool", "name": "read_file"}),
        ({"type": "tool", "name": "read_file"}, {"type": "tool", "name": "read_file"}),
        (
            {"type": "function", "function": {"name": "read_file"}},
            {"type": "tool", "name": "read_file"},
        ),
    ],
)
def test_tool_choices_of_either_vendor_are_understood(choice: Any, expected: dict) -> None:
    assert wire("Hi", tools=[READ_FILE], tool_choice=choice)["tool_choice"] == expected
    assert "tool_choice" not in wire("Hi", tool_choice=choice)


async def test_json_without_a_schema_is_a_degradation_and_with_one_a_format() -> None:
    async with claude("{}") as (provider, _, _heard):
        response = await provider.complete(ask(response_format=ResponseFormatJson()))
    assert response.degradation.actual == "text"
    schema = {"type": "object"}
    sent = wire("Hi", response_format=ResponseFormatJsonSchema(json_schema=schema))
    assert sent["output_config"]["format"] == {"type": "json_schema", "schema": schema}


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(HISTORIES, st.sampled_from([None, 3000]))
def test_whatever_the_history_the_request_is_one_the_api_accepts(
    messages: list[Message], budget: int | None
) -> None:
    sent = wire(*messages, config={"thinking": budget}, tools=[READ_FILE])
    json.dumps(sent, ensure_ascii=False).encode()


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(HISTORIES, st.data())
def test_what_is_remembered_of_a_request_changes_nothing_in_the_next_ones(
    messages: list[Message], data: st.DataObject
) -> None:
    chosen, memory = AnthropicSettings(), MessageMemory()
    for _ in range(3):
        cut = data.draw(st.integers(0, len(messages)))
        request = ask(*(messages[cut:] or ["Hi"]), *messages[:cut])
        fresh = prepare(request, chosen, 32_000)
        assert prepare(request, chosen, 32_000, memory) == fresh


def test_a_message_that_comes_again_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def seen(text: str) -> str:
        read.append(text)
        return text

    monkeypatch.setattr(conversation, "encodable", seen)
    memory, first = MessageMemory(), [user("one"), assistant("two"), user("three")]
    for messages in (first, [*first, assistant("four"), user("five")]):
        prepare(ask(*messages), AnthropicSettings(), 32_000, memory)
    assert read == ["one", "two", "three", "four", "five"]


def screenshots(number: int, side: int) -> list[Message]:
    """A conversation with an image in every answer of a tool and in the user's words."""
    source = image_source(plain(side, 2), "image/png")
    image = ImageBlock(source=source)
    history: list[Message] = []
    for at in range(number // 2):
        call = ToolCallBlock(id=f"t{at}", name="look", input={})
        history += [user([image]), assistant([call]), tool(f"t{at}", [image])]
    return history


def shown(sent: dict[str, Any]) -> list[str]:
    """The types of all that may be an image, in order."""
    found: list[str] = []
    for block in (block for message in sent["messages"] for block in message["content"]):
        inner = block.get("content") if block["type"] == "tool_result" else [block]
        found += [each["type"] for each in inner if each["type"] in ("image", "text")]
    return found


@pytest.mark.parametrize(
    ("number", "side", "left_out"),
    [(20, 2_001, 0), (22, 2_001, 10), (30, 2_001, 10), (32, 2_001, 20), (22, 2_000, 0)],
)
def test_the_oldest_images_are_left_out_where_the_api_takes_no_more(
    number: int, side: int, left_out: int
) -> None:
    history = screenshots(number, side)
    sent = wire(*history)
    assert shown(sent) == ["text"] * left_out + ["image"] * (number - left_out)
    assert all(isinstance(b, ImageBlock) for m in history if m.role == "user" for b in m.content)


def test_no_more_than_a_hundred_images_go_along() -> None:
    assert shown(wire(*screenshots(104, 10))).count("image") == 94
