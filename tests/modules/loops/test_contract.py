import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

import amplifier_tui.kernel
from amplifier_tui.kernel import events, llm_errors
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.interfaces import Orchestrator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.kernel.message_models import ChatResponse, TextBlock, ThinkingBlock
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.kernel.testing import EventRecorder, MockContextManager, MockTool
from amplifier_tui.kernel.validation.module_check import check_module
from tests.modules.loops.conftest import LoopClass
from tests.modules.loops.support import (
    Bench,
    Context,
    ScriptedProvider,
    Tool,
    assert_whole,
    call,
    calls,
    says,
)


async def test_it_is_found_by_its_id_and_mounted_as_the_orchestrator(loop: LoopClass):
    bench = Bench()
    mount = await ModuleLoader(bench.coordinator).load(loop.settings.module, {"max_iterations": 3})
    await mount(bench.coordinator)
    mounted = bench.coordinator.get("orchestrator")
    assert isinstance(mounted, Orchestrator) and isinstance(mounted, loop)


async def test_the_events_that_are_its_own_are_announced_and_no_others(loop: LoopClass):
    bench = Bench(calls(call("t")), tools={"t": Tool("t")}, config={"max_iterations": 1})
    await bench.loop.mount(bench.coordinator)
    await bench.run()
    (announced,) = await bench.coordinator.collect_contributions("observability.events")
    assert f"{loop.settings.module}:interrupted" in announced
    assert f"{loop.settings.module}:limit_reached" in bench.names()
    assert set(bench.names()) <= {*events.ALL_EVENTS, *announced}


@pytest.mark.parametrize("config", [{"max_iterations": "many"}, {"default_provider": 3}])
def test_a_mistake_in_the_config_is_told_at_once(loop: LoopClass, config: dict[str, Any]):
    with pytest.raises(ValueError, match=loop.settings.module):
        loop(config)


async def test_its_package_is_valid_and_does_what_hooks_say(loop: LoopClass):
    checked = await check_module(loop.settings.module)
    assert [check for check in checked.result.checks if not check.passed] == []
    assert {"hooks_deny", "hooks_ask", "hooks_modify"} <= {
        check.name for check in checked.result.checks
    }


async def test_a_context_is_asked_for_messages_with_what_it_takes(loop: LoopClass):
    bench = Bench(says("Hello."), says("Again."))
    asked: list[dict[str, Any]] = []

    async def for_any(**given: Any) -> list[dict[str, Any]]:
        asked.append(given)
        return bench.context.rows

    async def for_none() -> list[dict[str, Any]]:
        return await for_any()

    for ask in (for_any, for_none):
        bench.context.get_messages_for_request = ask  # type: ignore[method-assign]
        await bench.run()
    assert asked == [{"provider": bench.provider}, {}]


async def test_a_request_asks_for_pieces_where_the_loop_streams(loop: LoopClass):
    bench = Bench(says("Hello."))
    await bench.run()
    assert bench.provider.requests[0].stream is (loop.settings.module != "loop-basic")


async def test_the_answer_comes_back_and_both_sides_are_stored():
    bench = Bench(says("Hello."))
    assert await bench.run("Hi") == "Hello."
    assert bench.context.rows == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]},
    ]


async def test_the_events_of_a_plain_turn_come_in_the_order_of_the_spec():
    bench = Bench(says("Hello."))
    await bench.run()
    assert bench.standard_names() == [
        "execution:start",
        "prompt:submit",
        "provider:request",
        "provider:response",
        "content_block:start",
        "content_block:end",
        "prompt:complete",
        "orchestrator:complete",
        "execution:end",
    ]


async def test_a_prompt_can_be_changed_or_denied_by_a_hook():
    bench = Bench(says("Hello."))
    answers = [
        HookResult(action="modify", data={"prompt": "Changed"}),
        HookResult(action="deny", reason="not on Sundays"),
    ]
    bench.hooks.register("prompt:submit", lambda *_: answers.pop(0))
    assert await bench.run("Hi") == "Hello."
    assert bench.context.rows[0]["content"] == "Changed"
    assert await bench.run("Again") == "The prompt was denied: not on Sundays"
    assert len(bench.context.rows) == 2
    assert [data["status"] for data in bench.of("execution:end")] == ["completed", "completed"]


async def test_start_end_and_completion_say_what_the_spec_asks():
    bench = Bench(says("Hello."))
    await bench.run("Hi")
    (start,), (end,), (complete,) = (
        bench.of(name) for name in ("execution:start", "execution:end", "orchestrator:complete")
    )
    assert start["prompt"] == "Hi"
    assert (end["response"], end["status"]) == ("Hello.", "completed")
    assert complete["orchestrator"] == bench.loop.name
    assert (complete["turn_count"], complete["status"]) == (1, "success")


