"""An orchestrator that does not do what hooks say is found when its author validates it."""

import pytest

from amplifier_tui.kernel.mounting.trial import TrialCoordinator
from amplifier_tui.kernel.validation.base import ValidationResult
from amplifier_tui.kernel.validation.module_check import check_module
from amplifier_tui.kernel.validation.obedience import check_obedience


class Loop:
    """Calls what the model calls; `how` says what it makes of hooks."""

    def __init__(self, how: str, coordinator: TrialCoordinator) -> None:
        self.how = how
        self.coordinator = coordinator

    async def execute(self, prompt, context, providers, tools, hooks, **kwargs):
        (provider,) = providers.values()
        await context.add_message({"role": "user", "content": prompt})
        if self.how == "raises":
            raise RuntimeError("no model")
        if self.how.endswith("results"):
            denied = await hooks.emit("provider:request", {"provider": "trial"})
            if denied.action == "deny" and self.how != "ignores requests and results":
                return "It was denied."
        response = await provider.complete({})
        for call in provider.parse_tool_calls(response):
            if self.how == "calls nothing":
                break
            data = {"tool_name": call.name, "tool_input": call.arguments}
            result = await hooks.emit("tool:pre", data)
            given = (result.data or data)["tool_input"]
            if self.how == "forgets changes":
                given = call.arguments
            if self.how not in ("ignores hooks", "answers itself"):
                result = await self.coordinator.process_hook_result(result, "tool:pre", call.name)
            if self.how != "ignores hooks" and result.action == "deny":
                continue
            done = await tools[call.name].execute(given)
            if self.how.endswith("results"):
                data = {**data, "tool_result": done.model_dump()}
                result = await hooks.emit("tool:post", data)
                if self.how == "minds requests and results":
                    data = {**data, **(result.data or {})}
                if self.how == "keeps results":
                    continue
                await context.add_message({"role": "tool", "content": str(data["tool_result"])})
        return None if self.how == "returns nothing" else "Done."


CASES = {
    "does what hooks say": {"hooks_deny": True, "hooks_ask": True, "hooks_modify": True},
    "ignores hooks": {"hooks_deny": False, "hooks_ask": False, "hooks_modify": True},
    "answers itself": {"hooks_deny": True, "hooks_ask": False, "hooks_modify": True},
    "forgets changes": {"hooks_deny": True, "hooks_ask": True, "hooks_modify": False},
    "calls nothing": {"hooks_deny": True, "orchestrator_context": False},
    "minds requests and results": {
        **dict.fromkeys(("hooks_deny", "hooks_ask", "hooks_modify"), True),
        **dict.fromkeys(("hooks_modify_result", "hooks_deny_request"), True),
    },
    "ignores requests and results": {
        **dict.fromkeys(("hooks_deny", "hooks_ask", "hooks_modify"), True),
        **dict.fromkeys(("hooks_modify_result", "hooks_deny_request"), False),
    },
    "returns nothing": {
        "orchestrator_answer": False,
        "hooks_deny": True,
        "hooks_ask": True,
        "hooks_modify": True,
    },
    "raises": {"hooks_deny": False},
}


@pytest.mark.parametrize("how", CASES)
async def test_what_a_loop_makes_of_hooks_is_seen(how: str) -> None:
    coordinator = TrialCoordinator()
    result = ValidationResult("orchestrator", "here")
    await check_obedience(result, Loop(how, coordinator), coordinator)
    passed = {check.name: check.passed for check in result.checks}
    passed.pop("orchestrator_events", None)
    assert passed == CASES[how]
    wrong = [check for check in result.checks if not check.passed]
    assert all(check.remedy and check.where.startswith(f"{__file__}:") for check in wrong)


