import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from amplifier_tui.kernel import message_models as m

BLOCKS: dict[type[BaseModel], dict[str, Any]] = {
    m.TextBlock: {"type": "text", "text": "t"},
    m.ThinkingBlock: {
        "type": "thinking",
        "thinking": "t",
        "signature": None,
        "content": None,
    },
    m.RedactedThinkingBlock: {"type": "redacted_thinking", "data": "d"},
    m.ToolCallBlock: {"type": "tool_call", "id": "1", "name": "bash", "input": {"a": 1}},
    m.ToolResultBlock: {"type": "tool_result", "tool_call_id": "1", "output": ["o"]},
    m.ImageBlock: {"type": "image", "source": {"type": "url", "url": "u"}},
    m.ReasoningBlock: {"type": "reasoning", "content": ["c"], "summary": ["s"]},
}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.__name__)
def test_each_block_is_told_by_its_type_and_survives_the_round_trip(
    block: type[BaseModel],
) -> None:
    fields = {**BLOCKS[block], "visibility": None}
    message = m.Message(role="assistant", content=[BLOCKS[block]])
    assert type(message.content[0]) is block
    dumped = json.loads(message.model_dump_json())
    assert dumped["content"] == [fields]
    assert m.Message.model_validate(dumped) == message
    made = block(**{name: value for name, value in BLOCKS[block].items() if name != "type"})
    assert made.model_dump() == fields


@pytest.mark.parametrize("visibility", ["internal", "developer", "user", None])
def test_visibility_has_three_words(visibility: Any) -> None:
    assert m.TextBlock(text="t", visibility=visibility).visibility == visibility
    odd: Any = "secret"
    with pytest.raises(ValidationError):
        m.TextBlock(text="t", visibility=odd)


def test_an_unknown_block_is_refused() -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(m.ContentBlockUnion).validate_python({"type": "hologram"})


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant", "function", "tool"])
def test_the_roles_are_these(role: Any) -> None:
    message = m.Message(role=role, content="c")
    assert message.model_dump() == {
        "role": role,
        "content": "c",
        "name": None,
        "tool_call_id": None,
        "metadata": None,
    }


def test_another_role_is_refused() -> None:
    odd: Any = "narrator"
    with pytest.raises(ValidationError):
        m.Message(role=odd, content="c")


@pytest.mark.parametrize(
    "made",
    [
        m.TextBlock(text="t", cache_control={"type": "ephemeral"}),
        m.Message(role="user", content="c", tool_calls=[1]),
        m.ToolSpec(name="n", parameters={}, strict=True),
        m.ChatRequest(messages=[], seed=1),
        m.ChatResponse(content=[], raw="r"),
        m.ToolCall(id="1", name="n", arguments={}, index=0),
        m.Degradation(requested="a", actual="b", reason="c", more=1),
    ],
    ids=lambda made: type(made).__name__,
)
def test_what_a_provider_adds_is_kept(made: BaseModel) -> None:
    assert made.model_extra
    assert type(made).model_validate(made.model_dump()) == made


def test_a_request_has_these_fields() -> None:
    request = m.ChatRequest(messages=[m.Message(role="user", content="hi")])
    dumped = request.model_dump()
    assert dumped.pop("messages")[0]["content"] == "hi"
    assert dumped.pop("stream") is False
    assert dumped == dict.fromkeys(
        [
            "tools",
            "response_format",
            "temperature",
            "top_p",
            "max_output_tokens",
            "conversation_id",
            "metadata",
            "model",
            "tool_choice",
            "stop",
            "reasoning_effort",
            "timeout",
        ]
    )


def test_a_tool_choice_is_a_word_or_an_object() -> None:
    for choice in ("auto", {"type": "tool", "name": "bash"}):
        assert m.ChatRequest(messages=[], tool_choice=choice).tool_choice == choice


def test_response_formats_are_told_apart() -> None:
    for form, kind in (
        ({"type": "text"}, m.ResponseFormatText),
        ({"type": "json"}, m.ResponseFormatJson),
        ({"type": "json_schema", "schema": {"a": 1}}, m.ResponseFormatJsonSchema),
    ):
        request = m.ChatRequest(messages=[], response_format=form)
        assert type(request.response_format) is kind


def test_a_json_schema_is_called_schema_on_the_wire() -> None:
    by_name = m.ResponseFormatJsonSchema(json_schema={"a": 1}, strict=True)
    by_alias = m.ResponseFormatJsonSchema.model_validate({"schema": {"a": 1}, "strict": True})
    assert by_name == by_alias
    assert by_name.model_dump() == {"type": "json_schema", "schema": {"a": 1}, "strict": True}
    assert json.loads(by_name.model_dump_json())["schema"] == {"a": 1}
    request = m.ChatRequest(messages=[], response_format=by_name)
    assert request.model_dump()["response_format"]["schema"] == {"a": 1}


def test_a_tool_calls_input_is_its_arguments() -> None:
    call = m.ToolCall(id="1", name="bash", arguments={"command": "ls"})
    assert call.input is call.arguments
    assert call.model_dump() == {"id": "1", "name": "bash", "arguments": {"command": "ls"}}
    with pytest.raises(AttributeError):
        call.input = {}


def test_usage_counts_tokens_and_exact_money() -> None:
    usage = m.Usage(input_tokens=1, output_tokens=2, total_tokens=3, cost_usd=Decimal("0.10"))
    assert usage.model_dump() == {
        "input_tokens": 1,
        "output_tokens": 2,
        "total_tokens": 3,
        "reasoning_tokens": None,
        "cache_read_tokens": None,
        "cache_write_tokens": None,
        "cost_usd": "0.10",
    }
    assert usage.model_dump(mode="json")["cost_usd"] == "0.10"
    assert m.Usage.model_validate_json(usage.model_dump_json()) == usage
    odd: Any = 0.1
    with pytest.raises(ValidationError, match="not exact"):
        m.Usage(input_tokens=1, output_tokens=2, total_tokens=3, cost_usd=odd)


def test_a_response_has_these_fields() -> None:
    response = m.ChatResponse(
        content=[m.TextBlock(text="t")],
        tool_calls=[m.ToolCall(id="1", name="n", arguments={})],
        degradation=m.Degradation(requested="a", actual="b", reason="c"),
        finish_reason="stop",
        metadata={"k": 1},
    )
    assert m.ChatResponse.model_validate_json(response.model_dump_json()) == response
    assert m.ChatResponse(content=[]).model_dump() == {
        "content": [],
        "tool_calls": None,
        "usage": None,
        "degradation": None,
        "finish_reason": None,
        "metadata": None,
    }
