import asyncio
import contextlib
from typing import Any

import pytest

from amplifier_tui.base.messages.sub_sessions import INTERRUPTED
from amplifier_tui.kernel.correlation import aside
from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse
from amplifier_tui.kernel.models import HookResult, ToolResult, interrupted_with
from amplifier_tui.kernel.utils.stream import StreamEmitter
from tests.modules.loops.support import Bench, Tool, assert_whole, call, calls, says


async def forever(_: Any) -> Any:
    await asyncio.Event().wait()


async def stopped(task: asyncio.Task[str]) -> None:
    with pytest.raises(asyncio.CancelledError):
        await task


# --- graceful --------------------------------------------------------------------------------


async def test_a_stop_before_the_first_request_asks_nobody():
    bench = Bench(says("never"))
    bench.token.request_graceful()
    assert await bench.run() == ""
    assert bench.provider.requests == []
    assert bench.of("orchestrator:complete")[0]["status"] == "cancelled"
    assert bench.of("execution:end")[0]["status"] == "cancelled"


async def test_a_stop_during_the_answer_keeps_it_and_runs_none_of_its_calls():
    tool = Tool("t")
    bench = Bench(tools={"t": tool})

    async def reply(_: ChatRequest) -> ChatResponse:
        bench.token.request_graceful()
        return calls(call("t", "c1"), call("t", "c2"), text="I will.")

    bench.provider.replies.append(reply)
    assert await bench.run() == "I will."
    assert tool.inputs == []
    assert set(bench.results().values()) == {"The turn was stopped before it ran."}
    assert {data["error"]["type"] for data in bench.of("tool:error")} == {"stopped"}
    assert_whole(bench.context.rows)
    assert (
        bench.of("execution:end")[0] | {"status": "cancelled", "response": ""}
        == (bench.of("execution:end")[0])
    )


async def test_a_stop_while_a_tool_runs_lets_it_finish_and_goes_no_further():
    bench = Bench(calls(call("t")), says("never"))

    async def run(_: dict[str, Any]) -> ToolResult:
        bench.token.request_graceful()
        return ToolResult(output="finished")

    bench.tools["t"] = Tool("t", run)
    await bench.run()
    assert bench.results() == {"c1": "finished"}
    assert len(bench.provider.requests) == 1


async def test_a_stop_while_the_user_is_asked_runs_nothing_afterwards():
    tool = Tool("t")
    bench = Bench(calls(call("t")), says("never"), tools={"t": tool})

    async def allow(*_: Any) -> str:
        bench.token.request_graceful()
        return "Allow"

    bench.coordinator.approval_system = type("A", (), {"request_approval": staticmethod(allow)})()
    bench.hooks.register("tool:pre", lambda *_: HookResult(action="ask_user"))
    await bench.run()
    assert tool.inputs == []
    assert bench.results() == {"c1": "The turn was stopped before it ran."}


async def test_the_stop_is_told_once_and_the_callbacks_run_once():
    bench = Bench(tools={"t": Tool("t")})
    ran: list[str] = []
    bench.token.on_cancel(lambda: ran.append("callback"))

    async def reply(_: ChatRequest) -> ChatResponse:
        bench.token.request_graceful()
        return calls(call("t"))

    bench.provider.replies.append(reply)
    await bench.run()
    (told,) = bench.of("cancel:requested")
    assert told["level"] == told["state"] == "graceful"
    assert told["orchestrator"] == bench.loop.name
    assert ran == ["callback"]
    assert bench.of("cancel:completed") == []  # That one is the session's.


async def test_a_final_answer_that_came_in_spite_of_the_stop_counts():
    bench = Bench()

    async def reply(_: ChatRequest) -> ChatResponse:
        bench.token.request_graceful()
        return says("All done.")

    bench.provider.replies.append(reply)
    assert await bench.run() == "All done."
    assert bench.of("orchestrator:complete")[0]["status"] == "success"
    assert len(bench.of("cancel:requested")) == 1


# --- immediate -------------------------------------------------------------------------------


