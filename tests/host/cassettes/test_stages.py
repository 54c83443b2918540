"""A turn that was stopped in stages, or while a tool ran, is stopped there when it is played."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.host.cassettes.baseline import baseline
from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    TapedAnswer,
    TapedCall,
    TapedEnd,
    TapedStop,
    read_cassette,
)
from amplifier_tui.host.cassettes.comparing import differences
from amplifier_tui.host.events import BlockDelta, ToolEnded, TurnEnded
from tests.host.cassettes.test_folders import found, replayed
from tests.host.cassettes.test_interplay import played, recorded
from tests.host.cassettes.test_stopping import in_agent
from tests.host.cassettes.test_stopping import loop as loop
from tests.host.driving import Driver, Project, calling
from tests.host.session.test_agents import ask, coding, script

LONG = "word " * 60
SECONDS = 60
"""Which a command would take that nobody stops."""


def then(first: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the story of a first turn, and of a second one."""
    return [
        {"name": "then", "when": {"prompt": "go on"}, "steps": {"only": {"say": "Well."}}},
        {**first, "when": {"prompt": "go"}},
    ]


def waiting(folder: Path) -> dict[str, Any]:
    """Return a call that runs until the test lets it end."""
    return {"wait": {"started": str(folder / "started"), "until": str(folder / "end")}}


def ticking() -> dict[str, Any]:
    """Return a call that has printed something when the test goes on, and does not end."""
    return {"bash": {"command": f"echo tick; touch started; sleep {SECONDS}"}}


def stop_in_call(driver: Driver, folder: Path) -> None:
    """Stop the turn after a call that runs."""
    driver.wait_for_file(folder / "started")
    driver.client.interrupt()
    (folder / "end").touch()
    driver.wait(TurnEnded)


def stops(cassette: Cassette) -> list[str]:
    return [each.id for each in cassette.of(TapedStop)]


