"""How hooks steer a turn of loop-events; what it has in common with the others is in `loops/`."""

from typing import Any

import pytest

from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules.loop_events import EventOrchestrator
from tests.modules.loops import support
from tests.modules.loops.support import (
    Bench,
    Reply,
    ScriptedProvider,
    Tool,
    call,
    calls,
    says,
)

STARTED, ITERATION, COMPLETED = (
    f"loop-events:loop_{step}" for step in ("started", "iteration", "completed")
)


@pytest.fixture(autouse=True)
def only_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "under_test", EventOrchestrator)


def working(*replies: Reply, **options: Any) -> Bench:
    tools = {"read": Tool("read"), "write": Tool("write")}
    return Bench(*replies, tools=tools, **options)


def answer(bench: Bench, event: str, *results: HookResult | None) -> None:
    left = list(results)
    bench.hooks.register(event, lambda *_: left.pop(0) if left else None, name="director")


async def test_each_step_is_told_before_its_request():
    bench = working(calls(call("read")), says("Done."))
    await bench.run()
    assert bench.names(STARTED, ITERATION, COMPLETED, "provider:request") == [
        STARTED,
        ITERATION,
        "provider:request",
        ITERATION,
        "provider:request",
        COMPLETED,
    ]
    first = bench.of(ITERATION)[0]
    assert (first["iteration"], first["provider"]) == (1, "scripted")
    assert first["tools"] == ["read", "write"]
    assert bench.of(COMPLETED)[0]["response"] == "Done."


@pytest.mark.parametrize("event", [STARTED, ITERATION])
async def test_a_denied_step_ends_the_turn_with_the_reason(event: str):
    bench = working(says("never"))
    answer(bench, event, HookResult(action="deny", reason="budget spent"))
    assert "budget spent" in await bench.run()
    assert bench.provider.requests == []
    assert bench.of("orchestrator:complete")[0]["status"] == "incomplete"


async def test_a_hook_chooses_the_provider_of_a_step():
    fast, careful = ScriptedProvider(calls(call("read"))), ScriptedProvider(says("Thought over."))
    bench = working(providers={"careful": careful, "fast": fast})

    def choose(event: str, data: dict[str, Any]) -> HookResult | None:
        if data["iteration"] > 1:
            return None
        return HookResult(action="modify", data={**data, "provider": "fast"})

    bench.hooks.register(ITERATION, choose)
    assert await bench.run() == "Thought over."
    assert [data["provider"] for data in bench.of("provider:request")] == ["fast", "careful"]


async def test_a_hook_chooses_the_tools_of_a_step_and_no_other_runs():
    bench = working(calls(call("write", "c1"), call("read", "c2")), says("Done."))
    answer(bench, ITERATION, HookResult(action="modify", data={"tools": ["read", "unknown"]}))
    await bench.run()
    offered = [[spec.name for spec in request.tools or []] for request in bench.provider.requests]
    assert offered == [["read"], ["read", "write"]]
    assert bench.results() == {
        "c1": "There is no tool named 'write'. Available tools: read.",
        "c2": "read did it",
    }


@pytest.mark.parametrize("tools", ["write", 3, {"write": True}, [["write"], {}]])
async def test_a_choice_that_is_no_list_of_names_leaves_no_tool(tools: Any):
    bench = working(calls(call("write")), says("Done."))
    answer(bench, ITERATION, HookResult(action="modify", data={"tools": tools}))
    assert await bench.run() == "Done."
    assert bench.provider.requests[0].tools is None
    assert bench.results() == {"c1": "There is no tool named 'write'. Available tools: none."}


@pytest.mark.parametrize("ephemeral", [False, True])
async def test_a_text_injected_when_the_model_is_done_makes_it_go_on(ephemeral: bool):
    bench = working(says("Done."), says("Now it is."))
    more = HookResult(
        action="inject_context",
        context_injection="Run the tests",
        context_injection_role="user",
        ephemeral=ephemeral,
    )
    answer(bench, COMPLETED, more)
    assert await bench.run() == "Now it is."
    assert bench.provider.requests[1].messages[-1].content == "Run the tests"
    assert any(row["content"] == "Run the tests" for row in bench.context.rows) is not ephemeral
    assert bench.of("orchestrator:complete")[0]["turn_count"] == 2


async def test_the_reason_of_a_denied_end_is_what_the_model_has_to_do():
    bench = working(says("Done."), calls(call("read")), says("Now it is."))
    answer(bench, COMPLETED, HookResult(action="deny", reason="Two tests fail"))
    assert await bench.run() == "Now it is."
    row = bench.context.rows[2]
    assert (row["role"], row["content"]) == ("user", "Two tests fail")
    assert (row["metadata"]["source"], row["metadata"]["event"]) == ("hook", COMPLETED)


@pytest.mark.parametrize(
    "result",
    [
        HookResult(action="inject_context", context_injection="much too long"),
        HookResult(action="deny", reason="much too long"),
    ],
)
async def test_a_text_beyond_the_limit_does_not_make_it_go_on(result: HookResult):
    bench = working(says("Done."), plan={"session": {"injection_size_limit": 5}})
    answer(bench, COMPLETED, HookResult(action="inject_context", context_injection="much too long"))
    assert await bench.run() == "Done."


async def test_a_hook_that_is_never_content_ends_at_the_limit():
    bench = working(*(says("Done.") for _ in range(9)), config={"max_iterations": 3})
    answer(bench, COMPLETED, *(HookResult(action="deny", reason="Again") for _ in range(9)))
    assert "3 steps" in await bench.run()
    assert len(bench.provider.requests) == 3


async def test_after_a_stop_no_hook_makes_it_go_on():
    bench = working()

    async def reply(_: Any) -> Any:
        bench.token.request_graceful()
        return says("Done.")

    bench.provider.replies.append(reply)
    answer(bench, COMPLETED, HookResult(action="deny", reason="Again"))
    assert await bench.run() == "Done."
    assert len(bench.provider.requests) == 1
