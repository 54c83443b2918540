import asyncio
import json
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
from anthropic._models import construct_type
from anthropic.types import RawMessageStreamEvent

from amplifier_tui.kernel.message_models import (
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.modules.provider_anthropic.stream import AnthropicAnswer
from tests.modules.provider_anthropic.support import claude
from tests.modules.provider_support import READ_FILE, ask
from tests.servers import (
    Failure,
    Gate,
    RedactedThinking,
    Stall,
    Text,
    Thinking,
    ToolUse,
    Usage,
    reply,
)


async def test_tokens_are_emitted_while_the_server_is_still_sending() -> None:
    gate = Gate()
    async with claude(reply(Text(["one ", gate, "two"]))) as (provider, server, heard):
        answering = asyncio.create_task(provider.complete(ask()))
        await heard.until("llm:stream_block_delta", text="one ")
        record = await server.request()
        assert not record.answered.is_set()
        assert not answering.done()
        gate.open()
        response = await answering
    assert response.content == [TextBlock(text="one two")]
    assert heard.text() == "one two"


async def test_events_come_in_order_and_carry_one_request_id() -> None:
    async with claude(reply(Thinking("Hm."), "Yes.")) as (provider, _, heard):
        await provider.complete(ask())
    assert heard.names() == [
        "llm:request",
        "llm:stream_block_start",
        "llm:stream_block_delta",
        "llm:stream_block_end",
        "llm:stream_block_start",
        "llm:stream_block_delta",
        "llm:stream_block_end",
        "llm:response",
    ]
    assert len({data["request_id"] for _, data in heard.all}) == 1
    starts = heard.of("llm:stream_block_start")
    assert [(s["block_index"], s["block_type"]) for s in starts] == [(0, "thinking"), (1, "text")]


async def test_the_response_event_reports_usage_gross_of_the_cache() -> None:
    usage = Usage(input=100, output=50, cache_read=60, cache_write=30, reasoning=12)
    async with claude(reply("Hi.", usage=usage)) as (provider, _, heard):
        response = await provider.complete(ask(model="claude-opus-4-6"))
    (data,) = heard.of("llm:response")
    assert data["usage"] == {
        "input_tokens": 100,
        "output_tokens": 50,
        "cache_read_tokens": 60,
        "cache_write_tokens": 30,
    }
    assert (data["provider"], data["model"]) == ("anthropic", "claude-opus-4-6")
    assert data["status"] == "ok"
    assert data["duration_ms"] >= 0
    assert response.usage is not None
    assert response.usage.reasoning_tokens == 12
    assert response.usage.total_tokens == 150
    # 10 fresh at 5, 60 read at 0.5, 30 written at 6.25, 50 out at 25 dollars per million.
    expected = Decimal("50") + Decimal("30") + Decimal("187.5") + Decimal("1250")
    assert response.usage.cost_usd == expected / 1_000_000
    assert data["cost_usd"] == str(response.usage.cost_usd)


async def test_cache_counts_are_left_out_when_there_are_none() -> None:
    async with claude("Hi.") as (provider, _, heard):
        response = await provider.complete(ask())
    assert set(heard.of("llm:response")[0]["usage"]) == {"input_tokens", "output_tokens"}
    assert response.usage.cost_usd is None


async def test_prices_of_an_unknown_model_can_be_given() -> None:
    config = {"pricing": {"input_per_million": "1", "output_per_million": "2"}}
    async with claude(reply("Hi.", usage=Usage(10, 10)), config=config) as (provider, _, _heard):
        response = await provider.complete(ask(model="claude-next"))
    assert response.usage.cost_usd == Decimal("0.00003")


async def test_every_kind_of_block_is_returned_and_parallel_calls_keep_their_order() -> None:
    answer = reply(
        Thinking("Let me look.", signature="sig-9"),
        RedactedThinking("blob"),
        "Reading two files.",
        ToolUse("read_file", {"path": "a.py"}, id="toolu_a"),
        ToolUse("read_file", {"path": "ü 漢.py"}, id="toolu_b", pieces=9),
    )
    async with claude(answer) as (provider, _, heard):
        response = await provider.complete(ask(tools=[READ_FILE]))
    assert response.content == [
        ThinkingBlock(thinking="Let me look.", signature="sig-9"),
        RedactedThinkingBlock(data="blob"),
        TextBlock(text="Reading two files."),
        ToolCallBlock(id="toolu_a", name="read_file", input={"path": "a.py"}),
        ToolCallBlock(id="toolu_b", name="read_file", input={"path": "ü 漢.py"}),
    ]
    calls = provider.parse_tool_calls(response)
    assert [(call.id, call.arguments["path"]) for call in calls] == [
        ("toolu_a", "a.py"),
        ("toolu_b", "ü 漢.py"),
    ]
    assert response.finish_reason == "tool_calls"
    started = [s for s in heard.of("llm:stream_block_start") if s["block_type"] == "tool_use"]
    assert [s["name"] for s in started] == ["read_file", "read_file"]
    assert json.loads(heard.text("tool_use").partition("}")[0] + "}") == {"path": "a.py"}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('{"path": "a.py"', "Expecting ',' delimiter at line 1 column 16 (character 15)"),
        ("[1, 2]", "must be a JSON object, not list"),
        ("null", "must be a JSON object, not null"),
        ('{"path": ' + "[" * 100_000, "can't be read"),
    ],
)
async def test_arguments_that_are_no_json_object_become_an_error_for_the_model(
    raw: str, said: str
) -> None:
    call = ToolUse("read_file", raw, id="toolu_a")
    async with claude(reply(call)) as (provider, _, _heard):
        response = await provider.complete(ask(tools=[READ_FILE]))
    (call,) = provider.parse_tool_calls(response)
    assert call.arguments == {}
    assert said in call.arguments_error
    assert raw[:20] in call.arguments_error
    assert len(call.arguments_error) < 800


