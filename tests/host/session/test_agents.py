import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import (
    ApprovalRequested,
    BlockEnded,
    HostEvent,
    LaneClosed,
    LaneOpened,
    ModuleFailed,
    ModuleMounted,
    ModuleUnmounted,
    Notice,
    SessionOpened,
    TodoChanged,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from amplifier_tui.host.session import sub_agents
from tests.host.driving import Driver, Project
from tests.host.store.cli_reader import CliReader

KEYLESS = {"provider-anthropic", "provider-openai"}


def script(
    parent: list[dict[str, Any]], child: dict[str, Any], *, then: str = "{{output}}"
) -> dict[str, Any]:
    return {
        "scenarios": [
            {
                "name": "parent",
                "when": {"tools": ["task"]},
                "steps": {"ask": {"call": parent}, "done": {"say": then}},
            },
            {"name": "child", "steps": child},
        ]
    }


def coding(project: Project, story: dict[str, Any], extra: str = "", *, speed: int = 0) -> str:
    """Make a bundle whose model follows a story; its delays count from a speed of 1 on."""
    path = project.folder.parent / "story.json"
    path.write_text(json.dumps(story))
    (project.bundles / "mine.md").write_text(
        "---\nbundle: {name: mine, version: 1.0.0, description: For tests}\nincludes: [coding]\n"
        f"providers:\n  - module: provider-mock\n    config:\n      script: {path}\n"
        f"      tokens_per_second: {speed}\n{extra}---\n"
    )
    return "mine"


def ask(agent: str, instruction: str = "Find it.") -> dict[str, Any]:
    return {"task": {"agent": agent, "instruction": instruction}}


LOOK = {
    "look": {"call": [{"grep": {"pattern": "needle", "output_mode": "content"}}]},
    "tell": {"say": "It is here: {{output}}"},
}


def test_the_coding_bundle_opens_with_everything_it_names(project: Project, driver: Driver) -> None:
    driver.open(coding(project, script([ask("explorer")], LOOK)))
    assert {e.module_id for e in driver.of(ModuleFailed)} <= KEYLESS
    assert not [e for e in driver.of(Notice) if e.level != "info"]


def test_an_agent_whose_file_cannot_be_read_is_not_offered_and_not_run(
    project: Project, driver: Driver
) -> None:
    file = project.bundles / "agents" / "reader.md"
    file.parent.mkdir()
    file.write_text("---\nmeta:\n  description: Reads only: no\n  inherit_tools: []\n---\nRead.\n")
    driver.open(coding(project, script([ask("reader")], LOOK), "agents: {include: [reader]}\n"))
    driver.turn("go")
    (ended,) = [event for event in driver.of(ToolEnded) if event.agent == "main"]
    assert not ended.ok and not driver.of(LaneOpened)
    assert "There is no agent 'reader'. Not valid YAML: " in ended.output
    assert f"the agent is left out ({file}:3). Known: explorer" in ended.output


def test_an_agent_works_in_a_lane_of_its_own_and_its_answer_comes_back(
    project: Project, driver: Driver
) -> None:
    (project.folder / "hay.txt").write_text("hay\nneedle\n")
    driver.open(coding(project, script([ask("explorer")], LOOK)))
    assert driver.turn("where is the needle?").status == "success"
    (opened,) = driver.of(LaneOpened)
    assert (opened.name, opened.parent, opened.instruction) == ("explorer", "main", "Find it.")
    (closed,) = driver.of(LaneClosed)
    assert (closed.lane, closed.status) == (opened.lane, "success")
    assert closed.result == "It is here: hay.txt:2:needle\n[1 matching line in 1 file]"
    calls = [(e.tool, e.agent) for e in driver.of(ToolStarted)]
    assert calls == [("task", "main"), ("grep", opened.lane)]
    assert driver.answers()[-1].startswith("It is here: hay.txt:2:needle")
    assert opened.lane in driver.answers()[-1], "the session can be asked again"


def test_an_agent_has_no_module_that_was_switched_off_before_it_began(
    project: Project, driver: Driver
) -> None:
    (project.folder / "hay.txt").write_text("needle\n")
    driver.open(coding(project, script([ask("explorer")], LOOK)))
    driver.client.switch_module("tool-search", on=False)
    driver.wait(ModuleUnmounted)
    driver.turn("where is the needle?")
    assert "There is no tool named" in _searched(driver).error
    driver.client.switch_module("tool-search", on=True)
    driver.wait(ModuleMounted, lambda event: event.module_id == "tool-search")
    driver.turn("where is the needle?")
    assert _searched(driver).ok


def _searched(driver: Driver) -> ToolEnded:
    return [event for event in driver.of(ToolEnded) if event.tool == "grep"][-1]


def test_agents_called_side_by_side_each_have_their_lane(project: Project, driver: Driver) -> None:
    calls = [ask("explorer", f"Find {number}.") for number in range(3)]
    driver.open(coding(project, script(calls, LOOK)))
    driver.turn("find them all")
    lanes = driver.of(LaneOpened)
    assert sorted(lane.instruction for lane in lanes) == ["Find 0.", "Find 1.", "Find 2."]
    assert len({lane.lane for lane in lanes}) == 3
    assert {lane.lane for lane in driver.of(LaneClosed)} == {lane.lane for lane in lanes}
    ended = [e for e in driver.of(ToolEnded) if e.tool == "task"]
    assert [e.ok for e in ended] == [True] * 3


POLICIES = {
    "explorer": {"read_file", "grep", "glob"},
    "reviewer": {"read_file", "grep", "glob", "bash"},
    "tester": {"read_file", "grep", "glob", "bash"},
    "writer": {"read_file", "write_file", "edit_file", "grep", "glob"},
}
EVERY = ("bash", "edit_file", "glob", "grep", "memory", "read_file", "task", "todo", "write_file")


@pytest.mark.parametrize("agent", POLICIES)
def test_an_agent_has_the_tools_of_its_policy_and_no_others(
    project: Project, driver: Driver, agent: str
) -> None:
    # Calls without arguments: what is there complains about them, what is not there is unknown.
    child = {"try": {"call": [{tool: {}} for tool in EVERY]}, "end": {"say": "Tried."}}
    driver.open(coding(project, script([ask(agent)], child)))
    driver.client.submit("go")
    event = driver.wait(HostEvent, lambda e: isinstance(e, ApprovalRequested | TurnEnded))
    while isinstance(event, ApprovalRequested):
        driver.client.decide(event.request_id, Decision(allow=False))
        event = driver.wait(HostEvent, lambda e: isinstance(e, ApprovalRequested | TurnEnded))
    ended = {e.tool: e.error for e in driver.of(ToolEnded) if e.agent != "main"}
    missing = {tool for tool, error in ended.items() if "There is no tool named" in error}
    assert set(EVERY) - missing == POLICIES[agent]


def test_what_an_agent_changes_is_asked_about_in_its_lane_and_can_be_undone(
    project: Project, driver: Driver
) -> None:
    file = project.folder / "a.txt"
    file.write_text("before\n")
    change = {"edit_file": {"file_path": "a.txt", "old_string": "before", "new_string": "after"}}
    child = {"change": {"call": [change]}, "end": {"say": "Changed."}}
    opened = driver.open(coding(project, script([ask("writer")], child)))
    driver.client.submit("change it")
    request = driver.allow_next()
    assert request.agent != "main" and "edit_file" in request.action
    driver.wait(TurnEnded)
    assert file.read_text() == "after\n"
    index = project.folder_of(opened.session_id) / "checkpoints" / "index.jsonl"
    kinds = [json.loads(line)["kind"] for line in index.read_text().splitlines()]
    assert kinds == ["turn", "file", "after"]


def test_an_agent_that_is_not_there_is_refused_with_the_known_ones(
    project: Project, driver: Driver
) -> None:
    driver.open(coding(project, script([ask("nobody")], LOOK)))
    driver.turn("go")
    (ended,) = [e for e in driver.of(ToolEnded) if e.tool == "task"]
    assert not ended.ok and "explorer, reviewer, tester, writer" in ended.output
    assert driver.of(LaneOpened) == []


def test_an_agent_that_cannot_be_followed_ends_with_an_error(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.open(coding(project, script([ask("explorer")], LOOK)))
    monkeypatch.delattr(sub_agents, "KernelApprovals")
    assert driver.turn("where is the needle?").status == "success"
    (closed,) = driver.of(LaneClosed)
    assert closed.status == "error"
    driver.client.tell_agent(closed.lane, "Too late.")
    driver.wait(Notice, lambda notice: "does not work any more" in notice.text)


def test_an_agent_that_fails_closes_its_lane_with_an_error(
    project: Project, driver: Driver
) -> None:
    child = {"only": {"error": {"type": "AuthenticationError", "message": "no entry"}}}
    driver.open(coding(project, script([ask("explorer")], child)))
    assert driver.turn("go").status == "success"
    (closed,) = driver.of(LaneClosed)
    assert closed.status == "error" and "no entry" in closed.result
    (ended,) = [e for e in driver.of(ToolEnded) if e.tool == "task"]
    assert "no entry" in ended.output


def test_stopping_the_turn_stops_its_agents(project: Project, driver: Driver) -> None:
    driver.open(
        coding(
            project, script([ask("explorer")], {"only": {"say": "x", "delay": 600}}), speed=10_000
        )
    )
    driver.client.submit("go")
    driver.wait(LaneOpened)
    driver.client.interrupt(immediate=True)
    assert driver.wait(TurnEnded).status == "cancelled"
    (closed,) = driver.of(LaneClosed)
    assert closed.status == "cancelled"


def test_the_plan_of_the_agent_is_not_the_plan_on_the_screen(
    project: Project, driver: Driver
) -> None:
    todo = {"content": "Find out", "status": "in_progress", "activeForm": "Finding out"}
    parent = [{"todo": {"action": "create", "todos": [todo]}}, ask("explorer")]
    driver.open(coding(project, script(parent, LOOK)))
    driver.turn("go")
    changed = driver.of(TodoChanged)
    assert [item.content for item in changed[-1].items] == ["Find out"]


@pytest.mark.parametrize("rows_after", [0, 210])
def test_the_plan_is_there_again_when_the_session_is_resumed(
    project: Project, drive: Callable[..., Driver], rows_after: int
) -> None:
    todo = [{"content": name, "status": "pending", "activeForm": name} for name in ("a", "b")]
    done = [{**todo[0], "status": "completed"}, todo[1]]
    calls = [{"todo": {"action": "create", "todos": todo}}, {"todo": {"todos": done}}]
    driver = drive()
    opened = driver.open(coding(project, script(calls, LOOK)))
    assert isinstance(opened, SessionOpened)
    driver.turn("go")
    driver.close()
    transcript = project.folder_of(opened.session_id) / "transcript.jsonl"
    row = json.dumps({"role": "assistant", "content": "And on."}) + "\n"
    with transcript.open("a") as file:
        file.write(row * rows_after)
    later = drive()
    later.open(resume="last")
    items = later.of(TodoChanged)[-1].items
    assert [(item.content, item.status) for item in items] == [("a", "completed"), ("b", "pending")]


def test_the_log_of_the_session_has_the_events_of_its_agents_and_no_other_log_is_written(
    project: Project, drive: Callable[..., Driver], own_home: Path
) -> None:
    driver = drive()
    opened = driver.open(coding(project, script([ask("explorer")], LOOK)))
    assert isinstance(opened, SessionOpened)
    driver.turn("go")
    driver.close()
    lane = driver.of(LaneOpened)[0].lane
    assert lane in {row["session_id"] for row in project.log(opened.session_id)}
    logs = list((own_home / ".amplifier").rglob("events.jsonl"))
    assert logs == [project.folder_of(opened.session_id) / "events.jsonl"]


def again(session_id: str) -> dict[str, Any]:
    return {"task": {"agent": "explorer", "instruction": "And more.", "session_id": session_id}}


COUNTING = {"only": {"say": "This is turn {{turn}} for me."}}


def add_key(path: Path, key: str, value: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))


def children(project: Project) -> list[Path]:
    folder = project.folder_of("x").parent
    return sorted(path for path in folder.iterdir() if "_" in path.name)


def test_an_agent_can_be_asked_again_after_a_restart(
    project: Project,
    drive: Callable[..., Driver],
    monkeypatch: pytest.MonkeyPatch,
    own_home: Path,
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "very-secret-words")
    first = drive()
    keys = "      api_key: very-secret-words\n      extra: [very-secret-words]\n"
    task = script([ask("explorer", "Use very-secret-words.")], COUNTING)
    first.open(coding(project, task, keys))
    first.turn("go")
    first.close()
    (child,) = children(project)
    add_key(child / "metadata.json", "seen_by", {"a hook": [1]})
    assert first.of(LaneOpened)[0].lane == child.name
    second = drive()
    coding(project, script([again(child.name)], COUNTING))
    second.open(resume="last")
    second.turn("once more")
    assert second.answers()[-1].startswith("This is turn 2 for me.")
    assert [e.lane for e in second.of(LaneOpened)] == [child.name] * 2, "replayed, and live"
    rows = [json.loads(line) for line in (child / "transcript.jsonl").read_text().splitlines()]
    assert [row["role"] for row in rows] == ["user", "assistant"] * 2
    card = json.loads((child / "metadata.json").read_text())
    assert card["seen_by"] == {"a hook": [1]}
    assert (card["agent_name"], card["turn_count"]) == ("explorer", 2)
    assert card["created"] < card["updated"]
    for path in child.iterdir():
        assert "very-secret" not in path.read_text()
    cli = CliReader(own_home / ".amplifier", project.folder)
    assert cli.children_of(card["parent_id"]) == [child.name]
    assert cli.child_to_resume(child.name)["providers"][0]["module"] == "provider-mock"
    assert all(row["timestamp"] for row in rows) and rows[0]["timestamp"] < rows[2]["timestamp"]
    cards = second.client.sessions().result(10).cards
    assert [each.session_id for each in cards] == [card["parent_id"]], "agents are not listed"


def test_an_agent_of_another_session_or_of_nobody_is_not_resumed(
    project: Project, drive: Callable[..., Driver], tmp_path: Path
) -> None:
    first = drive()
    first.open(coding(project, script([ask("explorer")], COUNTING)))
    first.turn("go")
    first.close()
    (child,) = children(project)
    evil = project.folder_of("x").parent / "evil"
    evil.mkdir()
    (evil / "metadata.json").write_text('{"parent_id": "x", "agent_name": "explorer"}')
    for wanted in (child.name, "../evil", "evil", "0" * 16 + "-" + "0" * 16 + "_x"):
        other = drive()
        coding(project, script([again(wanted)], COUNTING))
        other.open("mine")
        other.turn("go")
        (ended,) = [e for e in other.of(ToolEnded) if e.tool == "task"]
        assert not ended.ok and "No sub-session" in ended.output
        other.close()


def below_task(driver: Driver, *, replayed: bool) -> list[tuple[str, str]]:
    """What stands below the calls of agents: the agent, and what it called or said."""
    found: list[tuple[str, str]] = []
    for event in driver.events:
        if event.replayed is not replayed or event.agent == "main":
            continue
        name = event.agent.partition("_")[2]
        if isinstance(event, LaneOpened):
            found.append((name, f"opened: {event.instruction}"))
        elif isinstance(event, ToolStarted):
            found.append((name, event.tool))
        elif isinstance(event, ToolEnded):
            found.append((name, event.summary))
        elif isinstance(event, BlockEnded) and event.kind == "text" and event.text:
            found.append((name, event.text))
        elif isinstance(event, LaneClosed):
            found.append((name, f"closed: {event.status} {event.result}"))
    return found


def test_what_agents_did_stands_below_their_calls_after_resume_and_fork_as_it_did_live(
    project: Project, drive: Callable[..., Driver]
) -> None:
    (project.folder / "hay.txt").write_text("hay\nneedle\n")
    first = drive()
    story = script([ask("explorer", "One."), ask("explorer", "Two.")], LOOK)
    first.open(coding(project, story))
    first.turn("where is the needle?")
    first.close()
    live = below_task(first, replayed=False)
    assert len(live) == 10 and ("explorer", "opened: One.") in live
    second = drive()
    opened = second.open(resume="last")
    shown = below_task(second, replayed=True)
    assert sorted(shown) == sorted(live)
    assert shown[0] == ("explorer", "opened: One."), "one after the other, each below its call"
    assert shown[5] == ("explorer", "opened: Two.")
    places = [(type(e).__name__, e.agent) for e in second.events if e.replayed]
    task = places.index(("ToolStarted", "main"))
    assert places[task + 1][0] == "LaneOpened" and places[task + 6] == ("ToolEnded", "main")
    second.client.fork()
    fork = second.wait(SessionOpened)
    assert fork.session_id != opened.session_id
    second.close()
    third = drive()
    third.open(resume=fork.session_id)
    assert below_task(third, replayed=True) == shown
    third.client.switch_bundle("demo")
    moved = third.wait(SessionOpened).session_id
    again = [e.lane for e in third.events if isinstance(e, LaneOpened) and e.session_id == moved]
    assert len(again) == 2


def test_a_task_an_agent_is_asked_once_more_stands_below_the_call_that_asked(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    first.open(coding(project, script([ask("explorer")], COUNTING)))
    first.turn("go")
    (child,) = children(project)
    first.close()
    for _ in range(2):
        driver = drive()
        coding(project, script([again(child.name)], COUNTING))
        driver.open(resume="last")
        driver.turn("once more")
        driver.close()
    last = drive()
    last.open(resume="last")
    texts = [text for _, text in below_task(last, replayed=True) if text.startswith("This is")]
    assert texts == [f"This is turn {turn} for me." for turn in (1, 2, 3)]


def test_a_fork_asks_an_agent_more_without_changing_what_it_did_for_the_origin(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    first.open(coding(project, script([ask("explorer")], COUNTING)))
    first.turn("go")
    first.close()
    (child,) = children(project)
    before = (child / "transcript.jsonl").read_bytes()
    second = drive()
    coding(project, script([again(child.name)], COUNTING))
    second.open(resume="last")
    second.client.fork()
    fork = second.wait(SessionOpened).session_id
    second.turn("once more")
    assert second.answers()[-1].startswith("This is turn 2 for me.")
    second.close()
    (other,) = (path for path in children(project) if path != child)
    assert other.name in second.answers()[-1], "the model is told the id it goes on under"
    assert (child / "transcript.jsonl").read_bytes() == before
    third = drive()
    third.open(resume=fork)
    texts = [text for _, text in below_task(third, replayed=True) if text.startswith("This is")]
    assert texts == [f"This is turn {turn} for me." for turn in (1, 2)]


def test_what_an_agent_says_is_on_disk_while_it_works_and_once_when_it_has_ended(
    project: Project, drive: Callable[..., Driver], tmp_path: Path
) -> None:
    (project.folder / "hay.txt").write_text("needle\n")
    slow = {**LOOK, "tell": {"say": "Late.", "delay": 600}}
    first = drive()
    opened = first.open(coding(project, script([ask("explorer")], slow), speed=10_000))
    first.client.submit("go")
    first.wait(ToolEnded, lambda event: event.agent != "main")
    path = children(project)[0] / "transcript.jsonl"

    def roles() -> list[str]:
        return [json.loads(line)["role"] for line in path.read_text().splitlines()]

    first.wait_until(lambda: len(roles()) == 3, "The tool's result never came")
    assert json.loads((path.parent / "metadata.json").read_text())["parent_id"] == opened.session_id
    # What a killed program leaves.
    copy = tmp_path / "copy"
    shutil.copytree(path.parent.parent, copy)
    first.client.interrupt(immediate=True)
    first.wait(TurnEnded)
    first.close()
    assert roles()[:3] == ["user", "assistant", "tool"] and roles().count("user") == 1
    shutil.rmtree(path.parent.parent)
    shutil.copytree(copy, path.parent.parent)
    second = drive()
    second.open(resume="last")
    shown = [text for _, text in below_task(second, replayed=True)]
    assert shown[:2] == ["opened: Find it.", "grep"] and shown[-1].startswith("closed: cancelled")


def test_an_agent_that_was_killed_in_its_work_is_closed_when_the_session_is_resumed(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    opened = first.open(coding(project, script([ask("explorer")], COUNTING)))
    first.turn("go")
    first.close()
    display = project.folder_of(opened.session_id) / "display.jsonl"
    kept = [line for line in display.read_text().splitlines() if "LaneClosed" not in line]
    display.write_text("\n".join(kept) + "\n")
    rows = project.folder_of(opened.session_id) / "transcript.jsonl"
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:2]))
    (child,) = children(project)
    (child / "transcript.jsonl").unlink()
    second = drive()
    second.open(resume="last")
    (closed,) = second.of(LaneClosed)
    assert (closed.status, closed.lane) == ("cancelled", child.name)