async def test_requests_and_responses_name_provider_model_and_step():
    bench = Bench(calls(call("t")), says("Done."), tools={"t": Tool("t")})
    await bench.run()
    assert [data["iteration"] for data in bench.of("provider:request")] == [1, 2]
    assert {data["provider"] for data in bench.of("provider:request")} == {"scripted"}
    response = bench.of("provider:response")[-1]
    assert response["model"] == "m-1"
    assert response["usage"]["input_tokens"] == 10
    assert response["response"]["content"] == [{"type": "text", "text": "Done."}]


async def test_each_event_of_a_turn_carries_what_the_readme_says(loop: LoopClass):
    bench = Bench(calls(call("t"), call("gone", "c2")), says("Bye."), tools={"t": Tool("t")})
    await bench.run()
    with pytest.raises(RuntimeError):
        bench.provider.replies = [RuntimeError("no")]
        await bench.run()
    readme = Path(amplifier_tui.kernel.__file__).with_name("README.md").read_text("utf-8")
    told = dict(re.findall(r"^\| `(\w+:\w+)` \| ([^|]*)", readme, re.MULTILINE))
    told["tool:post"] += told["tool:pre"]
    told["tool:error"] = "`error`" + told["tool:pre"]
    assert {*told} == {name for name in bench.standard_names() if name != "user:notification"}
    for event, carries in told.items():
        named = set(re.findall(r"`(\w+)`", re.sub(r"\(.*?\)|: a dict.*", "", carries)))
        for data in bench.of(event):
            assert named - {"session_id"} <= data.keys(), event


async def test_messages_are_in_the_request_event_only_where_the_plan_is_raw():
    quiet, raw = Bench(says("a")), Bench(says("a"), plan={"session": {"raw": True}})
    await quiet.run("Hi")
    await raw.run("Hi")
    assert "messages" not in quiet.of("provider:request")[0]
    assert quiet.of("provider:request")[0]["message_count"] == 1
    assert raw.of("provider:request")[0]["messages"] == [{"role": "user", "content": "Hi"}]


async def test_every_block_has_a_start_and_an_end_and_the_last_one_the_usage():
    blocks = [ThinkingBlock(thinking="Hm.", signature="s"), TextBlock(text="Hello.")]
    bench = Bench(ChatResponse(content=blocks, usage=says("").usage))
    await bench.run()
    assert [data["block_type"] for data in bench.of("content_block:start")] == ["thinking", "text"]
    ends = bench.of("content_block:end")
    assert [(end["block_index"], end["total_blocks"]) for end in ends] == [(0, 2), (1, 2)]
    assert ends[0]["block"]["thinking"] == "Hm."
    assert "usage" not in ends[0]
    assert ends[1]["usage"]["output_tokens"] == 5


async def test_thinking_survives_in_the_conversation_for_the_provider():
    bench = Bench(
        ChatResponse(content=[ThinkingBlock(thinking="Hm.", signature="s"), TextBlock(text="A")]),
        says("B"),
    )
    await bench.run()
    await bench.run()
    (sent,) = [m for m in bench.provider.requests[1].messages if m.role == "assistant"]
    assert sent.content[0] == ThinkingBlock(thinking="Hm.", signature="s")


async def test_it_works_without_a_coordinator_as_spec_001_tests_it(loop: LoopClass):
    context, hooks, seen = Context(), HookRegistry(), []
    hooks.register("provider:request", lambda event, data: seen.append(data) or None)
    provider = ScriptedProvider(calls(call("t")), says("Done."))
    result = await loop(config={}).execute(
        prompt="Test prompt",
        context=context,
        providers={"test": provider},
        tools={"t": Tool("t")},
        hooks=hooks,
    )
    assert result == "Done."
    assert seen[0]["messages"] == [{"role": "user", "content": "Test prompt"}]
    assert_whole(context.rows)


async def test_a_recorder_that_only_emits_is_enough_for_hooks(loop: LoopClass):
    emitted: list[str] = []

    class Recorder:
        async def emit(self, event: str, data: dict[str, Any]) -> None:
            emitted.append(event)

    answer = await loop().execute(
        "Hi", Context(), {"p": ScriptedProvider(says("Yo"))}, {}, Recorder()
    )
    assert answer == "Yo"
    assert emitted[0] == "execution:start"
    assert emitted[-1] == "execution:end"


