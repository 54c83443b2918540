"""Which emit asks: told by its result, not by where the code runs."""

import asyncio
from typing import Any

import pytest

from amplifier_tui.host.gate.approvals.question import ApprovalAnswer, ApprovalQuestion, Default
from amplifier_tui.host.gate.approvals.surfaces import KernelApprovals
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.models.hook_result import HookResult


class Queue:
    """Answers everything in one way, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[ApprovalQuestion] = []
        self.answer = ApprovalAnswer("allowed")

    async def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        self.asked.append(question)
        return self.answer


async def asking(event: str, data: dict[str, Any]) -> HookResult:
    return HookResult(action="ask_user", approval_prompt="May it?", reason="tests ask")


def made(lane: str = "main") -> tuple[Queue, KernelApprovals, HookRegistry]:
    queue: Any = Queue()
    approvals = KernelApprovals(queue, lane)
    hooks = HookRegistry()
    approvals.observe(hooks)
    hooks.register("tool:pre", asking, name="hook")
    return queue, approvals, hooks


def call(number: int) -> dict[str, Any]:
    return {"tool_name": f"tool {number}", "tool_call_id": f"c{number}", "tool_input": {}}


async def test_questions_with_the_same_words_are_told_apart_whatever_their_order() -> None:
    queue, approvals, hooks = made()
    results = [await hooks.emit("tool:pre", call(number)) for number in range(3)]
    for result in reversed(results):
        # In a task of its own, as an orchestrator that shares the work out would.
        await asyncio.create_task(approvals.request_for_hook(result, "May it?", ["Allow"]))
    assert [q.call_id for q in queue.asked] == ["c2", "c1", "c0"]
    assert {(q.asker, q.why) for q in queue.asked} == {("hook", "tests ask")}


async def test_the_kernel_hands_the_result_to_whoever_wants_it() -> None:
    queue, approvals, hooks = made("child")
    coordinator = ModuleCoordinator(approval_system=approvals)
    result = await hooks.emit("tool:pre", call(1))
    answer = await coordinator.process_hook_result(result, "tool:pre", "hook")
    assert answer.action == "continue"
    assert [(q.call_id, q.lane) for q in queue.asked] == [("c1", "child")]


async def test_an_orchestrator_that_asks_itself_is_known_by_its_words() -> None:
    queue, approvals, hooks = made()
    await hooks.emit("tool:pre", call(1))
    assert await approvals.request_approval("May it?", ["Allow"], 10.0, "deny") == "Allow"
    assert await approvals.request_approval("Something else?", ["Allow"], 10.0, "deny") == "Allow"
    assert [q.call_id for q in queue.asked] == ["c1", ""]


@pytest.mark.parametrize("event", ["tool:pre", "provider:request", "prompt:submit"])
@pytest.mark.parametrize(
    ("default", "action", "told", "outcome"),
    [
        ("allow", "continue", "approval:granted", "allowed"),
        ("deny", "deny", "approval:denied", "timed_out"),
    ],
)
async def test_hooks_hear_of_a_question_nobody_answered_what_the_default_made_of_it(
    event: str, default: Default, action: str, told: str, outcome: str
) -> None:
    queue, approvals, hooks = made()
    queue.answer = ApprovalAnswer("timed_out", "timeout", "nobody answered in time", default)
    heard: list[tuple[str, dict[str, Any]]] = []

    async def hear(name: str, data: dict[str, Any]) -> HookResult:
        heard.append((name, data))
        return HookResult()

    for name in ("approval:granted", "approval:denied"):
        hooks.register(name, hear)
    if event != "tool:pre":
        hooks.register(event, asking)
    coordinator = ModuleCoordinator(approval_system=approvals)
    result = await hooks.emit(event, call(1))
    assert (await coordinator.process_hook_result(result, event, "hook")).action == action
    ((name, data),) = heard
    assert (name, data["outcome"], data["by"]) == (told, outcome, "timeout")
    assert data["reason"] == "Approval request timed out"


async def test_emits_nobody_asks_about_do_not_pile_up() -> None:
    _, approvals, hooks = made()
    for number in range(300):
        await hooks.emit("tool:pre", call(number))
    assert len(approvals._asking) <= 100
