from collections.abc import Callable
from typing import Any

import pytest

from amplifier_tui.host.events import (
    ApprovalRequested,
    Notice,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from amplifier_tui.host.gate.calls.guarded import module_of_code
from amplifier_tui.host.gate.calls.spoilt import spoilt
from amplifier_tui.kernel.hooks import HookAnswers, HookRegistry, HookResult
from tests.host.driving import Driver, Project, calling

GIVEN: dict[str, Any] = {"tool_name": "echo", "tool_call_id": "c1", "tool_input": {"text": "hi"}}
ASKS = {"action": "ask_user", "approval_prompt": "May it?"}


def _spoiling(data: dict[str, Any]) -> tuple[tuple[str, dict[str, Any]], ...]:
    return (("hooks-answer", {"tool:pre": [{"action": "modify", "data": data}, dict(ASKS)]}),)


@pytest.mark.parametrize("loop", ["loop-streaming", "loop-calls"])
@pytest.mark.parametrize(
    ("made", "kind"), [("boo", "a text"), (["boo"], "a list"), (None, "nothing"), (3, "a number")]
)
def test_arguments_that_a_hook_made_no_object_are_refused_in_its_name_and_not_asked_about(
    made: Any, kind: str, loop: str, project: Project, driver: Driver
) -> None:
    config = {"calls": [["echo", {"text": "hi"}]]} if loop == "loop-calls" else {}
    hooks = _spoiling({**GIVEN, "tool_input": made})
    script = calling({"echo": {"text": "hi"}})
    driver.open(project.bundle(script=script, hooks=hooks, loop=loop, loop_config=config))
    project.allow(())
    assert driver.turn("go").status == "success"
    said = f"hooks-answer changed the arguments of echo to {kind}, not an object"
    assert not driver.of(ApprovalRequested)
    (notice,) = driver.of(Notice)
    assert (notice.level, notice.source) == ("warning", "hook:hooks-answer")
    assert notice.text.startswith(said) and "hooks_answer/__init__.py:" in notice.text
    (ended,) = driver.of(ToolEnded)
    assert ended.denied and ended.error.startswith(said)
    (row,) = (row for row in project.rows(ended.session_id) if row["role"] == "tool")
    assert said in str(row["content"])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"nonsense": 1}, "changed the name of the tool echo to nothing"),
        ({**GIVEN, "tool_name": ""}, "changed the name of the tool echo to an empty text"),
        ({**GIVEN, "tool_name": 7}, "changed the name of the tool echo to a number"),
        ({**GIVEN, "tool_name": "ecko"}, "changed echo to 'ecko', which is no tool here"),
    ],
)
def test_a_call_that_a_hook_made_one_of_no_tool_is_refused_in_its_name_and_has_one_row(
    data: dict[str, Any], said: str, project: Project, driver: Driver
) -> None:
    bundle = project.bundle(script=calling({"echo": {"text": "hi"}}), hooks=_spoiling(data))
    project.allow(())
    driver.open(bundle)
    assert driver.turn("go").status == "success"
    assert not driver.of(ApprovalRequested)
    (started,), (ended,) = driver.of(ToolStarted), driver.of(ToolEnded)
    assert started.tool == "echo" and started.call_id == ended.call_id
    assert ended.denied and ended.error.startswith(f"hooks-answer {said}")


def test_a_call_that_a_hook_made_another_tools_is_still_asked_about(
    project: Project, driver: Driver
) -> None:
    hooks = _spoiling({**GIVEN, "tool_name": "noisy"})
    driver.open(project.bundle(script=calling({"echo": {"text": "hi"}}), hooks=hooks))
    project.allow(())
    driver.client.submit("go")
    assert driver.allow_next().tool == "noisy"
    assert driver.wait(TurnEnded).status == "success"


Change = Callable[[dict[str, Any]], dict[str, Any]]


async def _said(given: dict[str, Any], *changes: tuple[str, Change]) -> str:
    """Return what is said of a call after hooks changed it, one after the other."""
    hooks, said = HookRegistry(), []

    async def conclude(answers: HookAnswers) -> HookResult:
        said.append(spoilt(answers, {"echo", "noisy"})[1])
        return answers.result

    hooks.conclude("tool:pre", conclude, "test")
    for place, (name, change) in enumerate(changes):

        async def answer(event: str, data: dict[str, Any], change: Change = change) -> HookResult:
            return HookResult(action="modify", data=change(data))

        hooks.register("tool:pre", answer, priority=place, name=name)
    await hooks.emit("tool:pre", given)
    (found,) = said
    return found


async def test_the_hook_is_named_after_which_it_was_no_call_any_more() -> None:
    def spoil(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "tool_input": "boo"}

    def keep(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "more": 1}

    def mend(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "tool_input": {}}

    first, second, third = ("one", spoil), ("two", keep), ("three", mend)
    assert (await _said(GIVEN, second, first, second)).startswith("one changed")
    assert await _said(GIVEN, first, third, second) == ""
    assert (await _said(GIVEN, first, third, ("four", spoil))).startswith("four changed")


async def test_no_hook_is_blamed_for_what_a_loop_gave() -> None:
    def keep(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "more": 1}

    assert await _said({"tool_name": "gone", "tool_input": "text"}, ("one", keep)) == ""
    assert await _said({}, ("one", keep)) == ""


def test_code_that_modules_share_is_of_none_of_them() -> None:
    assert module_of_code("amplifier_tui.modules._loop.tool_batch") == ""
    assert module_of_code("amplifier_tui.modules.loop_streaming.loop") == "loop-streaming"
    assert module_of_code("amplifier_module_loop_calls") == "loop-calls"
