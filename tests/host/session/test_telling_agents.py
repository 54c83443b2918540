"""What the user does with one agent while it works: telling it something, and stopping it alone."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import (
    ApprovalRequested,
    ApprovalResolved,
    LaneClosed,
    LaneOpened,
    LaneUsed,
    Notice,
    QueueChanged,
    SteerApplied,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from amplifier_tui.host.store import lanes
from tests.host.driving import Driver, Project
from tests.host.session.test_agents import LOOK, ask, children, coding, script

ASKS = {"run": {"call": [{"bash": {"command": "make x"}}]}, "tell": {"say": "Done with it."}}


def rows_of(project: Project) -> list[dict[str, object]]:
    text = (children(project)[0] / "transcript.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_an_agent_hears_at_its_next_step_what_it_is_told_and_the_row_is_on_disk(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    first.open(coding(project, script([ask("tester")], ASKS)))
    first.client.submit("go")
    request = first.wait(ApprovalRequested)
    first.client.tell_agent(request.agent, "Only the small one.")
    waits = first.wait(QueueChanged)
    assert (waits.agent, waits.steering) == (request.agent, ("Only the small one.",))
    first.client.decide(request.request_id, Decision(allow=False))
    told = first.wait(SteerApplied)
    assert (told.agent, told.text) == (request.agent, "Only the small one.")
    assert first.wait(QueueChanged).steering == ()
    assert first.wait(TurnEnded).status == "success"
    (row,) = [row for row in rows_of(project) if row["content"] == "Only the small one."]
    assert row["role"] == "user"
    first.close()
    second = drive()
    second.open(resume="last")
    (again,) = second.of(SteerApplied)
    assert (again.agent, again.text, again.replayed) == (request.agent, told.text, True)


def test_what_an_agent_is_told_too_late_is_said(project: Project, driver: Driver) -> None:
    slow = {"only": {"say": "x", "delay": 600}}
    driver.open(coding(project, script([ask("explorer")], slow), speed=10_000))
    driver.client.submit("go")
    lane = driver.wait(LaneOpened).lane
    driver.client.tell_agent(lane, "And the tests.")
    driver.wait(QueueChanged, lambda event: bool(event.steering))
    driver.client.stop_agent(lane, immediate=True)
    said = driver.wait(Notice, lambda event: event.source == "agents")
    assert said.text == "explorer ended before it heard: And the tests."
    driver.wait(TurnEnded)
    driver.client.tell_agent(lane, "Too late.")
    assert "does not work any more" in driver.wait(Notice).text


def test_one_of_two_agents_is_stopped_and_everything_else_goes_on(
    project: Project, driver: Driver
) -> None:
    (project.folder / "hay.txt").write_text("needle\n")
    story = script([ask("explorer", "Wait."), ask("reviewer", "Look.")], {})
    quick = {"when": {"prompt": "Look"}, "name": "quick", "steps": {"only": {"say": "Looked."}}}
    slow = {"name": "slow", "steps": {"only": {"say": "x", "delay": 600}}}
    story["scenarios"][1:] = [quick, slow]
    driver.open(coding(project, story, speed=10_000))
    driver.client.submit("go")
    done = driver.wait(LaneClosed)
    assert (done.status, done.result) == ("success", "Looked.")
    (waiting,) = [each.lane for each in driver.of(LaneOpened) if each.name == "explorer"]
    driver.client.stop_agent(waiting, immediate=True)
    stopped = driver.wait(LaneClosed)
    assert (stopped.lane, stopped.status) == (waiting, "cancelled")
    assert driver.wait(TurnEnded).status == "success"
    results = [event for event in driver.of(ToolEnded) if event.tool == "task"]
    assert sorted(event.ok for event in results) == [False, True]
    told = next(event.output for event in results if not event.ok)
    assert "the user stopped this agent before it was done" in told
    assert waiting in told, "it can be asked again"


def test_a_stopped_agent_is_not_asked_for_any_more_and_ends_after_its_step(
    project: Project, driver: Driver
) -> None:
    driver.open(coding(project, script([ask("tester")], ASKS)))
    driver.client.submit("go")
    request = driver.wait(ApprovalRequested)
    driver.client.stop_agent(request.agent)
    assert driver.wait(ApprovalResolved).outcome == "cancelled"
    assert driver.wait(LaneClosed).status == "cancelled"
    assert driver.wait(TurnEnded).status == "success"
    assert "Done with it." not in driver.answers()


def test_a_stopped_agent_leaves_no_process_behind(project: Project, driver: Driver) -> None:
    mark = f"600.{os.getpid()}"
    child = {"run": {"call": [{"bash": {"command": f"sleep {mark}"}}]}, "end": {"say": "x"}}
    driver.open(coding(project, script([ask("tester")], child)))
    driver.client.submit("go")
    lane = driver.wait(ToolStarted, lambda event: event.tool == "bash").agent
    driver.wait_until(lambda: bool(sleepers(mark)), "The command never ran")
    driver.client.stop_agent(lane, immediate=True)
    assert driver.wait(LaneClosed).status == "cancelled"
    assert driver.wait(TurnEnded).status == "success"
    driver.wait_until(lambda: not sleepers(mark), "The command goes on")


def sleepers(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue  # It ended meanwhile.
    return found


def test_what_an_agent_used_is_told_while_it_works_and_kept(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    first.open(coding(project, script([ask("explorer")], {"only": {"say": "Here."}})))
    first.turn("go")
    (closed,) = first.of(LaneClosed)
    assert closed.usage.input_tokens > 0 and closed.usage == first.of(LaneUsed)[-1].usage
    first.close()
    second = drive()
    second.open(resume="last")
    assert second.of(LaneClosed)[0].usage == closed.usage


def test_rows_of_a_long_task_that_are_not_replayed_are_counted(
    project: Project, drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = drive()
    first.open(coding(project, script([ask("explorer")], LOOK)))
    first.turn("go")
    first.close()
    monkeypatch.setattr(lanes, "MOST_ROWS", 1)
    second = drive()
    second.open(resume="last")
    assert second.of(LaneOpened)[0].earlier == len(rows_of(project)) - 2, "less the task itself"
