"""Calls that wait beside each other are decided in a replay as they were, by a rule as well."""

from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.host.cassettes import conversing
from amplifier_tui.host.cassettes.cassette import Cassette, TapedCall, read_cassette
from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested, TurnEnded
from tests.host.cassettes.test_interplay import played, recorded
from tests.host.cassettes.test_stages import LONG
from tests.host.driving import Driver, Project, calling
from tests.host.session.test_agents import ask, coding, script

LOOK = {"call": [{"glob": {"pattern": "*"}}]}
LOOKS = {"look": LOOK, "look again": LOOK}


def writing(name: str) -> dict[str, Any]:
    return {"write_file": {"file_path": f"docs/{name}.md", "content": name}}


def decided(cassette: Cassette) -> dict[str, tuple[str, str]]:
    """Return who decided how about each file, and each call of a test's tool."""
    return {
        Path(each.arguments.get("file_path") or each.arguments["text"]).stem: (
            each.decision.outcome,
            each.decision.by,
        )
        for each in cassette.of(TapedCall)
        if each.decision is not None and each.tool in ("write_file", "echo")
    }


def agents(
    project: Project, one: dict[str, Any], two: dict[str, Any], agent: str = "writer"
) -> str:
    """Make a bundle that runs two agents beside each other, each with steps of its own."""
    story = script([ask(agent, "do one"), ask(agent, "do two")], {})
    parent = story["scenarios"][0]
    children = [
        {
            "name": name,
            "when": {"prompt": f"do {name}"},
            "steps": {**steps, "tell": {"say": "Done with it."}},
        }
        for name, steps in (("one", one), ("two", two))
    ]
    return coding(project, {"scenarios": [parent, *children]}, speed=100)


def both(driver: Driver) -> dict[str, str]:
    """Return the requests about both files, once both wait, by what is written."""
    requests = [driver.wait(ApprovalRequested) for _ in range(2)]
    return {
        name: each.request_id
        for each in requests
        for name in ("one", "two")
        if f"{name}.md" in str(each.to_json())
    }


def test_a_rule_made_at_one_question_decides_the_one_beside_it_again(
    project: Project, driver: Driver, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = calling({"echo": {"text": "one.md"}}, {"echo": {"text": "two.md"}})
    driver.open(project.bundle(script=story))
    project.allow([])
    driver.client.submit("go")
    driver.client.decide(both(driver)["one"], Decision(allow=True, scope="session"))
    driver.wait(TurnEnded)
    driver.close()
    path = tmp_path / "tapes" / "a.cassette.jsonl"
    path.parent.mkdir()
    options = ["--cwd", str(project.folder), "--trust"]
    assert run(["record", "last", "--output", str(path), *options]) == 0
    assert "decision" not in "".join(capsys.readouterr())
    expected = {"one": ("allowed", "user"), "two": ("allowed", "rule")}
    assert decided(read_cassette(path)) == expected
    assert run(["replay", str(path), "--update", *options]) == 0, capsys.readouterr()
    assert decided(read_cassette(path)) == expected
    assert run(["test", str(path.parent), *options]) == 0, capsys.readouterr()


def test_what_was_decided_before_a_rule_is_decided_before_it_though_it_is_asked_later_now(
    project: Project, driver: Driver
) -> None:
    name = agents(
        project, {"run": {"call": [writing("one")]}}, {**LOOKS, "run": {"call": [writing("two")]}}
    )
    session = driver.open(name).session_id
    driver.client.submit("go")
    requests = both(driver)
    driver.client.decide(requests["two"], Decision(allow=False))
    driver.client.decide(requests["one"], Decision(allow=True, scope="session"))
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    assert decided(cassette) == {"one": ("allowed", "user"), "two": ("denied", "user")}
    assert not played(project, cassette)


def test_a_call_that_came_after_the_rule_makes_no_difference_where_it_comes_before_it_now(
    project: Project, driver: Driver
) -> None:
    late = {"run": {"say": LONG * 4, "call": [writing("two")]}}
    session = driver.open(
        agents(project, {**LOOKS, "run": {"call": [writing("one")]}}, late)
    ).session_id
    driver.client.submit("go")
    first = driver.wait(ApprovalRequested)
    driver.client.decide(first.request_id, Decision(allow=True, scope="session"))
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    assert decided(cassette) == {"one": ("allowed", "user"), "two": ("allowed", "rule")}
    assert not played(project, cassette)


def test_a_call_that_a_rule_no_longer_decides_holds_nothing_up_once_the_rule_is_made(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = {name: {"call": [writing(name)]} for name in ("one", "two", "three")}
    story = {"name": "calls", "steps": {**steps, "tell": {"say": "Written."}}}
    session = driver.open(project.bundle(script=story, tools=("tool-filesystem",))).session_id
    project.allow([])
    driver.client.submit("go")
    first = driver.wait(ApprovalRequested)
    driver.client.decide(first.request_id, Decision(allow=True, scope="session"))
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    assert decided(cassette)["three"] == ("allowed", "rule")
    # The rule that is made now is for another folder.
    text = cassette.model_dump_json().replace("docs/one.md", ".vscode/one.md")
    monkeypatch.setattr(conversing, "PATIENCE", 20)
    monkeypatch.setattr(conversing, "BESIDE", 30)
    assert played(project, Cassette.model_validate_json(text))


@pytest.mark.parametrize("command", ["record", "replay"])
def test_a_cassette_expects_what_nothing_in_it_decides_once_a_call_is_asked_about(
    project: Project, driver: Driver, tmp_path: Path, command: str
) -> None:
    story, tools = calling(writing("one")), ("tool-filesystem",)
    bundle = project.bundle(script=story, tools=tools)
    project.allow([])
    driver.open(bundle, mode="edits")
    driver.turn("go")
    driver.close()
    path = tmp_path / "tapes" / "a.cassette.jsonl"
    path.parent.mkdir()
    options = ["--cwd", str(project.folder), "--trust"]
    if command == "replay":
        assert run(["record", "last", "--output", str(path), *options]) == 0
        assert decided(read_cassette(path)) == {"one": ("allowed", "mode")}
    project.bundle(script=story, tools=tools, hooks=(("hooks-test", {"ask": True}),))
    kept = {"record": ["last", "--output", str(path)], "replay": [str(path), "--update"]}
    run([command, *kept[command], *options])
    assert decided(read_cassette(path)) == {"one": ("denied", "user")}
    assert run(["replay", str(path), *options]) == 0