async def test_cancelling_in_mid_answer_keeps_what_streamed_and_marks_it():
    bench = Bench()

    async def reply(_: ChatRequest) -> ChatResponse:
        stream = StreamEmitter(bench.hooks, request_id="r1")
        await stream.start(0, "thinking")
        await stream.delta(0, "secret thoughts")
        await stream.end(0)
        await stream.delta(1, "Once upon ")
        await stream.delta(1, "a time")
        await forever(None)
        raise AssertionError

    bench.provider.replies.append(reply)
    task = asyncio.create_task(bench.run())
    while len(bench.of("llm:stream_block_delta")) < 3:
        await asyncio.sleep(0)
    bench.token.request_immediate()
    task.cancel()
    await stopped(task)
    assert bench.context.rows[-1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "Once upon a time"}],
        "metadata": {"interrupted": True},
    }
    assert bench.of("cancel:requested")[0]["level"] == "immediate"
    assert bench.of("orchestrator:complete")[0]["status"] == "cancelled"
    assert bench.of("execution:end")[0]["status"] == "cancelled"


async def test_what_is_asked_on_the_side_is_not_part_of_what_is_kept():
    bench = Bench()
    both = asyncio.Event()

    async def entitle() -> None:
        with aside():
            await StreamEmitter(bench.hooks, request_id="r2").delta(0, "A title")

    async def reply(_: ChatRequest) -> ChatResponse:
        await StreamEmitter(bench.hooks, request_id="r1").delta(0, "Fine")
        await asyncio.create_task(entitle())
        both.set()
        await forever(None)
        raise AssertionError

    bench.provider.replies.append(reply)
    task = asyncio.create_task(bench.run())
    await both.wait()
    task.cancel()
    await stopped(task)
    assert bench.context.rows[-1]["content"] == [{"type": "text", "text": "Fine"}]


async def test_an_aborted_attempt_is_not_part_of_what_is_kept():
    bench = Bench()
    both = asyncio.Event()

    async def reply(_: ChatRequest) -> ChatResponse:
        first = StreamEmitter(bench.hooks, request_id="r1")
        await first.delta(0, "garbage")
        await first.aborted(ConnectionError("cut"))
        second = StreamEmitter(bench.hooks, request_id="r2")
        await second.delta(0, "Fine")
        both.set()
        await forever(None)
        raise AssertionError

    bench.provider.replies.append(reply)
    task = asyncio.create_task(bench.run())
    await both.wait()
    task.cancel()
    await stopped(task)
    assert bench.context.rows[-1]["content"][0]["text"] == "Fine"


async def test_cancelling_without_any_words_leaves_only_the_prompt():
    bench = Bench(forever)
    task = asyncio.create_task(bench.run("Hi"))
    await bench.seen("provider:request").wait()
    await asyncio.sleep(0)
    task.cancel()
    await stopped(task)
    assert bench.context.rows == [{"role": "user", "content": "Hi"}]
    assert bench.of("cancel:requested") == []  # Nobody asked the session to stop.


async def test_cancelling_while_tools_run_answers_every_call():
    started = asyncio.Event()
    cleaned: list[str] = []

    async def slow(_: dict[str, Any]) -> ToolResult:
        started.set()
        try:
            await forever(None)
        finally:
            cleaned.append("slow")
        raise AssertionError

    async def quick(_: dict[str, Any]) -> ToolResult:
        return ToolResult(output="quick result")

    bench = Bench(
        calls(call("quick", "c1"), call("slow", "c2")),
        tools={"quick": Tool("quick", quick), "slow": Tool("slow", slow)},
    )
    task = asyncio.create_task(bench.run())
    await started.wait()
    await bench.seen("tool:post").wait()
    task.cancel()
    await stopped(task)
    assert cleaned == ["slow"]
    results = bench.results()
    assert results["c1"] == "quick result"
    assert results["c2"].startswith("Interrupted by the user")
    assert bench.context.rows[-1]["metadata"] == {"is_error": True, "interrupted": True}
    assert bench.of("tool:error")[0]["error"]["type"] == "interrupted"
    assert bench.of(f"{bench.loop.name}:interrupted")[0]["tool_call_ids"] == ["c2"]
    assert_whole(bench.context.rows)


