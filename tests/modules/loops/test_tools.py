import asyncio
import base64
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.message_models import ImageBlock, TextBlock, ToolCall
from amplifier_tui.kernel.models import ToolResult
from tests.modules.loops.support import Bench, Tool, assert_whole, call, calls, says


async def test_a_call_is_run_and_its_result_reaches_the_model():
    tool = Tool("t")
    bench = Bench(calls(call("t", x=1), text="Let me see."), says("Done."), tools={"t": tool})
    assert await bench.run() == "Done."
    assert tool.inputs == [{"x": 1}]
    assistant, result = bench.context.rows[1:3]
    assert assistant["content"][0] == {"type": "text", "text": "Let me see."}
    assert assistant["tool_calls"] == [
        {"id": "c1", "name": "t", "tool": "t", "arguments": {"x": 1}}
    ]
    assert result == {
        "role": "tool",
        "tool_call_id": "c1",
        "name": "t",
        "content": "t did it",
    }
    assert bench.provider.requests[1].messages[-1].tool_call_id == "c1"


async def test_calls_that_were_given_one_id_are_told_apart():
    made = [call("t", n=1), call("t", "c1_2", n=2), call("t", n=3)]
    bench = Bench(calls(*made), says("Done."), tools={"t": Tool("t")})
    await bench.run()
    ids = ["c1", "c1_2", "c1_3"]
    assert [row["id"] for row in bench.context.rows[1]["tool_calls"]] == ids
    assert [data["tool_call_id"] for data in bench.of("tool:post")] == ids
    assert list(bench.results()) == ids
    assert_whole(bench.context.rows)


async def test_tool_events_carry_the_keys_of_both_worlds():
    bench = Bench(calls(call("t", x=1)), says("Done."), tools={"t": Tool("t")})
    await bench.run()
    (pre,), (post,) = bench.of("tool:pre"), bench.of("tool:post")
    assert {"tool_name", "tool_call_id", "tool_input", "parallel_group_id"} <= pre.keys()
    assert post["tool_result"] == post["result"]
    assert post["result"]["output"] == "t did it"
    assert post["parallel_group_id"] == pre["parallel_group_id"]


async def test_twenty_calls_run_at_the_same_time_and_are_answered_in_their_order():
    everybody = asyncio.Barrier(20)

    async def wait(given: dict[str, Any]) -> ToolResult:
        await everybody.wait()
        for _ in range(20 - given["n"]):
            await asyncio.sleep(0)
        return ToolResult(output=f"{given['n']} in {current_tool_call_id()}")

    made = [call("t", f"c{n}", n=n) for n in range(20)]
    bench = Bench(calls(*made), says("Done."), tools={"t": Tool("t", wait)})
    await bench.run()
    assert list(bench.results().values()) == [f"{n} in c{n}" for n in range(20)]
    assert len({data["parallel_group_id"] for data in bench.of("tool:pre")}) == 1
    assert_whole(bench.context.rows)


async def test_the_token_knows_which_tools_run():
    running: list[Any] = []
    bench = Bench(calls(call("t")), says("Done."))

    async def look(_: dict[str, Any]) -> ToolResult:
        running.append((bench.token.running_tools, bench.token.running_tool_names))
        return ToolResult(output="ok")

    bench.tools["t"] = Tool("t", look)
    await bench.run()
    assert running == [({"c1"}, ["t"])]
    assert bench.token.running_tools == set()


async def test_an_unknown_tool_is_named_together_with_those_there_are():
    bench = Bench(calls(call("fly")), says("Sorry."), tools={"walk": Tool("walk")})
    assert await bench.run() == "Sorry."
    assert bench.results()["c1"] == "There is no tool named 'fly'. Available tools: walk."
    assert bench.of("tool:error")[0]["error"]["type"] == "unknown_tool"
    assert bench.of("tool:pre") == []


async def test_arguments_that_are_no_json_are_explained_and_the_turn_goes_on():
    tool = Tool("t")
    broken = ToolCall(id="c1", name="t", arguments={}, arguments_error="not valid JSON: line 1")
    bench = Bench(calls(broken, call("t", "c2", x=1)), says("Again."), tools={"t": tool})
    assert await bench.run() == "Again."
    assert "not valid JSON" in bench.results()["c1"]
    assert tool.inputs == [{"x": 1}]
    row = bench.context.rows[2]
    assert row["metadata"] == {"is_error": True}


