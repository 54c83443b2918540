import asyncio
from decimal import Decimal

import pytest

from amplifier_tui.kernel.message_models import TextBlock, ThinkingBlock, ToolCallBlock
from tests.modules.provider_openai.support import APIS, gpt
from tests.modules.provider_support import READ_FILE, ask
from tests.servers import Gate, Refusal, Stall, Text, Thinking, ToolUse, Usage, reply

pytestmark = pytest.mark.parametrize("api", APIS)


async def test_tokens_are_emitted_while_the_server_is_still_sending(api: str) -> None:
    gate = Gate()
    async with gpt(reply(Text(["one ", gate, "two"])), api=api) as (provider, server, heard):
        answering = asyncio.create_task(provider.complete(ask()))
        await heard.until("llm:stream_block_delta", text="one ")
        record = await server.request()
        assert record.api == api
        assert not record.answered.is_set()
        gate.open()
        response = await answering
    assert response.content == [TextBlock(text="one two")]
    assert heard.text() == "one two"


async def test_events_come_in_order_and_carry_one_request_id(api: str) -> None:
    async with gpt(reply(Thinking("Hm."), "Yes."), api=api) as (provider, _, heard):
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
    assert heard.of("llm:request")[0]["api"] == api


async def test_usage_is_reported_gross_and_priced_where_the_price_is_known(api: str) -> None:
    usage = Usage(input=100, output=50, cache_read=60, reasoning=12)
    async with gpt(reply("Hi.", usage=usage), api=api) as (provider, _, heard):
        response = await provider.complete(ask(model="gpt-5-2025-08-07"))
    (data,) = heard.of("llm:response")
    assert data["usage"] == {"input_tokens": 100, "output_tokens": 50, "cache_read_tokens": 60}
    assert (data["provider"], data["model"]) == ("openai", "gpt-5-2025-08-07")
    assert data["status"] == "ok"
    assert response.usage.reasoning_tokens == 12
    assert response.usage.cache_write_tokens is None
    # 40 fresh at 1.25, 60 cached at 0.125, 50 out at 10 dollars per million.
    assert response.usage.cost_usd == Decimal("0.0005575")


async def test_parallel_calls_keep_their_order_ids_and_arguments(api: str) -> None:
    answer = reply(
        "Reading two files.",
        ToolUse("read_file", {"path": "a.py"}, id="call_a"),
        ToolUse("read_file", {"path": "ü 漢.py"}, id="call_b", pieces=9),
    )
    async with gpt(answer, api=api) as (provider, _, heard):
        response = await provider.complete(ask(tools=[READ_FILE]))
    assert response.content == [
        TextBlock(text="Reading two files."),
        ToolCallBlock(id="call_a", name="read_file", input={"path": "a.py"}),
        ToolCallBlock(id="call_b", name="read_file", input={"path": "ü 漢.py"}),
    ]
    assert [call.id for call in provider.parse_tool_calls(response)] == ["call_a", "call_b"]
    assert response.finish_reason == "tool_calls"
    started = [s for s in heard.of("llm:stream_block_start") if s["block_type"] == "tool_use"]
    assert [(s["block_index"], s["name"]) for s in started] == [(1, "read_file"), (2, "read_file")]
    ended = [data["block_index"] for data in heard.of("llm:stream_block_end")]
    assert sorted(ended) == [0, 1, 2]


async def test_arguments_that_are_no_json_become_an_error_for_the_model(api: str) -> None:
    async with gpt(reply(ToolUse("read_file", '{"path": a}')), api=api) as (provider, _, _h):
        response = await provider.complete(ask(tools=[READ_FILE]))
    (call,) = response.tool_calls
    assert call.arguments == {}
    assert "Expecting value at line 1 column 10" in call.arguments_error
    assert '{"path": a}' in call.arguments_error


