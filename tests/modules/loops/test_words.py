import asyncio
from typing import Any

import pytest

from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse
from amplifier_tui.kernel.utils.stream import StreamEmitter
from tests.modules.loops.support import Bench, Tool, call, calls, says


def streaming(bench: Bench, response: ChatResponse, *pieces: str) -> Any:
    async def reply(_: ChatRequest) -> ChatResponse:
        stream = StreamEmitter(bench.hooks, request_id=f"r{len(bench.provider.requests)}")
        for piece in pieces:
            await stream.delta(0, piece)
        return response

    return reply


def stream(bench: Bench) -> Any:
    return bench.loop.stream(
        "Hi",
        bench.context,
        bench.providers,
        bench.tools,
        bench.hooks,
        coordinator=bench.coordinator,
    )


async def test_the_words_of_a_turn_come_as_an_async_generator():
    bench = Bench(tools={"t": Tool("t")})
    bench.provider.replies += [
        streaming(bench, calls(call("t"), text="Let me see."), "Let me ", "see."),
        streaming(bench, says("Done."), "Do", "ne."),
    ]
    assert [piece async for piece in stream(bench)] == ["Let me ", "see.", "Do", "ne."]


async def test_a_provider_that_does_not_stream_gives_its_words_whole():
    bench = Bench(calls(call("t"), text="Let me see."), says("Done."), tools={"t": Tool("t")})
    assert [piece async for piece in stream(bench)] == ["Let me see.", "Done."]


async def test_an_error_of_the_turn_comes_out_of_the_generator():
    bench = Bench(ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        async for _ in stream(bench):
            pass


async def test_closing_the_generator_cancels_the_turn():
    bench = Bench()

    async def endless(_: ChatRequest) -> ChatResponse:
        await StreamEmitter(bench.hooks, request_id="r").delta(0, "First")
        await asyncio.Event().wait()
        raise AssertionError

    bench.provider.replies.append(endless)
    words = stream(bench)
    assert await anext(words) == "First"
    await words.aclose()
    assert bench.of("execution:end")[0]["status"] == "cancelled"