async def test_a_tool_that_raises_gives_an_error_result():
    async def fail(_: dict[str, Any]) -> ToolResult:
        raise ZeroDivisionError("by zero")

    bench = Bench(calls(call("t")), says("Oh."), tools={"t": Tool("t", fail)})
    assert await bench.run() == "Oh."
    line = fail.__code__.co_firstlineno + 1
    assert bench.results()["c1"] == f"t failed: ZeroDivisionError: by zero ({__file__}:{line})"
    (told,) = bench.of("tool:error")
    assert told["error"] == {"type": "ZeroDivisionError", "msg": bench.results()["c1"]}


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError()])
async def test_a_tool_can_neither_end_the_program_nor_cancel_the_turn(error: BaseException):
    async def fail(_: dict[str, Any]) -> ToolResult:
        raise error

    bench = Bench(calls(call("t")), says("Still here."), tools={"t": Tool("t", fail)})
    assert await bench.run() == "Still here."
    assert "t failed" in bench.results()["c1"]


def test_a_tool_that_raises_keyboard_interrupt_failed_and_nobody_interrupted_it():
    async def fail(_: dict[str, Any]) -> ToolResult:
        raise KeyboardInterrupt

    bench = Bench(calls(call("t")), says("Still here."), tools={"t": Tool("t", fail)})
    # Sessions run in a thread of their own, where ctrl+c does not arrive.
    with ThreadPoolExecutor() as pool:
        assert pool.submit(asyncio.run, bench.run()).result() == "Still here."
    said = "t failed: RuntimeError: the tool raised KeyboardInterrupt"
    line = fail.__code__.co_firstlineno + 1
    assert bench.results()["c1"] == f"{said} ({__file__}:{line})"


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        (ToolResult(output={"a": 1}), '{"a": 1}'),
        (ToolResult(success=False, error={"message": "no"}), "no"),
        (ToolResult(), "Success"),
        ("just text", "just text"),
        ({"success": False, "output": "broken"}, "broken"),
        ({"rows": 3}, '{"rows": 3}'),
        (None, "Success"),
    ],
)
async def test_whatever_a_tool_returns_becomes_text_for_the_model(answer: Any, content: str):
    async def give(_: dict[str, Any]) -> Any:
        return answer

    bench = Bench(calls(call("t")), says("Ok."), tools={"t": Tool("t", give)})
    await bench.run()
    assert bench.results()["c1"] == content


async def test_a_result_of_another_library_is_understood():
    async def give(_: dict[str, Any]) -> Any:
        return SimpleNamespace(success=False, output=None, error={"message": "theirs"})

    bench = Bench(calls(call("t")), says("Ok."), tools={"t": Tool("t", give)})
    await bench.run()
    assert bench.results()["c1"] == "theirs"
    assert bench.of("tool:post")[0]["result"]["success"] is False


def image() -> ImageBlock:
    data = base64.b64encode(b"pixels").decode()
    return ImageBlock(source={"type": "base64", "media_type": "image/png", "data": data})


async def test_images_reach_the_model_and_stay_out_of_the_events():
    async def look(_: dict[str, Any]) -> ToolResult:
        return ToolResult(output="a picture", content=[image()])

    bench = Bench(calls(call("t")), says("Nice."), tools={"t": Tool("t", look)})
    await bench.run()
    sent = bench.provider.requests[1].messages[-1].content
    assert sent == [TextBlock(text="a picture"), image()]
    assert "Image omitted" in str(bench.of("tool:post")[0]["result"])


@pytest.mark.parametrize(
    ("attributes", "parameters"),
    [
        ({"input_schema": {"type": "object", "x": 1}}, {"type": "object", "x": 1}),
        ({"get_schema": lambda: {"type": "object", "y": 2}}, {"type": "object", "y": 2}),
        (
            {"input_schema": {}, "get_schema": lambda: {"type": "object", "z": 3}},
            {"type": "object", "z": 3},
        ),
        ({}, {"type": "object", "properties": {}}),
        ({"get_schema": lambda: 1 / 0}, {"type": "object", "properties": {}}),
    ],
)
async def test_the_model_is_told_each_tools_schema(
    attributes: dict[str, Any], parameters: dict[str, Any]
):
    bench = Bench(says("Ok."), tools={"t": Tool("t", **attributes)})
    await bench.run()
    (spec,) = bench.provider.requests[0].tools or []
    assert (spec.name, spec.description, spec.parameters) == ("t", "The tool t.", parameters)


async def test_without_tools_the_request_has_none():
    bench = Bench(says("Ok."))
    await bench.run()
    assert bench.provider.requests[0].tools is None


async def test_a_tool_mounted_during_the_turn_is_offered_in_the_next_step():
    bench = Bench(calls(call("t")), says("Ok."))

    async def grow(_: dict[str, Any]) -> ToolResult:
        bench.tools["new"] = Tool("new")
        return ToolResult(output="grown")

    bench.tools["t"] = Tool("t", grow)
    await bench.run()
    assert [spec.name for spec in bench.provider.requests[1].tools or []] == ["t", "new"]
