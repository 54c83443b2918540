"""A turn that the user stopped at a question is stopped there when it is played."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.host.cassettes.cassette import TapedCall, TapedDecision, TapedEnd
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    BlockDelta,
    LaneOpened,
    ToolEnded,
    TurnEnded,
)
from tests.host.cassettes.test_interplay import played, recorded
from tests.host.driving import Driver, Project, calling
from tests.host.session.test_agents import ask, coding, script

ASKS = ("hooks-test", {"ask": True, "only": "echo"})
BESIDE = calling({"echo": {"text": "x"}}, {"fail": {"text": "it broke"}}, {"echo": {"text": "y"}})


@pytest.fixture(params=["loop-streaming", "module new"])
def loop(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """The loop of a session: the program's, and one that tells little of calls that don't run."""
    if request.param == "loop-streaming":
        return {"orchestrator": {"module": request.param}}
    assert run(["module", "new", "orchestrator", "own", "--in", str(tmp_path)]) == 0
    source = str(tmp_path / "amplifier-module-loop-own")
    return {"orchestrator": {"module": "loop-own", "source": source}}


def decisions(calls: Any) -> list[TapedDecision]:
    return [each.decision for each in calls if each.decision is not None]


def test_a_turn_that_was_stopped_at_a_question_is_stopped_there_and_the_next_one_is_played(
    project: Project, driver: Driver, loop: dict[str, Any]
) -> None:
    once = {**calling({"echo": {"text": "x"}}), "when": {"prompt": "go"}}
    then = {"name": "then", "when": {"prompt": "go on"}, "steps": {"only": {"say": "Well."}}}
    name = project.bundle(script=[then, once], hooks=(ASKS,), session=loop)
    session = driver.open(name).session_id
    driver.client.submit("go")
    driver.wait(ApprovalRequested)
    driver.client.interrupt()
    driver.wait(TurnEnded)
    driver.turn("go on")
    driver.close()
    cassette = recorded(project, session)
    (decision,) = decisions(cassette.of(TapedCall))
    assert (decision.outcome, decision.by) == ("cancelled", "stop")
    assert [each.id for each in cassette.of(TapedEnd)] == ["1", "2"]
    assert not played(project, cassette)


def test_what_ended_or_was_decided_beside_the_question_comes_before_the_stop(
    project: Project, driver: Driver
) -> None:
    name = project.bundle(script=BESIDE, hooks=(ASKS,))
    project.allow(["fail"])
    session = driver.open(name).session_id
    driver.client.submit("go")
    first = driver.wait(ApprovalRequested)
    driver.allow_next()
    driver.wait_until(lambda: len(driver.of(ToolEnded)) == 2, "They did not end")
    assert first.call_id not in [each.call_id for each in driver.of(ToolEnded)]
    driver.client.interrupt()
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    made = {(each.outcome, each.by) for each in decisions(cassette.of(TapedCall))}
    assert made == {("allowed", "rule"), ("allowed", "user"), ("cancelled", "stop")}
    assert not played(project, cassette)


def test_a_call_that_was_changed_before_the_stop_is_changed_again(
    project: Project, driver: Driver
) -> None:
    script = calling({"write_file": {"file_path": "a.txt", "content": "a"}})
    name = project.bundle(script=script, tools=("tool-filesystem",))
    project.allow([])
    session = driver.open(name).session_id
    driver.client.submit("go")
    request = driver.wait(ApprovalRequested)
    text = '{"file_path": "b.txt", "content": "b"}'
    assert not driver.client.change_call(request.request_id, text).result(5)
    driver.wait(ApprovalRequested)
    driver.client.interrupt()
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    (decision,) = decisions(cassette.of(TapedCall))
    assert decision.by == "stop" and decision.changed_to
    assert not played(project, cassette)


def test_an_agent_that_was_stopped_at_its_question_is_stopped_alone(
    project: Project, driver: Driver
) -> None:
    asks = {"run": {"call": [{"bash": {"command": "make x"}}]}, "tell": {"say": "Done with it."}}
    session = driver.open(coding(project, script([ask("tester")], asks))).session_id
    driver.client.submit("go")
    request = driver.wait(ApprovalRequested)
    driver.client.stop_agent(request.agent)
    assert driver.wait(TurnEnded).status == "success"
    driver.close()
    cassette = recorded(project, session)
    assert [each.by for each in decisions(cassette.of(TapedCall))][-1] == "stop"
    assert not played(project, cassette)


def test_a_turn_that_was_stopped_at_the_question_of_an_agent_is_stopped_there(
    project: Project, driver: Driver
) -> None:
    asks = {"run": {"call": [{"bash": {"command": "make x"}}]}, "tell": {"say": "Done with it."}}
    session = driver.open(coding(project, script([ask("tester")], asks))).session_id
    driver.client.submit("go")
    driver.wait(ApprovalRequested)
    driver.client.interrupt()
    assert driver.wait(TurnEnded).status == "cancelled"
    driver.close()
    assert not played(project, recorded(project, session))


LONG = {"tell": {"say": "word " * 2_000}}


def in_agent(event: BlockDelta) -> bool:
    return event.agent != MAIN_LANE and "word" in event.text


def test_an_agent_that_was_stopped_in_its_answer_is_stopped_alone(
    project: Project, driver: Driver
) -> None:
    session = driver.open(coding(project, script([ask("tester")], LONG), speed=20)).session_id
    driver.client.submit("go")
    driver.client.stop_agent(driver.wait(BlockDelta, in_agent).agent, True)
    assert driver.wait(TurnEnded).status == "success"
    driver.close()
    assert not played(project, recorded(project, session))


def test_a_turn_that_was_stopped_in_the_answer_of_an_agent_is_stopped_there(
    project: Project, driver: Driver
) -> None:
    session = driver.open(coding(project, script([ask("tester")], LONG), speed=20)).session_id
    driver.client.submit("go")
    driver.wait(BlockDelta, in_agent)
    driver.client.interrupt(True)
    assert driver.wait(TurnEnded).status == "cancelled"
    driver.close()
    assert not played(project, recorded(project, session))


def test_with_an_agent_those_it_called_are_stopped_and_the_turn_goes_on(
    project: Project, driver: Driver
) -> None:
    def calls(agent: str, said: str) -> dict[str, Any]:
        return {"ask": {"call": [ask(agent, said)]}, "done": {"say": f"{agent} is done."}}

    story = {
        "scenarios": [
            {"name": "main", "when": {"prompt": "go"}, "steps": calls("lead", "Lead them.")},
            {"name": "lead", "when": {"prompt": "Lead"}, "steps": calls("tester", "Test it.")},
            {"name": "tester", "steps": LONG},
        ]
    }
    lead = "agents:\n  lead: {description: Leads, instruction: You lead.}\n"
    session = driver.open(coding(project, story, lead, speed=20)).session_id
    driver.client.submit("go")
    driver.wait(BlockDelta, in_agent)
    opened = {each.name: each.lane for each in driver.of(LaneOpened)}
    assert set(opened) == {"lead", "tester"}
    driver.client.stop_agent(opened["lead"], True)
    assert driver.wait(TurnEnded).status == "success"
    driver.close()
    assert not played(project, recorded(project, session))


def test_of_two_agents_the_one_that_was_stopped_in_a_tool_is_stopped_alone(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    command = f"touch {tmp_path}/started; sleep 60"
    work = {"run": {"call": [{"bash": {"command": command}}]}, "tell": {"say": "Done with it."}}
    story = script([ask("tester"), ask("explorer")], work)
    session = driver.open(coding(project, story)).session_id
    driver.client.submit("go")
    request = driver.allow_next()
    driver.wait_for_file(tmp_path / "started")
    driver.client.stop_agent(request.agent, True)
    assert driver.wait(TurnEnded).status == "success"
    driver.close()
    assert not played(project, recorded(project, session))


def test_what_the_user_refused_is_known_of_a_loop_that_does_not_tell_how_such_a_call_ended(
    project: Project, drive: Callable[..., Driver], loop: dict[str, Any]
) -> None:
    driver = drive()
    script = calling({"echo": {"text": "x"}})
    session = driver.open(project.bundle(script=script, hooks=(ASKS,), session=loop)).session_id
    driver.client.submit("go")
    driver.deny_next(reason="not today")
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    (decision,) = decisions(cassette.of(TapedCall))
    assert (decision.outcome, decision.by, decision.reason) == ("denied", "user", "not today")
    assert not played(project, cassette)