def test_a_turn_that_was_stopped_after_a_call_is_stopped_there_and_the_next_one_is_played(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    name = project.bundle(script=then(calling(waiting(tmp_path))))
    session = driver.open(name).session_id
    driver.client.submit("go")
    stop_in_call(driver, tmp_path)
    driver.turn("go on")
    driver.close()
    cassette = recorded(project, session)
    assert stops(cassette) == ["1.1.1"]
    assert [each.id for each in cassette.of(TapedAnswer)] == ["1.1", "2.1"]
    assert [each.id for each in cassette.of(TapedEnd)] == ["1", "2"]
    assert not played(project, cassette)


def test_a_turn_that_was_stopped_after_an_answer_does_not_run_its_calls(
    project: Project, driver: Driver, loop: dict[str, Any]
) -> None:
    story = calling({"echo": {"text": "x"}}, say=LONG)
    name = project.bundle(script=then(story), speed=100, session=loop)
    session = driver.open(name).session_id
    driver.client.submit("go")
    driver.wait(BlockDelta, lambda event: "word" in event.text)
    driver.client.interrupt()
    driver.wait(TurnEnded)
    driver.turn("go on")
    driver.close()
    cassette = recorded(project, session)
    assert stops(cassette) == ["1.1"]
    assert not any(each.result for each in cassette.of(TapedCall))
    assert not played(project, cassette)


def test_a_stop_after_the_last_answer_is_kept_as_well(project: Project, driver: Driver) -> None:
    name = project.bundle(script={"name": "say", "steps": {"only": {"say": LONG}}}, speed=100)
    session = driver.open(name).session_id
    driver.client.submit("go")
    driver.wait(BlockDelta)
    driver.client.interrupt()
    assert driver.wait(TurnEnded).status == "cancelled"
    driver.close()
    cassette = recorded(project, session)
    assert stops(cassette) == ["1.1"]
    assert not played(project, cassette)


def test_a_turn_that_was_stopped_before_its_first_request_makes_none(
    project: Project, drive: Callable[..., Driver], tmp_path: Path
) -> None:
    driver = drive()
    hangs = {"hang_at_prompt": str(tmp_path / "started"), "hang_at": "execution:start"}
    session = driver.open(project.bundle()).session_id
    driver.turn("go")
    driver.close()
    driver = drive()
    driver.open(project.bundle(hooks=(("hooks-test", hangs),)), resume=session)
    driver.client.submit("go on")
    driver.wait_for_file(tmp_path / "started")
    driver.client.interrupt(True)
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    assert stops(cassette) == ["2.0"]
    assert [each.id for each in cassette.of(TapedAnswer)] == ["1.1"]
    project.bundle()  # The hook would hang in it.
    now = replayed(project, cassette)
    assert not now.missed and stops(now.cassette) == ["2.0"]


def test_a_stop_that_comes_elsewhere_now_is_told(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    session = driver.open(project.bundle(script=calling(waiting(tmp_path)))).session_id
    driver.client.submit("go")
    stop_in_call(driver, tmp_path)
    driver.close()
    cassette = recorded(project, session)
    rows = (each for each in cassette.rows if not isinstance(each, TapedStop))
    older = cassette.model_copy(update={"rows": tuple(rows)})
    assert "turn 1: stop: nothing → after 1.1.1" in map(
        str, differences(older, replayed(project, cassette).cassette)
    )


def test_what_a_command_had_printed_when_it_was_stopped_is_its_result_again(
    project: Project, driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine may need longer to end it.
    monkeypatch.setattr("amplifier_tui.modules._loop.tool_batch.STOP_GRACE", SECONDS)
    name = project.bundle(script=then(calling(ticking())), tools=("tool-bash",))
    session = driver.open(name).session_id
    driver.client.submit("go")
    driver.wait_for_file(project.folder / "started")
    driver.client.interrupt(True)
    driver.wait(TurnEnded)
    driver.turn("go on")
    driver.close()
    cassette = recorded(project, session)
    (call,) = cassette.of(TapedCall)
    assert call.interrupted and "tick" in call.result["output"]
    now = replayed(project, cassette)
    assert not now.missed and not played(project, cassette)
    assert [each.result for each in now.cassette.of(TapedCall)] == [call.result]


def test_a_command_that_was_stopped_does_not_run_where_tools_are_real(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    name = project.bundle(script=calling(ticking()), tools=("tool-bash",))
    session = driver.open(name).session_id
    driver.client.submit("go")
    driver.wait_for_file(project.folder / "started")
    driver.client.interrupt(True)
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    (project.folder / "started").unlink()
    assert not found(project, cassette, tools="real")
    assert not (project.folder / "started").exists()


def test_calls_that_ended_and_calls_that_ran_beside_are_so_when_the_turn_is_stopped_again(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    never = {"wait": {"started": str(tmp_path / "other"), "until": str(tmp_path / "never")}}
    story = calling(never, ticking(), {"echo": {"text": "x"}})
    name = project.bundle(script=story, tools=("tool-bash", "tool-test"))
    session = driver.open(name).session_id
    driver.client.submit("go")
    driver.wait(ToolEnded)
    driver.wait_for_file(project.folder / "started")
    driver.wait_for_file(tmp_path / "other")
    driver.client.interrupt(True)
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    assert [each.interrupted for each in cassette.of(TapedCall)].count(True) == 2
    assert not played(project, cassette)


def test_a_call_of_which_a_loop_tells_no_end_is_one_that_was_stopped(
    project: Project, driver: Driver, loop: dict[str, Any], tmp_path: Path
) -> None:
    name = project.bundle(script=then(calling(waiting(tmp_path))), session=loop)
    session = driver.open(name).session_id
    driver.client.submit("go")
    driver.wait_for_file(tmp_path / "started")
    driver.client.interrupt(True)
    driver.wait(TurnEnded)
    driver.turn("go on")
    driver.close()
    cassette = recorded(project, session)
    assert [each.interrupted for each in cassette.of(TapedCall)] == [True]
    assert not stops(cassette)


def test_a_turn_that_was_stopped_after_a_denied_call_is_stopped_there(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    name = project.bundle(script=calling({"echo": {"text": "x"}}, waiting(tmp_path)))
    project.allow(["wait"], deny=["echo"])
    session = driver.open(name).session_id
    driver.client.submit("go")
    stop_in_call(driver, tmp_path)
    driver.close()
    cassette = recorded(project, session)
    assert stops(cassette) == ["1.1.2"]
    assert not played(project, cassette)


@pytest.mark.parametrize("alone", [True, False], ids=["the agent", "the turn"])
def test_an_agent_that_was_stopped_in_stages_is_stopped_after_the_same_step(
    project: Project, driver: Driver, alone: bool
) -> None:
    look = {"call": [{"glob": {"pattern": "*"}}]}
    steps = {"look": {"say": LONG, **look}, "tell": {"say": "Done with it."}}
    story = script([ask("tester")], steps)
    session = driver.open(coding(project, story, speed=100)).session_id
    driver.client.submit("go")
    agent = driver.wait(BlockDelta, in_agent).agent
    if alone:
        driver.client.stop_agent(agent)
    else:
        driver.client.interrupt()
    assert driver.wait(TurnEnded).status == ("success" if alone else "cancelled")
    driver.close()
    cassette = recorded(project, session)
    assert stops(cassette) == ["1.1.1/1", *([] if alone else ["1.1.1"])]
    assert not played(project, cassette)


def test_of_a_turn_that_asks_for_more_nothing_is_made_up(project: Project, driver: Driver) -> None:
    name = project.bundle(script=calling({"echo": {"text": "x"}}))
    session = driver.open(name).session_id
    driver.turn("go")
    driver.close()
    whole = recorded(project, session)
    kept = [row for row in whole.rows if row.id != "1.2"]
    lacks = whole.model_copy(update={"rows": tuple(kept)})
    now = replayed(project, lacks)
    assert now.missed == ["1.2"]
    made = baseline(lacks, now)
    assert [row for row in made.rows if row.id.startswith("1")] == kept


def test_agents_that_were_stopped_beside_each_other_are_where_they_were(
    project: Project, driver: Driver
) -> None:
    look = {"call": [{"glob": {"pattern": "*"}}]}
    steps = {"look": look, "tell": {"say": "word " * 2_000}}
    story = script([ask("tester"), ask("explorer")], steps)
    session = driver.open(coding(project, story, speed=20)).session_id
    driver.client.submit("go")
    first = driver.wait(BlockDelta, in_agent).agent
    driver.wait(BlockDelta, lambda event: in_agent(event) and event.agent != first)
    driver.client.interrupt(True)
    assert driver.wait(TurnEnded).status == "cancelled"
    driver.close()
    cassette = recorded(project, session)
    broken = [each.id for each in cassette.of(TapedAnswer) if each.interrupted]
    assert sorted(broken) == ["1.1.1/2", "1.1.2/2"]
    assert not played(project, cassette)


KINDS = [
    "esc after a call",
    "esc esc in a command",
    "esc in a request after calls",
    "esc in the first answer",
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_stopped_session_is_recorded_and_tested_without_a_difference(
    project: Project,
    driver: Driver,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
) -> None:
    echo = {"call": [{"echo": {"text": "x"}}]}
    steps: dict[str, dict[str, Any]] = {
        KINDS[0]: calling(waiting(tmp_path))["steps"],
        KINDS[1]: calling(ticking())["steps"],
        KINDS[2]: {"first": echo, "second": {"say": LONG, **echo}, "last": {"say": "All done."}},
        KINDS[3]: {"first": {"say": LONG, **echo}, "last": {"say": "All done."}},
    }
    story = then({"name": "call", "steps": steps[kind]})
    name = project.bundle(script=story, speed=100, tools=("tool-test", "tool-bash"))
    driver.open(name)
    driver.client.submit("go")
    if kind == KINDS[0]:
        stop_in_call(driver, tmp_path)
    elif kind == KINDS[1]:
        driver.wait_for_file(project.folder / "started")
        driver.client.interrupt()
        driver.client.interrupt(True)
        driver.wait(TurnEnded)
    else:
        driver.wait(BlockDelta, lambda event: "word" in event.text)
        driver.client.interrupt()
        driver.wait(TurnEnded)
    driver.turn("go on")
    driver.close()
    path = tmp_path / "tapes" / "a.cassette.jsonl"
    path.parent.mkdir()
    options = ["--cwd", str(project.folder), "--trust"]
    assert run(["record", "last", "--output", str(path), *options]) == 0, capsys.readouterr()
    assert not any(each.error for each in read_cassette(path).of(TapedAnswer))
    assert run(["test", str(path.parent), *options]) == 0, capsys.readouterr()
