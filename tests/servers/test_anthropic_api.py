from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import pytest

from tests.servers import (
    Cut,
    Failure,
    Gate,
    LoopbackServer,
    Malformed,
    RedactedThinking,
    Stall,
    StreamFailure,
    Text,
    Thinking,
    ToolUse,
    Usage,
    reply,
)

ASK = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Hi"}],
}


@asynccontextmanager
async def served(*replies: Any, **options: Any) -> AsyncIterator[tuple[LoopbackServer, Any]]:
    async with (
        LoopbackServer(replies, **options) as server,
        anthropic.AsyncAnthropic(api_key="key", base_url=server.url, max_retries=0) as llm,
    ):
        yield server, llm


async def test_the_sdk_accumulates_thinking_text_and_parallel_tools() -> None:
    answer = reply(
        Thinking("Let me look.", signature="sig-9"),
        RedactedThinking("blob"),
        "Reading two files.",
        ToolUse("read_file", {"path": "a.py"}, id="toolu_a"),
        ToolUse("read_file", {"path": "b.py"}, id="toolu_b"),
        usage=Usage(input=100, output=50, cache_read=60, cache_write=30, reasoning=12),
    )
    async with (
        served(answer) as (_server, llm),
        llm.messages.stream(**ASK) as stream,
    ):
        message = await stream.get_final_message()
    assert [block.type for block in message.content] == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
        "tool_use",
    ]
    assert message.content[0].signature == "sig-9"
    assert [block.input for block in message.content[3:]] == [{"path": "a.py"}, {"path": "b.py"}]
    assert message.stop_reason == "tool_use"
    usage = message.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens) == (10, 60)
    assert (usage.cache_creation_input_tokens, usage.output_tokens) == (30, 50)
    assert usage.output_tokens_details.thinking_tokens == 12


async def test_the_same_reply_without_streaming_is_one_json_body() -> None:
    answer = reply(Thinking("Hm."), "Hello there.", stop="length")
    async with served(answer) as (server, llm):
        message = await llm.messages.create(**ASK)
        record = await server.request()
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert message.content[1].text == "Hello there."
    assert message.stop_reason == "max_tokens"
    assert record.json["messages"] == ASK["messages"]
    assert "anthropic-version" in record.headers


async def test_a_gate_holds_the_rest_of_the_answer_back() -> None:
    gate = Gate()
    async with (
        served(reply(Text(["one ", gate, "two"]))) as (server, llm),
        llm.messages.stream(**ASK) as stream,
    ):
        texts = stream.text_stream
        assert await anext(texts) == "one "
        await gate.reached.wait()
        assert not (await server.request()).answered.is_set()
        gate.open()
        assert await anext(texts) == "two"


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("unauthorized", anthropic.AuthenticationError),
        ("unknown_model", anthropic.NotFoundError),
        ("rate_limited", anthropic.RateLimitError),
        ("overloaded", anthropic.OverloadedError),
        ("unavailable", anthropic.ServiceUnavailableError),
        ("context_too_long", anthropic.BadRequestError),
    ],
)
async def test_failures_arrive_as_the_sdks_own_errors(kind: str, error: type[Exception]) -> None:
    async with served(Failure(kind, retry_after=7)) as (_server, llm):
        with pytest.raises(error) as caught:
            await llm.messages.create(**ASK, stream=True)
    assert caught.value.response.headers["retry-after"] == "7"


@pytest.mark.parametrize("step", [Cut(), Malformed(), StreamFailure()])
async def test_a_stream_that_breaks_raises_after_the_first_token(step: object) -> None:
    async with (
        served(reply(Text(["one ", step, "two"]))) as (_server, llm),
        llm.messages.stream(**ASK) as stream,
    ):
        texts = stream.text_stream
        assert await anext(texts) == "one "
        with pytest.raises(Exception) as caught:
            await anext(texts)
    assert not isinstance(caught.value, StopAsyncIteration)


async def test_a_client_that_leaves_a_stalled_stream_is_noticed() -> None:
    async with (
        served(reply(Text(["one ", Stall()]))) as (server, llm),
        llm.messages.stream(**ASK) as stream,
    ):
        assert await anext(stream.text_stream) == "one "
        await stream.close()
        record = await server.request()
        await record.disconnected.wait()
    assert not record.answered.is_set()


async def test_a_request_the_vendor_would_refuse_is_refused() -> None:
    orphan = [{"type": "tool_result", "tool_use_id": "x", "content": "?"}]
    async with served("never sent") as (server, llm):
        with pytest.raises(anthropic.BadRequestError, match="unexpected `tool_use_id`"):
            await llm.messages.create(**ASK | {"messages": [{"role": "user", "content": orphan}]})
    assert server.script.left == 1


async def test_a_used_up_script_says_so() -> None:
    async with served() as (_server, llm):
        with pytest.raises(anthropic.BadRequestError, match="no reply left"):
            await llm.messages.create(**ASK)


async def test_a_callable_reply_reacts_to_the_request() -> None:
    def answer(request: dict) -> str:
        return f"You asked {request['messages'][-1]['content']!r}"

    async with served(answer) as (_server, llm):
        message = await llm.messages.create(**ASK)
    assert message.content[0].text == "You asked 'Hi'"


async def test_models_are_listed() -> None:
    async with served(models=["claude-x"]) as (_server, llm):
        models = [model async for model in llm.models.list()]
    assert [(model.id, model.max_input_tokens) for model in models] == [("claude-x", 200_000)]


async def test_a_mistake_in_a_scripted_callable_fails_the_test() -> None:
    def broken(request: dict) -> str:
        raise KeyError("oops")

    with pytest.raises(AssertionError, match="loopback server failed"):
        async with served(broken) as (_server, llm):
            with pytest.raises(anthropic.APIConnectionError):
                await llm.messages.create(**ASK)
