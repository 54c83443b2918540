from typing import Any

import pytest

from amplifier_tui.kernel.hooks.frontend import ApprovalDecision, ApprovalTimeoutError
from amplifier_tui.kernel.models import HookResult, ToolResult
from tests.modules.loops.support import (
    Approvals,
    Bench,
    Tool,
    assert_whole,
    call,
    calls,
    says,
)
from tests.modules.loops.test_tools import image


def one_call(**options: Any) -> tuple[Bench, Tool]:
    tool = Tool("t")
    return Bench(calls(call("t", x=1)), says("Ok."), tools={"t": tool}, **options), tool


def answer(bench: Bench, event: str, result: Any) -> None:
    bench.hooks.register(event, lambda *_: result, name="hook-under-test")


def texts(bench: Bench, request: int) -> list[str]:
    return [
        f"{message.role}: {message.content}"
        for message in bench.provider.requests[request].messages
        if isinstance(message.content, str)
    ]


# --- deny ------------------------------------------------------------------------------------


async def test_a_denied_call_tells_the_model_why():
    bench, tool = one_call()
    answer(bench, "tool:pre", HookResult(action="deny", reason="not on Sundays"))
    assert await bench.run() == "Ok."
    assert tool.inputs == []
    assert bench.results()["c1"].startswith("not on Sundays")
    row = bench.context.rows[2]
    assert row["metadata"] == {"is_error": True, "denied": True}
    (told,) = bench.of("tool:error")
    assert told["denied"] is True
    assert bench.of("tool:post") == []


async def test_a_reason_and_what_came_of_it_are_two_sentences():
    bench, _ = one_call()
    answer(bench, "tool:pre", HookResult(action="deny", reason="not on Sundays"))
    await bench.run()
    assert bench.results()["c1"] == "not on Sundays.\nThe tool was not run."


async def test_a_denial_without_a_reason_still_says_something():
    bench, _ = one_call()
    answer(bench, "tool:pre", HookResult(action="deny"))
    await bench.run()
    assert "denied" in bench.results()["c1"]


async def test_a_hook_that_answers_nonsense_denies():
    bench, tool = one_call()
    answer(bench, "tool:pre", "sure, why not")
    await bench.run()
    assert tool.inputs == []


async def test_a_denied_request_ends_the_turn_with_the_reason():
    bench = Bench(says("never"))
    answer(bench, "provider:request", HookResult(action="deny", reason="out of money"))
    assert "out of money" in await bench.run()
    assert bench.provider.requests == []
    (complete,) = bench.of("orchestrator:complete")
    assert (complete["status"], complete["denied"]) == ("incomplete", "out of money")


async def test_a_denied_result_is_withheld_from_the_model():
    bench, tool = one_call()
    answer(bench, "tool:post", HookResult(action="deny", reason="holds a secret"))
    await bench.run()
    assert tool.inputs == [{"x": 1}]
    assert bench.results()["c1"] == "The result was withheld by a hook: holds a secret"


async def test_a_denial_shows_its_message_to_the_user():
    bench, _ = one_call()
    answer(
        bench,
        "tool:pre",
        HookResult(
            action="deny", reason="no", user_message="Stopped it", user_message_level="error"
        ),
    )
    await bench.run()
    assert bench.shown == [("Stopped it", "error", "hook:t")]


# --- modify ----------------------------------------------------------------------------------


async def test_a_modified_input_is_what_runs():
    bench, tool = one_call()

    def change(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_input": {"x": 2}})

    bench.hooks.register("tool:pre", change)
    await bench.run()
    assert tool.inputs == [{"x": 2}]
    assert bench.of("tool:post")[0]["tool_input"] == {"x": 2}


@pytest.mark.parametrize("key", ["result", "tool_result"])
@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("rewritten", "rewritten"),
        ({"success": True, "output": "better"}, "better"),
        ({"success": False, "output": "worse"}, "worse"),
        ({"rows": 1}, '{"rows": 1}'),
        (None, "The result was withheld by a hook: it left nothing of it."),
        ({"success": True, "output": None}, "A hook left nothing of the output."),
        ({"success": False, "output": None, "error": {"message": "no"}}, "no"),
    ],
)
async def test_a_modified_result_is_what_the_model_reads(key: str, value: Any, content: str):
    bench, _ = one_call()

    def change(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, key: value})

    bench.hooks.register("tool:post", change)
    await bench.run()
    assert bench.results()["c1"] == content


async def test_an_image_survives_a_hook_that_changes_the_text_beside_it():
    async def look(_: dict[str, Any]) -> ToolResult:
        return ToolResult(output="a picture", content=[image()])

    bench = Bench(calls(call("t")), says("Nice."), tools={"t": Tool("t", look)})

    def change(event: str, data: dict[str, Any]) -> HookResult:
        changed = {**data["result"], "output": "a painting"}
        return HookResult(action="modify", data={**data, "result": changed})

    bench.hooks.register("tool:post", change)
    await bench.run()
    sent = bench.provider.requests[1].messages[-1].content
    assert sent[0].text == "a painting"
    assert sent[1] == image()


# --- inject ----------------------------------------------------------------------------------