async def test_arguments_cut_off_by_the_limit_say_so() -> None:
    answer = reply(ToolUse("read_file", '{"path": "a'), stop="length")
    async with claude(answer) as (provider, _, _heard):
        response = await provider.complete(ask(tools=[READ_FILE]))
    assert response.finish_reason == "length"
    assert "cut off by the output limit" in response.tool_calls[0].arguments_error


@pytest.mark.parametrize("stop", ["length", "context_window"])
async def test_a_call_cut_off_before_its_first_argument_is_not_run(stop: Any) -> None:
    calls = (ToolUse("now", "", id="a"), ToolUse("now", "", id="b"))
    async with claude(reply(*calls, stop=stop)) as (provider, _, _heard):
        response = await provider.complete(ask())
    whole, cut = response.tool_calls
    assert not hasattr(whole, "arguments_error")
    assert "cut off by the output limit" in cut.arguments_error


async def test_a_call_without_arguments_is_not_an_error() -> None:
    async with claude(reply(ToolUse("now", ""))) as (provider, _, _heard):
        response = await provider.complete(ask())
    assert response.tool_calls[0].arguments == {}
    assert not hasattr(response.tool_calls[0], "arguments_error")


async def test_cancelling_closes_the_stream_and_the_server_sees_it() -> None:
    async with claude(reply(Text(["one ", Stall()])), "Next.") as (provider, server, heard):
        answering = asyncio.create_task(provider.complete(ask()))
        await heard.until("llm:stream_block_delta", text="one ")
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
        await (await server.request()).disconnected.wait()
        assert heard.of("llm:stream_aborted") == []
        following = await provider.complete(ask())
    assert following.content == [TextBlock(text="Next.")]


async def test_cancelling_before_the_first_byte_closes_the_connection() -> None:
    answer = reply("never", before=Gate())
    async with claude(answer) as (provider, server, _):
        answering = asyncio.create_task(provider.complete(ask()))
        record = await server.request()
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
        await record.disconnected.wait()


async def test_cancelling_while_a_hook_holds_the_stream_closes_it_too() -> None:
    async with claude(reply(Text(["one ", Stall()]))) as (provider, server, heard):
        holding = heard.hold("llm:stream_block_delta")
        answering = asyncio.create_task(provider.complete(ask()))
        await holding.wait()
        answering.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await answering
        await (await server.request()).disconnected.wait()
        # Still alive: it is not the garbage collector that closed the stream.
        assert caught.value.__traceback__ is not None