async def test_what_a_stopped_tool_had_found_goes_through_the_hooks_and_is_its_result():
    started = asyncio.Event()

    async def slow(_: dict[str, Any]) -> ToolResult:
        started.set()
        try:
            await forever(None)
        except asyncio.CancelledError as error:
            raise interrupted_with(ToolResult(output="half, and a secret")) from error
        raise AssertionError

    def redact(_: str, data: dict[str, Any]) -> HookResult:
        output = data["result"]["output"].replace("secret", "[REDACTED]")
        changed = {**data, "result": {**data["result"], "output": output}}
        return HookResult(action="modify", data=changed)

    bench = Bench(calls(call("slow")), tools={"slow": Tool("slow", slow)})
    bench.hooks.register("tool:post", redact)
    task = asyncio.create_task(bench.run())
    await started.wait()
    task.cancel()
    await stopped(task)
    assert bench.results()["c1"] == f"half, and a [REDACTED]\n[{INTERRUPTED}]"
    assert bench.context.rows[-1]["metadata"] == {"is_error": True, "interrupted": True}
    assert bench.of("tool:error") == []
    assert bench.of(f"{bench.loop.name}:interrupted")[0]["tool_call_ids"] == ["c1"]
    assert_whole(bench.context.rows)


async def test_cancelling_while_a_hook_decides_answers_the_call():
    bench = Bench(calls(call("t")), tools={"t": Tool("t")})
    asked = asyncio.Event()

    async def ponder(*_: Any) -> None:
        asked.set()
        await forever(None)

    bench.hooks.register("tool:pre", ponder)
    task = asyncio.create_task(bench.run())
    await asked.wait()
    task.cancel()
    await stopped(task)
    assert bench.results() == {"c1": "The turn was stopped before it ran."}
    assert_whole(bench.context.rows)


@pytest.mark.parametrize("event", ["provider:response", "content_block:start", "tool:post"])
async def test_cancelling_between_the_steps_leaves_a_whole_conversation(event: str):
    tool = Tool("t")
    bench = Bench(calls(call("t"), text="I will."), says("never"), tools={"t": tool})
    reached = asyncio.Event()

    async def hold(*_: Any) -> None:
        reached.set()
        await forever(None)

    bench.hooks.register(event, hold)
    task = asyncio.create_task(bench.run())
    await reached.wait()
    task.cancel()
    await stopped(task)
    assert bench.context.rows[1]["content"][0]["text"] == "I will."
    assert_whole(bench.context.rows)
    assert len(tool.inputs) == (event == "tool:post")


async def test_a_tool_that_refuses_to_stop_does_not_hold_the_turn(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("amplifier_tui.modules._loop.tool_batch.STOP_GRACE", 0.05)
    started, release = asyncio.Event(), asyncio.Event()

    async def stubborn(_: dict[str, Any]) -> ToolResult:
        started.set()
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()
        return ToolResult(output="too late")

    bench = Bench(calls(call("t")), tools={"t": Tool("t", stubborn)})
    task = asyncio.create_task(bench.run())
    await started.wait()
    task.cancel()
    await stopped(task)
    assert bench.results()["c1"].startswith("Interrupted")
    release.set()
    await asyncio.sleep(0)
    assert_whole(bench.context.rows)


async def test_the_turn_after_a_stop_works():
    bench = Bench(forever, says("Again."))
    task = asyncio.create_task(bench.run("Hi"))
    await bench.seen("provider:request").wait()
    await asyncio.sleep(0)
    bench.token.request_immediate()
    task.cancel()
    await stopped(task)
    bench.token.reset()
    assert await bench.run("And now?") == "Again."


async def test_an_error_between_answer_and_tools_leaves_a_whole_conversation():
    bench = Bench(calls(call("t")), tools={"t": Tool("t")})
    emit = bench.hooks.emit

    def broken(event: str, data: Any = None) -> Any:
        if event == "content_block:start":
            raise OSError("disk full")
        return emit(event, data)

    bench.hooks.emit = broken  # type: ignore[method-assign]
    with pytest.raises(OSError, match="disk full"):
        await bench.run()
    assert bench.results() == {"c1": "The turn failed before it ran."}
