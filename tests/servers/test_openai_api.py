import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest

from tests.servers import (
    Cut,
    Failure,
    Gate,
    LoopbackServer,
    Malformed,
    Refusal,
    Stall,
    StreamFailure,
    Text,
    Thinking,
    ToolUse,
    Usage,
    reply,
)

CHAT = {"model": "gpt-6-astra", "messages": [{"role": "user", "content": "Hi"}]}
RESPONSES = {"model": "gpt-6-astra", "input": "Hi"}


@asynccontextmanager
async def served(*replies: Any, **options: Any) -> AsyncIterator[tuple[LoopbackServer, Any]]:
    async with (
        LoopbackServer(replies, **options) as server,
        openai.AsyncOpenAI(api_key="key", base_url=server.openai_url, max_retries=0) as llm,
    ):
        yield server, llm


async def test_responses_stream_reasoning_text_and_parallel_calls() -> None:
    answer = reply(
        Thinking("Let me look.", signature="encrypted"),
        "Reading.",
        ToolUse("read_file", {"path": "a.py"}, id="call_a"),
        ToolUse("read_file", '{"path": ', id="call_b"),
        usage=Usage(input=100, output=50, cache_read=60, cache_write=30, reasoning=12),
    )
    async with (
        served(answer) as (_server, llm),
        llm.responses.stream(**RESPONSES) as stream,
    ):
        kinds = [event.type async for event in stream]
        response = await stream.get_final_response()
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert "response.reasoning_summary_text.delta" in kinds
    assert kinds.index("response.output_text.delta") < kinds.index("response.output_text.done")
    assert kinds[-1] == "response.completed"
    reasoning, message, first, second = response.output
    assert (reasoning.summary[0].text, reasoning.encrypted_content) == ("Let me look.", "encrypted")
    assert message.content[0].text == "Reading."
    assert (first.call_id, json.loads(first.arguments)) == ("call_a", {"path": "a.py"})
    assert second.arguments == '{"path": '
    assert response.usage.input_tokens_details.cached_tokens == 60
    assert response.usage.output_tokens_details.reasoning_tokens == 12


async def test_chat_streams_reasoning_text_calls_and_the_usage_chunk() -> None:
    answer = reply(
        Thinking("Hm."),
        "Reading.",
        ToolUse("read_file", {"path": "a.py"}, id="call_a"),
        ToolUse("read_file", {"path": "b.py"}, id="call_b"),
        usage=Usage(input=100, output=50, cache_read=60),
    )
    async with served(answer) as (_server, llm):
        stream = await llm.chat.completions.create(
            **CHAT, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == "Reading."
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == "Hm."
    arguments = {0: "", 1: ""}
    for delta in deltas:
        for call in delta.tool_calls or []:
            arguments[call.index] += call.function.arguments or ""
    assert [json.loads(text)["path"] for text in arguments.values()] == ["a.py", "b.py"]
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "tool_calls"
    assert chunks[-1].usage.prompt_tokens_details.cached_tokens == 60


async def test_without_streaming_both_apis_answer_one_body() -> None:
    async with served("One.", reply("Two", stop="length")) as (_server, llm):
        chat = await llm.chat.completions.create(**CHAT)
        response = await llm.responses.create(**RESPONSES)
    assert chat.choices[0].message.content == "One."
    assert response.output_text == "Two"
    assert response.incomplete_details.reason == "max_output_tokens"


async def test_a_refusal_is_its_own_kind_of_content() -> None:
    async with served(reply(Refusal("No.")), reply(Refusal("No."))) as (_server, llm):
        response = await llm.responses.create(**RESPONSES)
        chat = await llm.chat.completions.create(**CHAT)
    assert response.output[0].content[0].refusal == "No."
    assert chat.choices[0].message.refusal == "No."


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("unauthorized", openai.AuthenticationError),
        ("unknown_model", openai.NotFoundError),
        ("rate_limited", openai.RateLimitError),
        ("quota", openai.RateLimitError),
        ("unavailable", openai.InternalServerError),
        ("context_too_long", openai.BadRequestError),
        ("html", openai.InternalServerError),
    ],
)
async def test_failures_arrive_as_the_sdks_own_errors(kind: str, error: type[Exception]) -> None:
    async with served(Failure(kind, retry_after=7)) as (_server, llm):
        with pytest.raises(error) as caught:
            await llm.responses.create(**RESPONSES, stream=True)
    assert caught.value.response.headers["retry-after"] == "7"