async def test_arguments_cut_off_by_the_limit_say_so(api: str) -> None:
    answer = reply(ToolUse("read_file", '{"path": "a'), stop="length")
    async with gpt(answer, api=api) as (provider, _, _heard):
        response = await provider.complete(ask(tools=[READ_FILE]))
    assert response.finish_reason == "length"
    assert "cut off by the output limit" in response.tool_calls[0].arguments_error


async def test_a_call_cut_off_before_its_first_argument_is_not_run(api: str) -> None:
    calls = (ToolUse("now", "", id="a"), ToolUse("now", "", id="b"))
    async with gpt(reply(*calls, stop="length"), api=api) as (provider, _, _heard):
        response = await provider.complete(ask())
    whole, cut = response.tool_calls
    assert not hasattr(whole, "arguments_error")
    assert "cut off by the output limit" in cut.arguments_error


async def test_cancelling_closes_the_stream_and_the_server_sees_it(api: str) -> None:
    replies = (reply(Text(["one ", Stall()])), "Next.")
    async with gpt(*replies, api=api) as (provider, server, heard):
        answering = asyncio.create_task(provider.complete(ask()))
        await heard.until("llm:stream_block_delta", text="one ")
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
        await (await server.request()).disconnected.wait()
        assert heard.of("llm:stream_aborted") == []
        following = await provider.complete(ask())
    assert following.content == [TextBlock(text="Next.")]


async def test_cancelling_before_the_first_byte_closes_the_connection(api: str) -> None:
    async with gpt(reply("never", before=Gate()), api=api) as (provider, server, _):
        answering = asyncio.create_task(provider.complete(ask()))
        record = await server.request()
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
        await record.disconnected.wait()


async def test_cancelling_while_a_hook_holds_the_stream_closes_it_too(api: str) -> None:
    async with gpt(reply(Text(["one ", Stall()])), api=api) as (provider, server, heard):
        holding = heard.hold("llm:stream_block_delta")
        answering = asyncio.create_task(provider.complete(ask()))
        await holding.wait()
        answering.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await answering
        await (await server.request()).disconnected.wait()
        # Still alive: it is not the garbage collector that closed the stream.
        assert caught.value.__traceback__ is not None


async def test_without_streaming_the_same_answer_comes_in_one_piece(api: str) -> None:
    answer = reply(Thinking("Hm."), "Yes.", ToolUse("read_file", {"path": "a"}, id="c1"))
    async with gpt(answer, api=api, config={"stream": False}) as (provider, server, heard):
        response = await provider.complete(ask(tools=[READ_FILE]))
    assert not server.requests[0].json.get("stream")
    assert isinstance(response.content[0], ThinkingBlock)
    assert response.content[1:] == [
        TextBlock(text="Yes."),
        ToolCallBlock(id="c1", name="read_file", input={"path": "a"}),
    ]
    assert response.usage.input_tokens == 20
    assert heard.names() == ["llm:request", "llm:response"]


async def test_a_refusal_is_shown_and_marked(api: str) -> None:
    async with gpt(reply(Refusal("I'd rather not.")), api=api) as (provider, _, heard):
        response = await provider.complete(ask())
    assert response.content == [TextBlock(text="I'd rather not.")]
    assert response.finish_reason == "content_filter"
    assert heard.text() == "I'd rather not."


async def test_an_answer_cut_off_by_the_limit_is_continued(api: str) -> None:
    replies = (reply("One two ", stop="length"), reply("three."))
    async with gpt(*replies, api=api) as (provider, server, _):
        response = await provider.complete(ask())
    assert response.content == [TextBlock(text="One two three.")]
    assert response.finish_reason == "stop"
    assert len(server.requests) == 2


async def test_many_requests_at_once_do_not_mix(api: str) -> None:
    def echo(request: dict) -> str:
        last = (request.get("messages") or request["input"])[-1]["content"]
        return f"You said {last if isinstance(last, str) else last[0]['text']}"

    async with gpt(*[echo] * 20, api=api) as (provider, _, _heard):
        responses = await asyncio.gather(*(provider.complete(ask(str(n))) for n in range(20)))
    assert [r.content[0].text for r in responses] == [f"You said {n}" for n in range(20)]
