"""What waits for the user when the gate can't decide about it a second time."""

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested, HostEvent
from amplifier_tui.host.gate.approvals.question import ApprovalQuestion
from amplifier_tui.host.gate.approvals.queue import ApprovalQueue
from amplifier_tui.host.gate.approvals.request import describe
from amplifier_tui.host.gate.gate import GateDecision
from tests.waiting import within


async def test_a_call_that_cannot_be_judged_again_still_waits_for_the_user(tmp_path: Path) -> None:
    def judge() -> None:
        raise RuntimeError("the judge is broken")

    sent: list[HostEvent] = []
    queue = ApprovalQueue("s", tmp_path, sent.append)
    command = {"command": "make"}
    question = ApprovalQuestion("hook", tool="bash", arguments=command, judge=judge)
    asking = asyncio.create_task(queue.ask(question))
    while not queue.waiting and not asking.done():
        await asyncio.sleep(0)
    assert await queue.judge_again() == ()
    (request,) = [each for each in sent if isinstance(each, ApprovalRequested)]
    queue.decide(request.request_id, Decision(allow=True))
    assert (await asking).outcome == "allowed"


async def test_a_call_that_its_asker_judges_in_the_new_mode_counts_as_answered_by_it(
    tmp_path: Path,
) -> None:
    described = describe(ApprovalQuestion("hook", tool="write_file", arguments={}), tmp_path)
    calls, again = iter((False, True)), threading.Event()

    def judge() -> GateDecision:
        if next(calls):
            again.set()
            while queue.waiting:
                time.sleep(0.001)
        else:
            again.wait(10)
        return GateDecision("allow", "let through", described, "write", mode="edits")

    queue = ApprovalQueue("s", tmp_path, lambda event: None)
    asking = asyncio.create_task(
        queue.ask(ApprovalQuestion("hook", tool="write_file", arguments={}, judge=judge))
    )
    while not queue.waiting and not asking.done():
        await asyncio.sleep(0)
    assert await queue.judge_again() == ("write_file allowed",)
    assert (await asking).by == "mode"


async def test_a_call_is_not_asked_about_where_its_rule_was_made_while_the_gate_decided(
    tmp_path: Path,
) -> None:
    arguments = {"file_path": "a.md", "content": "a"}
    question = ApprovalQuestion("gate", tool="write_file", arguments=arguments)
    described = describe(question, tmp_path)
    goes = GateDecision("allow", "by the rule", described, "write")
    queue = ApprovalQueue("s", tmp_path, lambda event: None)
    judged = replace(question, description=described, judge_anew=lambda: goes)
    first = asyncio.create_task(queue.ask(judged))
    while not queue.waiting and not first.done():
        await asyncio.sleep(0)
    queue.decide(queue.waiting[0], Decision(allow=True, scope="session"))
    assert (await first).by == "user"
    async with within(20):
        assert (await queue.ask(judged)).by == "rule"