async def test_without_streaming_the_same_answer_comes_in_one_piece() -> None:
    answer = reply(Thinking("Hm."), "Yes.", ToolUse("read_file", {"path": "a"}, id="t1"))
    async with claude(answer, config={"stream": "false"}) as (provider, server, heard):
        response = await provider.complete(ask(tools=[READ_FILE]))
        assert (
            "stream" not in (await server.request()).json or not server.requests[0].json["stream"]
        )
    assert [block.type for block in response.content] == ["thinking", "text", "tool_call"]
    assert response.tool_calls[0].arguments == {"path": "a"}
    assert heard.names() == ["llm:request", "llm:response"]


async def test_an_answer_cut_off_by_the_limit_is_continued() -> None:
    replies = (
        reply("One two ", stop="length", usage=Usage(10, 5)),
        reply("three.", usage=Usage(20, 3)),
    )
    async with claude(*replies) as (provider, server, heard):
        response = await provider.complete(ask())
        again = (await server.request(1)).json["messages"]
    assert response.content == [TextBlock(text="One two three.")]
    assert response.finish_reason == "stop"
    assert [message["role"] for message in again] == ["user", "assistant", "user"]
    assert again[1]["content"] == [{"type": "text", "text": "One two "}]
    assert response.usage.input_tokens == 20
    assert [data["usage"]["output_tokens"] for data in heard.of("llm:response")] == [5, 3]


async def test_what_was_said_stays_where_it_can_t_be_continued() -> None:
    replies = (reply("One two ", stop="length", usage=Usage(10, 5)), Failure("context_too_long"))
    async with claude(*replies) as (provider, _, heard):
        response = await provider.complete(ask())
    assert response.content == [TextBlock(text="One two ")]
    assert response.finish_reason == "length"
    assert response.usage.output_tokens == 5
    assert len(heard.of("llm:response")) == 1


async def test_a_limit_of_the_callers_own_is_kept() -> None:
    async with claude(reply("One two", stop="length")) as (provider, server, _):
        response = await provider.complete(ask(max_output_tokens=5))
    assert response.finish_reason == "length"
    assert server.requests[0].json["max_tokens"] == 5


async def test_many_requests_at_once_do_not_mix() -> None:
    def echo(request: dict) -> str:
        return "You said " + request["messages"][-1]["content"][-1]["text"]

    async with claude(*[echo] * 20) as (provider, _, heard):
        responses = await asyncio.gather(*(provider.complete(ask(str(n))) for n in range(20)))
    assert [r.content[0].text for r in responses] == [f"You said {n}" for n in range(20)]
    assert len({data["request_id"] for data in heard.of("llm:response")}) == 20


async def test_a_provider_without_coordinator_works_silently() -> None:
    async with claude("Hi.") as (provider, _, heard):
        lonely = type(provider)(provider.settings)
        try:
            response = await lonely.complete(ask())
        finally:
            await lonely.close()
    assert response.content == [TextBlock(text="Hi.")]
    assert heard.all == []


@pytest.mark.parametrize(
    ("first", "pieces", "given"),
    [
        ({"path": "a"}, [], {"path": "a"}),
        ({"path": "a"}, [""], {"path": "a"}),
        ({"path": "a"}, ['{"path": ', '"b"}'], {"path": "b"}),
        ({}, ['{"path": "b"}'], {"path": "b"}),
        ({}, [], {}),
        ("{}", [], {}),
    ],
)
async def test_what_a_call_is_given_may_come_with_its_beginning_or_in_pieces(
    first: object, pieces: list[str], given: dict[str, str]
) -> None:
    call = {"type": "tool_use", "id": "t", "name": "read_file", "input": first}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    ended = {"stop_reason": "tool_use", "stop_sequence": None}
    sent = [
        {"type": "content_block_start", "index": 0, "content_block": call},
        *({"type": "content_block_delta", "index": 0, "delta": each} for each in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]

    async def events() -> AsyncIterator[Any]:
        for each in sent:
            yield construct_type(value=each, type_=RawMessageStreamEvent)

    answer = AnthropicAnswer("m", {})
    await answer.read_stream(events(), StreamEmitter(None, request_id=""))
    (made,) = answer.response().tool_calls or []
    assert (made.name, made.arguments) == ("read_file", given)