async def test_a_persistent_injection_at_a_request_is_in_that_request_and_stays():
    bench = Bench(says("Ok."))
    answer(
        bench,
        "provider:request",
        HookResult(action="inject_context", context_injection="Mind the gap"),
    )
    await bench.run("Hi")
    assert texts(bench, 0) == ["user: Hi", "system: Mind the gap"]
    assert bench.context.rows[1]["metadata"]["source"] == "hook"


async def test_an_ephemeral_injection_is_in_one_request_only():
    bench, _ = one_call()
    once = iter([HookResult(action="inject_context", context_injection="Now", ephemeral=True)])
    bench.hooks.register("provider:request", lambda *_: next(once, None), name="clock")
    await bench.run("Hi")
    assert texts(bench, 0) == ["user: Hi", "system: Now"]
    assert not any("Now" in text for text in texts(bench, 1))
    assert not any("Now" in str(row) for row in bench.context.rows)
    marked = bench.provider.requests[0].messages[-1].metadata
    assert marked == {
        "source": "hook",
        "hook_name": "clock",
        "event": "provider:request",
        "ephemeral": True,
    }


async def test_an_ephemeral_injection_can_go_to_the_end_of_the_last_result():
    bench, _ = one_call()
    answer(
        bench,
        "tool:post",
        HookResult(
            action="inject_context",
            context_injection="3 lint errors",
            ephemeral=True,
            append_to_last_tool_result=True,
        ),
    )
    await bench.run()
    assert bench.provider.requests[1].messages[-1].content == "t did it\n\n3 lint errors"
    assert bench.results()["c1"] == "t did it"


async def test_an_injection_beside_a_tool_call_never_parts_it_from_its_result():
    bench = Bench(calls(call("t", "c1"), call("t", "c2")), says("Ok."), tools={"t": Tool("t")})
    for event in ("tool:pre", "tool:post"):
        answer(bench, event, HookResult(action="inject_context", context_injection=f"from {event}"))
    await bench.run()
    assert_whole(bench.context.rows)
    injected = [row["content"] for row in bench.context.rows if row["role"] == "system"]
    assert sorted(injected) == ["from tool:post"] * 2 + ["from tool:pre"] * 2


async def test_an_injection_that_is_too_long_is_dropped_and_the_turn_goes_on():
    bench = Bench(says("Ok."), plan={"session": {"injection_size_limit": 5}})
    answer(
        bench,
        "provider:request",
        HookResult(action="inject_context", context_injection="much too long"),
    )
    assert await bench.run() == "Ok."


async def test_without_a_coordinator_injections_work_and_questions_are_denied():
    bench, tool = one_call()
    answer(
        bench, "provider:request", HookResult(action="inject_context", context_injection="Mind it")
    )
    answer(bench, "tool:pre", HookResult(action="ask_user", approval_prompt="May I?"))
    await bench.loop.execute("Hi", bench.context, bench.providers, bench.tools, bench.hooks)
    assert any(row["content"] == "Mind it" for row in bench.context.rows)
    assert tool.inputs == []
    assert "No approval system" in bench.results()["c1"]


# --- ask -------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["Allow", "allow once", "ALLOW ALWAYS"])
async def test_an_allowed_call_runs(decision: str):
    approvals = Approvals(decision)
    bench, tool = one_call(approvals=approvals)
    answer(bench, "tool:pre", HookResult(action="ask_user", approval_prompt="May I?"))
    await bench.run()
    assert tool.inputs == [{"x": 1}]
    assert approvals.asked[0][0] == "May I?"


async def test_the_users_reason_reaches_the_model():
    bench, tool = one_call(approvals=Approvals(ApprovalDecision("Deny", reason="use pytest")))
    answer(bench, "tool:pre", HookResult(action="ask_user", approval_prompt="May I?"))
    await bench.run()
    assert tool.inputs == []
    assert bench.results()["c1"].startswith("User denied: use pytest")


async def test_a_timeout_is_told_as_a_timeout():
    class Nobody:
        async def request_approval(self, *_: Any) -> str:
            raise ApprovalTimeoutError("late")

    bench, _ = one_call(approvals=Nobody())
    answer(bench, "tool:pre", HookResult(action="ask_user", approval_prompt="May I?"))
    await bench.run()
    assert bench.results()["c1"].startswith("Approval timeout - denied by default")


async def test_an_approval_system_that_breaks_denies():
    class Broken:
        async def request_approval(self, *_: Any) -> str:
            raise OSError("no terminal")

    bench, tool = one_call(approvals=Broken())
    answer(bench, "tool:pre", HookResult(action="ask_user"))
    assert await bench.run() == "Ok."
    assert tool.inputs == []
    assert "no terminal" in bench.results()["c1"]


async def test_one_denied_call_does_not_hold_up_the_others():
    bench = Bench(
        calls(call("a", "c1"), call("b", "c2")),
        says("Ok."),
        tools={"a": Tool("a"), "b": Tool("b")},
    )

    def deny_a(event: str, data: dict[str, Any]) -> HookResult | None:
        return HookResult(action="deny", reason="no a") if data["tool_name"] == "a" else None

    bench.hooks.register("tool:pre", deny_a)
    await bench.run()
    assert bench.results()["c1"].startswith("no a")
    assert bench.results()["c2"] == "b did it"
