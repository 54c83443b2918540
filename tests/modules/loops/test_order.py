"""Calls of one answer find what those before them left, where they have to do with files."""

import asyncio
from typing import Any

import pytest

from amplifier_tui.kernel.models import HookResult, ToolResult
from amplifier_tui.modules._loop.tool_batch import NOT_RUN
from tests.modules.loops.support import Bench, Tool, assert_whole, call, calls, says

LOOK = {"command": "cat notes.md"}
CHANGE = {"command": "echo x >> notes.md"}


class Watch:
    """Tools that note when they begin and end; each gives the others every chance to begin."""

    def __init__(self, *names: str) -> None:
        self.seen: list[str] = []
        self.tools = {name: Tool(name, self._run) for name in names}

    async def _run(self, given: dict[str, Any]) -> ToolResult:
        self.seen.append(f"{given['n']} begins")
        for _ in range(50):
            await asyncio.sleep(0)
        self.seen.append(f"{given['n']} ends")
        return ToolResult(output="ok")


async def order(*made: tuple[str, dict[str, Any]]) -> list[str]:
    """Return what began and ended when, of calls that one answer makes."""
    watch = Watch(*(name for name, _ in made))
    asked = [call(name, f"c{n}", n=n, **given) for n, (name, given) in enumerate(made)]
    bench = Bench(calls(*asked), says("Done."), tools=watch.tools)
    await bench.run()
    assert_whole(bench.context.rows)
    assert list(bench.results()) == [f"c{n}" for n in range(len(made))]
    return watch.seen


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("edit_file", {}), ("bash", CHANGE)),
        (("edit_file", {}), ("edit_file", {})),
        (("write_file", {}), ("read_file", {})),
        (("write_file", {}), ("bash", LOOK)),
        (("read_file", {}), ("apply_patch", {})),
        (("bash", LOOK), ("bash", CHANGE)),
        (("bash", CHANGE), ("grep", {})),
        (("bash", {"command": ["not", "text"]}), ("bash", LOOK)),
    ],
)
async def test_a_call_waits_for_what_it_could_see_or_undo(first: Any, second: Any) -> None:
    assert await order(first, second) == ["0 begins", "0 ends", "1 begins", "1 ends"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("read_file", {}), ("grep", {})),
        (("bash", LOOK), ("read_file", {})),
        (("edit_file", {}), ("web_fetch", {})),
        (("task", {}), ("bash", CHANGE)),
        (("tool_of_others", {}), ("tool_of_others", {})),
    ],
)
async def test_calls_that_cannot_meet_run_beside_each_other(first: Any, second: Any) -> None:
    assert await order(first, second) == ["0 begins", "1 begins", "0 ends", "1 ends"]


async def test_what_stands_behind_a_change_waits_for_that_alone() -> None:
    seen = await order(("web_fetch", {}), ("edit_file", {}), ("read_file", {}), ("grep", {}))
    assert seen[:2] == ["0 begins", "1 begins"]
    assert seen[seen.index("1 ends") + 1 :][:2] == ["2 begins", "3 begins"]


async def test_a_call_is_decided_about_when_those_before_it_have_ended() -> None:
    watch = Watch("edit_file")
    made = [call("edit_file", f"c{n}", n=n) for n in range(2)]
    bench = Bench(calls(*made), says("Done."), tools=watch.tools)

    async def decide(_: str, data: dict[str, Any]) -> HookResult:
        watch.seen.append(f"{data['tool_input']['n']} is decided")
        return HookResult()

    bench.hooks.register("tool:pre", decide)
    await bench.run()
    assert watch.seen[:4] == ["0 is decided", "0 begins", "0 ends", "1 is decided"]


async def test_a_denied_call_holds_up_none_behind_it() -> None:
    watch = Watch("edit_file", "bash")
    made = [call("edit_file", "c0", n=0), call("bash", "c1", n=1, **CHANGE)]
    bench = Bench(calls(*made), says("Done."), tools=watch.tools)

    async def decide(_: str, data: dict[str, Any]) -> HookResult:
        first = data["tool_input"]["n"] == 0
        return HookResult(action="deny", reason="no") if first else HookResult()

    bench.hooks.register("tool:pre", decide)
    await bench.run()
    assert watch.seen == ["1 begins", "1 ends"]


async def test_a_call_that_still_waits_when_the_turn_is_stopped_does_not_run() -> None:
    bench = Bench(says(""), tools={})

    async def stop(_: dict[str, Any]) -> ToolResult:
        bench.token.request_graceful()
        return ToolResult(output="ended")

    later = Tool("write_file")
    bench.tools |= {"edit_file": Tool("edit_file", stop), "write_file": later}
    bench.provider.replies = [calls(call("edit_file"), call("write_file", "c2"))]
    await bench.run()
    assert not later.inputs
    assert NOT_RUN in bench.results()["c2"] and bench.results()["c1"] == "ended"
    assert_whole(bench.context.rows)