async def test_a_loop_that_adds_no_row_for_a_result_is_told_that_and_not_of_another_result() -> (
    None
):
    coordinator = TrialCoordinator()
    result = ValidationResult("orchestrator", "here")
    await check_obedience(result, Loop("keeps results", coordinator), coordinator)
    (check,) = (each for each in result.checks if each.name == "hooks_modify_result")
    assert "adds no row for the result of a call" in check.message
    assert '"role": "tool"' in check.remedy


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_loop_that_adds_no_answers_to_the_context_is_warned_of(keeps: bool) -> None:
    class Asks:
        async def execute(self, prompt, context, providers, tools, hooks, **kwargs):
            (provider,) = providers.values()
            while (response := await provider.complete({})).tool_calls:
                await context.add_message({"role": "assistant", "content": ""})
            said = [block.model_dump() for block in response.content]
            if keeps:
                await context.add_message({"role": "assistant", "content": said})
            return "Done."

    coordinator = TrialCoordinator()
    result = ValidationResult("orchestrator", "here")
    await check_obedience(result, Asks(), coordinator)
    (check,) = (each for each in result.checks if each.name == "orchestrator_context")
    assert check.passed is keeps and check.severity == ("info" if keeps else "warning")
    if not keeps:
        assert '"role": "assistant"' in check.remedy
        assert check.where == f"{__file__}:{Asks.execute.__code__.co_firstlineno}"


async def test_a_loop_that_only_talks_and_adds_its_answers_is_warned_of_nothing() -> None:
    class Talks:
        async def execute(self, prompt, context, providers, tools, hooks, **kwargs):
            (provider,) = providers.values()
            await context.add_message({"role": "user", "content": prompt})
            response = await provider.complete({})
            said = "".join(block.text for block in response.content)
            await context.add_message({"role": "assistant", "content": said})
            return said

    coordinator = TrialCoordinator()
    result = ValidationResult("orchestrator", "here")
    await check_obedience(result, Talks(), coordinator)
    passed = {check.name: check.passed for check in result.checks}
    told = ("orchestrator_context", "hooks_deny", "orchestrator_events")
    assert passed == dict(zip(told, (True, True, False), strict=True))


DUE = (
    *("execution:start", "provider:request", "provider:response", "tool:post"),
    *("content_block:start", "content_block:end", "orchestrator:complete", "execution:end"),
)


@pytest.mark.parametrize("left_out", ["", *DUE])
async def test_each_event_that_a_loop_leaves_out_is_warned_of(left_out: str) -> None:
    class Tells:
        async def execute(self, prompt, context, providers, tools, hooks, **kwargs):
            (provider,) = providers.values()
            while calls := provider.parse_tool_calls(await provider.complete({})):
                for call in calls:
                    await tools[call.name].execute(call.arguments)
            for event in DUE:
                if event != left_out:
                    await hooks.emit(event, {})
            return "Done."

    coordinator = TrialCoordinator()
    result = ValidationResult("orchestrator", "here")
    await check_obedience(result, Tells(), coordinator)
    (check,) = (each for each in result.checks if each.name == "orchestrator_events")
    assert check.passed is (not left_out)
    if left_out:
        assert check.severity == "warning" and f"never emits {left_out}: " in check.message
        assert f'hooks.emit("{left_out}"' in check.remedy


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_loop_that_adds_no_prompt_to_the_context_is_warned_of(keeps: bool) -> None:
    class Asks:
        async def execute(self, prompt, context, providers, tools, hooks, **kwargs):
            (provider,) = providers.values()
            if keeps:
                await context.add_message({"role": "user", "content": [{"text": prompt}]})
            await provider.complete({"messages": await context.get_messages_for_request()})
            return "Done."

    coordinator = TrialCoordinator()
    result = ValidationResult("orchestrator", "here")
    await check_obedience(result, Asks(), coordinator)
    found = [each for each in result.checks if each.name == "orchestrator_prompt"]
    assert len(found) == (0 if keeps else 1)
    for check in found:
        assert not check.passed and check.severity == "warning"
        assert '"role": "user", "content": prompt}' in check.remedy
        assert check.where == f"{__file__}:{Asks.execute.__code__.co_firstlineno}"


async def test_the_built_in_loop_does_what_hooks_say() -> None:
    checked = await check_module("loop-streaming")
    passed = {check.name: check.passed for check in checked.result.checks}
    assert passed["hooks_deny"] and passed["hooks_ask"] and passed["hooks_modify"]
    assert passed["hooks_modify_result"] and passed["hooks_deny_request"]
    assert passed["orchestrator_context"] and passed["orchestrator_events"]
    assert "orchestrator_prompt" not in passed