async def test_without_a_provider_it_says_so_and_still_ends_properly():
    bench = Bench(providers={})
    with pytest.raises(RuntimeError, match="No providers mounted"):
        await bench.run()
    assert bench.of("orchestrator:complete")[0]["status"] == "error"
    assert bench.of("execution:end")[0]["status"] == "error"


async def test_an_empty_prompt_lets_the_model_go_on_without_a_new_row():
    bench = Bench(says("A"), says("B"))
    await bench.run("Hi")
    await bench.run("")
    assert [row["role"] for row in bench.context.rows] == ["user", "assistant", "assistant"]


@pytest.mark.parametrize(
    ("error", "retryable", "status"),
    [
        (llm_errors.RateLimitError("Slow down", status_code=429, retry_after=3), True, 429),
        (llm_errors.AuthenticationError("Bad key", status_code=401), False, 401),
        (ConnectionError("gone"), False, None),
    ],
)
async def test_a_provider_error_is_told_and_reaches_the_caller(
    error: Exception, retryable: bool, status: int | None
):
    bench = Bench(error)
    with pytest.raises(type(error)) as caught:
        await bench.run("Keep me")
    assert caught.value is error
    (told,) = bench.of("provider:error")
    assert told["error"] == {"type": type(error).__name__, "msg": str(error)}
    assert (told["retryable"], told["status_code"]) == (retryable, status)
    assert (
        bench.of("execution:end")[0] | {"response": "", "status": "error"}
        == (bench.of("execution:end")[0])
    )
    assert bench.of("orchestrator:complete")[0]["status"] == "error"
    assert bench.context.rows == [{"role": "user", "content": "Keep me"}]


async def test_a_turn_after_a_provider_error_works():
    bench = Bench(llm_errors.NetworkError("down"), says("Back."))
    with pytest.raises(llm_errors.NetworkError):
        await bench.run()
    assert await bench.run("") == "Back."


async def test_a_provider_that_cancels_itself_is_an_error_and_not_a_stop():
    bench = Bench(asyncio.CancelledError())
    with pytest.raises(llm_errors.AbortError):
        await bench.run()
    assert bench.of("execution:end")[0]["status"] == "error"


async def test_endless_tool_calls_end_at_the_limit_with_a_clear_message():
    bench = Bench(
        *(calls(call("t", f"c{n}")) for n in range(9)),
        tools={"t": Tool("t")},
        config={"max_iterations": 3},
    )
    answer = await bench.run()
    assert "3 steps" in answer and "continue" in answer
    assert len(bench.provider.requests) == 3
    assert (
        bench.of("orchestrator:complete")[0] | {"status": "incomplete", "turn_count": 3}
        == (bench.of("orchestrator:complete")[0])
    )
    assert bench.of(f"{bench.loop.name}:limit_reached")[0]["max_iterations"] == 3
    assert bench.context.rows[-1]["content"] == [{"type": "text", "text": answer}]
    assert bench.of("content_block:end")[-1]["block"]["text"] == answer
    assert_whole(bench.context.rows)


@pytest.mark.parametrize("limit", [-1, 0])
async def test_a_limit_below_one_is_no_limit(limit: int):
    replies = [calls(call("t", f"c{n}")) for n in range(5)]
    bench = Bench(*replies, says("Done."), tools={"t": Tool("t")}, config={"max_iterations": limit})
    assert await bench.run() == "Done."


async def test_an_answer_cut_off_by_the_output_limit_is_incomplete():
    bench = Bench(says("And then", finish_reason="length"))
    assert await bench.run() == "And then"
    assert bench.of("orchestrator:complete")[0]["status"] == "incomplete"


async def test_an_empty_answer_is_no_row():
    bench = Bench(ChatResponse(content=[]))
    assert await bench.run() == ""
    assert [row["role"] for row in bench.context.rows] == ["user"]


async def test_a_row_nobody_understands_is_sent_as_text():
    bench = Bench(says("Fine."))
    await bench.context.add_message({"role": "assistant", "content": [{"type": "hologram"}]})
    assert await bench.run() == "Fine."
    assert "hologram" in str(bench.provider.requests[0].messages[0].content)


async def test_the_test_utilities_of_the_kernel_are_enough_to_test_it(loop: LoopClass):
    recorder, context, tool = EventRecorder(), MockContextManager(), MockTool("t", output="found")
    provider = ScriptedProvider(calls(call("t", x=1)), says("Done."))
    result = await loop(config={}).execute(
        prompt="Test prompt",
        context=context,
        providers={"test": provider},
        tools={"t": tool},
        hooks=recorder,
    )
    assert result == "Done."
    assert [row["role"] for row in context.messages] == ["user", "assistant", "tool", "assistant"]
    assert tool.last_input == {"x": 1}
    assert recorder.get_events("execution:end")
