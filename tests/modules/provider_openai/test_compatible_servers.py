import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.message_models import TextBlock, ThinkingBlock
from amplifier_tui.modules.provider_openai import mount
from amplifier_tui.modules.provider_openai.chat_answer import ThinkTags
from tests.modules.provider_openai.support import gpt
from tests.modules.provider_support import READ_FILE, ask, mounted
from tests.servers import Text, Thinking, reply
from tests.servers.wire import sse


async def test_with_an_address_no_key_is_needed_and_chat_is_spoken() -> None:
    async with gpt("Hi.") as (provider, server, _):
        response = await provider.complete(ask())
    assert response.content == [TextBlock(text="Hi.")]
    assert server.requests[0].api == "chat"
    assert server.requests[0].headers["authorization"] == "Bearer not-needed"


async def test_without_a_model_the_first_one_the_server_lists_is_asked() -> None:
    config = {"default_model": None}
    server = {"models": ["nomic-embed-text", "qwen3:8b", "llama3"]}
    async with gpt("Hi.", "Hi.", config=config, server=server) as (provider, running, _):
        await provider.complete(ask())
        await provider.complete(ask())
        assert provider.get_info().defaults["model"] == "qwen3:8b"
    assert [record.json["model"] for record in running.requests] == ["qwen3:8b"] * 2
    assert len(running.model_lists) == 1


async def test_a_server_without_models_says_what_to_do() -> None:
    config = {"default_model": None}
    async with gpt(config=config, server={"models": []}) as (provider, _, _heard):
        with pytest.raises(llm_errors.ConfigurationError, match="set `default_model`"):
            await provider.complete(ask())


async def test_a_server_whose_models_can_not_be_listed_is_an_error_not_a_guess() -> None:
    async with gpt(server={"models_fail": True}) as (provider, _, _heard):
        with pytest.raises(llm_errors.NotFoundError):
            await provider.list_models()


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_is_found_under_either_name(field: str) -> None:
    answer = reply(Thinking("Hm."), "Yes.")
    async with gpt(answer, server={"reasoning_field": field}) as (provider, _, heard):
        response = await provider.complete(ask())
    assert response.content[0].thinking == "Hm."
    assert response.content[0].reasoning_field == field
    assert heard.text("thinking") == "Hm."


async def test_think_tags_at_the_start_are_reasoning() -> None:
    chunks = ["<th", "ink>\nLet me", " see.</thi", "nk>", "\n\nThe ", "answer <think>is</think> 4."]
    async with gpt(reply(Text(chunks))) as (provider, _, heard):
        response = await provider.complete(ask())
    assert response.content == [
        ThinkingBlock(thinking="Let me see."),
        TextBlock(text="The answer <think>is</think> 4."),
    ]
    assert heard.text("thinking") == "Let me see."
    assert heard.text() == "The answer <think>is</think> 4."


async def test_think_tags_that_never_close_are_all_reasoning() -> None:
    async with gpt(reply(Text(["<think>on and", " on <"]))) as (provider, _, _heard):
        response = await provider.complete(ask())
    assert response.content == [ThinkingBlock(thinking="on and on <")]


@given(st.text("<>/think ab", max_size=30), st.lists(st.integers(0, 30), max_size=6))
def test_tags_are_told_apart_however_the_text_is_cut(text: str, cuts: list[int]) -> None:
    def told(pieces: list[str]) -> list[tuple[str, str]]:
        tags, found = ThinkTags(), []
        for piece in pieces:
            found += list(tags.feed(piece))
        found += list(tags.finish())
        return [
            (kind, "".join(words for k, words in found if k == kind))
            for kind in ("thinking", "text")
        ]

    places = [0, *sorted(cut for cut in cuts if cut <= len(text)), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    assert told(pieces) == told([text])


@asynccontextmanager
async def answering(*chunks: dict[str, Any], **config: Any) -> AsyncIterator[Any]:
    """A provider whose server sends exactly these chunks."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b"".join(sse(chunk) for chunk in chunks) + sse("[DONE]")
        head = f"content-type: text/event-stream\r\ncontent-length: {len(body)}\r\n"
        writer.write(f"HTTP/1.1 200 OK\r\nconnection: close\r\n{head}\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    full = {"base_url": url, "default_model": "m", "max_retries": 0, **config}
    async with mounted(mount, "openai", full) as (provider, _):
        yield provider
    server.close()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def call(identity: str | None, name: str, arguments: str, index: int | None = 0) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    found: dict[str, Any] = {"type": "function", "function": function}
    if identity is not None:
        found["id"] = identity
    if index is not None:
        found["index"] = index
    return found


async def test_whole_calls_without_numbers_and_ids_work() -> None:
    chunks = (
        chunk(
            tool_calls=[
                call(None, "read_file", '{"path": "a"}', None),
                call(None, "read_file", "", None),
            ]
        ),
        chunk("tool_calls"),
    )
    async with answering(*chunks) as provider:
        response = await provider.complete(ask(tools=[READ_FILE]))
    first, second = response.tool_calls
    assert first.id and second.id and first.id != second.id
    assert (first.arguments, second.arguments) == ({"path": "a"}, {})


async def test_interleaved_calls_are_put_together() -> None:
    chunks = (
        chunk(tool_calls=[call("a", "f", '{"x":', 0), call("b", "g", "", 1)]),
        chunk(tool_calls=[{"index": 1, "function": {"arguments": '{"y": 2}'}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": " 1}"}}]),
        chunk("tool_calls"),
    )
    async with answering(*chunks) as provider:
        response = await provider.complete(ask())
    found = [(call.name, call.arguments) for call in response.tool_calls]
    assert found == [("f", {"x": 1}), ("g", {"y": 2})]


async def test_a_call_whose_name_comes_after_its_id_is_that_of_its_tool() -> None:
    named = {"name": "read_file", "arguments": '{"path":'}
    chunks = (
        chunk(tool_calls=[{"index": 0, "id": "a", "type": "function"}]),
        chunk(tool_calls=[{"index": 0, "function": named}]),
        chunk(tool_calls=[{"index": 0, "function": {"name": None, "arguments": ' "b"}'}}]),
        chunk("tool_calls"),
    )
    async with answering(*chunks) as provider:
        response = await provider.complete(ask(tools=[READ_FILE]))
    assert [(each.id, each.name, each.arguments) for each in response.tool_calls] == [
        ("a", "read_file", {"path": "b"})
    ]


async def test_a_stream_that_just_stops_is_not_taken_for_an_answer() -> None:
    async with answering(chunk(content="Hal")) as provider:
        with pytest.raises(llm_errors.StreamError, match="ended before the answer"):
            await provider.complete(ask())
    async with answering({"type": "response.created"}, api="responses") as provider:
        with pytest.raises(llm_errors.StreamError, match="ended before the answer"):
            await provider.complete(ask())


async def test_the_error_event_of_the_responses_api_is_raised() -> None:
    event = {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down", "param": None}
    async with answering(event, api="responses") as provider:
        with pytest.raises(llm_errors.RateLimitError, match="Slow down"):
            await provider.complete(ask())


async def test_token_counts_are_not_asked_for_where_that_is_switched_off() -> None:
    async with gpt("Hi.", "Hi.") as (provider, server, _):
        await provider.complete(ask())
    assert server.requests[0].json["stream_options"] == {"include_usage": True}
    async with gpt("Hi.", config={"stream_usage": False}) as (provider, server, _):
        response = await provider.complete(ask())
    assert "stream_options" not in server.requests[0].json
    assert response.usage is None