@pytest.mark.parametrize("step", [Cut(), Malformed(), StreamFailure()])
async def test_a_chat_stream_that_breaks_raises_after_the_first_token(step: object) -> None:
    async with served(reply(Text(["one ", step, "two"]))) as (_server, llm):
        stream = await llm.chat.completions.create(**CHAT, stream=True)
        texts = []
        with pytest.raises(Exception) as caught:
            async for chunk in stream:
                texts += [choice.delta.content for choice in chunk.choices]
    assert texts == ["", "one "]
    assert not isinstance(caught.value, StopAsyncIteration)


async def test_a_response_that_fails_ends_with_the_failed_event() -> None:
    async with served(reply(Text(["one ", StreamFailure()]))) as (_server, llm):
        stream = await llm.responses.create(**RESPONSES, stream=True)
        events = [event async for event in stream]
    assert events[-1].type == "response.failed"
    assert events[-1].response.error.message == "The engine is currently overloaded."


async def test_a_client_that_leaves_is_noticed_and_a_gate_can_be_opened_over_http() -> None:
    async with served(reply(Text(["a", Gate()])), reply(Text(["b", Stall()]))) as (server, llm):
        for index in range(2):
            stream = await llm.chat.completions.create(**CHAT, stream=True)
            await anext(stream)
            await stream.close()
            await (await server.request(index)).disconnected.wait()


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "tool", "tool_call_id": "x", "content": "?"}],
        [
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            {"role": "user", "content": "?"},
        ],
        [{"role": "user", "content": ""}],
    ],
)
async def test_chat_requests_the_vendor_would_refuse_are_refused(messages: list) -> None:
    async with served("never") as (_server, llm):
        with pytest.raises(openai.BadRequestError):
            await llm.chat.completions.create(model="m", messages=messages)


@pytest.mark.parametrize(
    "items",
    [
        [{"type": "function_call_output", "call_id": "x", "output": "?"}],
        [{"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"}],
        [{"type": "reasoning", "id": "rs_1", "summary": []}, {"role": "user", "content": "Hi"}],
    ],
)
async def test_responses_requests_the_vendor_would_refuse_are_refused(items: list) -> None:
    async with served("never") as (_server, llm):
        with pytest.raises(openai.BadRequestError):
            await llm.responses.create(model="m", input=items)


async def test_models_are_listed_and_the_list_can_fail() -> None:
    async with served(models=["qwen3"]) as (_server, llm):
        assert [model.id async for model in llm.models.list()] == ["qwen3"]
    async with served(models_fail=True) as (_server, llm):
        with pytest.raises(openai.NotFoundError):
            await llm.models.list()


NATIVE = {"type": "apply_patch"}
NAMED = {"type": "function", "name": "read", "parameters": {}}


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        (NATIVE, ""),
        ({"type": "custom", "name": "lark"}, ""),
        ({"type": "teleport"}, "Invalid value: 'teleport'. Supported values are: 'function'"),
        ({"type": "function"}, "Missing required parameter: 'tools[1].name'."),
        ({"name": "read"}, "Missing required parameter: 'tools[1].type'."),
    ],
)
async def test_the_responses_api_takes_its_own_tools_without_a_name_and_no_others(
    tool: dict[str, Any], said: str
) -> None:
    async with served("Fine.") as (_server, llm):
        if not said:
            answer = await llm.responses.create(**RESPONSES, tools=[NAMED, tool])
            assert answer.output_text == "Fine."
            return
        with pytest.raises(openai.BadRequestError) as error:
            await llm.responses.create(**RESPONSES, tools=[NAMED, tool])
        assert said in str(error.value)


async def test_chat_completions_refuses_a_native_tool_in_words() -> None:
    async with served("Fine.") as (_server, llm):
        with pytest.raises(openai.BadRequestError, match="Supported values are: 'function'"):
            await llm.chat.completions.create(**CHAT, tools=[NATIVE])
        with pytest.raises(openai.BadRequestError, match=r"'tools\[0\].function'"):
            await llm.chat.completions.create(**CHAT, tools=[{"type": "function"}])
