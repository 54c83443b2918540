"""The mode of a session: changed while something waits, told to the model, kept for a resume."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from amplifier_tui.host.events import (
    ApprovalRequested,
    ApprovalResolved,
    ModeChanged,
    Notice,
    PlanProposed,
    SessionOpened,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.host.turns.plan_mode import OVER, PLAN
from tests.host.asking import chat, seen
from tests.host.driving import Driver, Project, calling, saying
from tests.servers import LoopbackServer

WRITE: dict[str, Any] = {"write_file": {"file_path": "made.txt", "content": "made"}}
RUN: dict[str, Any] = {"bash": {"command": "touch ran.txt"}}
TOOLS = ("tool-filesystem", "tool-bash")


def asking(project: Project, *calls: dict[str, Any]) -> str:
    name = project.bundle(script=calling(*calls), tools=TOOLS)
    project.allow([])
    return name


def test_what_waits_is_judged_again_when_the_mode_changes(project: Project, driver: Driver) -> None:
    driver.open(asking(project, WRITE, RUN), mode="ask")
    driver.client.submit("go")
    assert driver.wait(ApprovalRequested).tool == "write_file"
    driver.client.set_mode("edits")
    answer = driver.wait(ApprovalResolved)
    assert (answer.tool, answer.outcome, answer.by) == ("write_file", "allowed", "mode")
    assert driver.wait(Notice).text == "Mode edits answered: write_file allowed"
    assert driver.wait(ApprovalRequested).tool == "bash"
    driver.client.set_mode("plan")
    answer = driver.wait(ApprovalResolved)
    assert (answer.tool, answer.outcome, answer.by) == ("bash", "denied", "mode")
    driver.wait(TurnEnded)
    ended = {e.tool: e.ok for e in driver.of(ToolEnded)}
    assert ended == {"write_file": True, "bash": False}
    assert (project.folder / "made.txt").exists() and not (project.folder / "ran.txt").exists()


def test_a_critical_call_is_still_asked_about_in_every_mode_that_lets_it(
    project: Project, driver: Driver
) -> None:
    driver.open(asking(project, {"bash": {"command": "rm -rf ~"}}), mode="ask")
    driver.client.submit("go")
    request = driver.wait(ApprovalRequested)
    driver.client.set_mode("auto")
    driver.wait(ModeChanged, lambda e: e.mode == "auto")
    driver.client.set_mode("edits")
    driver.wait(ModeChanged, lambda e: e.mode == "edits")
    assert not driver.of(ApprovalResolved)
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)
    assert request.risk == "critical"


def test_a_mode_that_only_the_session_was_left_in_says_so_when_it_is_opened_again(
    project: Project, drive: Callable[[], Driver]
) -> None:
    first = drive()
    first.open(project.bundle(), mode="edits")
    first.turn("one")
    first.close()
    opened = []
    for mode in ("", "edits", "ask", ""):
        again = drive()
        again.open(resume="last", mode=mode)
        changed = again.wait(ModeChanged)
        opened.append((changed.mode, changed.by))
        again.close()
    assert opened == [("edits", "session"), ("edits", "user"), ("ask", "user"), ("ask", "")]


def test_the_model_is_told_of_plan_mode_once_and_what_was_sent_stays_as_it_was(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("a", "b", "c", "d")
    name = project.bundle(providers=[chat(server)])
    driver.open(name)
    driver.turn("one")
    driver.client.set_mode("plan")
    driver.turn("two")
    driver.turn("three")
    driver.client.set_mode("edits")
    driver.turn("four")
    said = [seen(server, index) for index in range(4)]
    assert said[0] == ["user: one"]
    assert said[1][-1] == f"user: two\n\n{PLAN}"
    assert said[3][-1] == f"user: four\n\n{OVER}"
    assert "\n".join(said[3]).count(PLAN) == 1
    for before, after in pairwise(said):
        assert after[: len(before)] == before, "the beginning is cached"


def test_a_plan_is_offered_and_carried_out(project: Project, driver: Driver) -> None:
    script = [
        {**calling(WRITE), "name": "do", "when": {"prompt": "^Carry out the plan"}},
        saying("First this, then that."),
    ]
    name = project.bundle(script=script, tools=TOOLS)
    project.allow([])
    driver.open(name, mode="plan")
    driver.turn("plan it")
    assert any(isinstance(event, PlanProposed) for event in driver.events)
    driver.client.carry_out("edits")
    assert driver.wait(ModeChanged, lambda e: e.by == "user").mode == "edits"
    assert driver.wait(TurnStarted).prompt == "Carry out the plan."
    driver.wait(TurnEnded)
    assert (project.folder / "made.txt").exists()
    assert len(driver.of(PlanProposed)) == 1
    driver.client.carry_out("ask")
    assert driver.wait(Notice).text == "There is no plan to carry out: plan mode ends in one"


def test_the_mode_of_a_resumed_session_is_what_it_was(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    opened = first.open(project.bundle())
    first.wait(ModeChanged)
    first.turn("hello")
    first.client.set_mode("plan")
    first.turn("plan it")
    first.close()
    again = drive()
    other = again.open(project.bundle("other"), mode="edits")
    again.turn("another session")
    again.client.resume(opened.session_id)
    again.wait(SessionOpened)
    assert again.wait(PlanProposed).turn == 2, "the plan still waits"
    assert again.wait(ModeChanged).mode == "plan"
    again.client.resume(other.session_id)
    again.wait(SessionOpened)
    assert again.wait(ModeChanged).mode == "edits"
    again.client.fork()
    again.wait(SessionOpened)
    assert again.wait(ModeChanged).mode == "edits"


def test_a_session_that_begins_without_the_conversation_is_in_no_mode_that_was_chosen_in_it(
    project: Project, driver: Driver
) -> None:
    name = project.bundle()
    driver.open(name)
    driver.turn("one")
    driver.client.set_mode("auto")
    driver.drain()
    begun = []
    for how in ({}, {"carry": False, "mode": "edits"}, {"carry": False}):
        driver.client.switch_bundle(name, **how)
        driver.wait(SessionOpened)
        begun.append(driver.wait(ModeChanged).mode)
    assert begun == ["auto", "edits", "ask"]
