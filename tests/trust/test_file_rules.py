"""Rules about files that a bundle gives to hooks-approval hold as the user's own do."""

from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import Notice, ToolEnded, ToolStarted, TurnEnded
from amplifier_tui.host.gate.rules.file import (
    add_rules,
    load_rules,
    project_rules_path,
    user_rules_path,
)
from amplifier_tui.host.gate.rules.text import parse_rule
from amplifier_tui.host.session.places.worktrees import make_worktree
from tests.host.driving import Driver, Project, calling
from tests.host.session.worktree_stage import commit, git
from tests.trust.test_gate import TOOLS, finish, in_lane

PLAN = "secrets/plan.txt"
READ = {"read_file": {"file_path": PLAN}}
CAT = {"bash": {"command": f"cat {PLAN}"}}
WRITE = {"write_file": {"file_path": PLAN, "content": "new"}}


@pytest.mark.parametrize("by", ["a bundle", "the user"])
@pytest.mark.parametrize("lane", ["the session", "a sub-agent"])
@pytest.mark.parametrize("verdict", ["deny", "ask"])
@pytest.mark.parametrize(
    ("rule", "call"),
    [
        ("read(secrets/**)", READ),
        ("read_file(secrets/plan.txt)", READ),
        ("read(secrets/**)", CAT),
        ("write(secrets/**)", WRITE),
    ],
)
def test_a_rule_about_files_holds(
    project: Project,
    driver: Driver,
    rule: str,
    call: dict[str, Any],
    verdict: str,
    lane: str,
    by: str,
) -> None:
    (project.folder / "secrets").mkdir()
    (project.folder / PLAN).write_text("the plan")
    hooks = (("hooks-approval", {verdict: [rule]}),) if by == "a bundle" else ()
    name = project.bundle(script=in_lane(lane, call), tools=TOOLS, hooks=hooks)
    project.allow(["delegate"], **({verdict: [rule]} if by == "the user" else {}))
    driver.open(name, mode="edits")
    driver.client.submit("go")
    asked = [request.tool for request in finish(driver)]
    assert asked == (list(call) if verdict == "ask" else [])
    ended = [event for event in driver.of(ToolEnded) if event.ok]
    assert not [event for event in ended if "the plan" in str(event)]
    assert (project.folder / PLAN).read_text() == "the plan"


def test_what_is_decided_for_a_project_holds_in_its_worktree_about_the_files_there(
    project: Project, driver: Driver
) -> None:
    calls = calling(WRITE, {"write_file": {"file_path": "made.txt", "content": "new"}})
    name = project.bundle(script=calls, tools=TOOLS)
    git(project.folder, "init", "-q")
    commit(project.folder, "made.txt")
    project.allow([])
    rule = parse_rule("write(secrets/**)", "deny")
    add_rules(user_rules_path(), (rule,), project.folder)
    tree = Path(make_worktree(project.folder, "fix").path)
    driver.cwd = tree
    driver.open(name)
    driver.client.submit("go")
    asked = driver.allow_next(scope="project")
    driver.wait(TurnEnded)
    where = f"kept for {project.folder.resolve()}, of which this is a worktree"
    driver.wait_until(lambda: where in str(driver.of(Notice)), "it is not kept")
    assert "made.txt" in asked.action and not (tree / "secrets").exists()
    assert (tree / "made.txt").read_text() == "new"
    kept = [f"{each.verdict} {each}" for each in load_rules(project.folder)[0]]
    assert kept[-2:] == ["deny write(secrets/**)", "allow write_file(**)"]


def test_what_is_denied_for_a_project_is_denied_to_a_session_that_starts_below_it(
    project: Project, driver: Driver
) -> None:
    top = project.folder.resolve().parent
    git(top, "init", "-q")
    (project.folder / "secrets").mkdir()
    (project.folder / PLAN).write_text("the plan")
    name = project.bundle(script=calling(READ, CAT), tools=TOOLS)
    project.allow([])
    for verdict, text in (("deny", f"read({project.folder.name}/secrets/**)"), ("allow", "echo")):
        add_rules(user_rules_path(), (parse_rule(text, verdict),), top)
    driver.open(name, mode="auto")
    driver.client.submit("go")
    assert finish(driver) == []
    assert [event.ok for event in driver.of(ToolEnded)] == [False, False]
    where = f"Rules for {top} that allow do not count in this folder (1)."
    driver.wait_until(lambda: where in str(driver.of(Notice)), "what does not count is not said")


LOST = "deny: ['read(secrets/**)]\n", "deny: read(secrets/**)\n", "deny: ['read(secrets/**']\n"


@pytest.mark.parametrize("lane", ["the session", "a sub-agent"])
@pytest.mark.parametrize(
    ("whose", "lost"),
    [(whose, text) for whose in ("the user's", "the project's") for text in LOST]
    + [("a bundle's", "read(secrets/**")],
)
def test_while_a_rule_that_denies_is_lost_reading_asks(
    project: Project, driver: Driver, whose: str, lost: str, lane: str
) -> None:
    (project.folder / "secrets").mkdir()
    (project.folder / PLAN).write_text("the plan")
    hooks = (("hooks-approval", {"deny": [lost]}),) if whose == "a bundle's" else ()
    name = project.bundle(script=in_lane(lane, READ), tools=TOOLS, hooks=hooks)
    project.allow(["read(**)"])
    if whose != "a bundle's":
        files = {
            "the user's": user_rules_path(),
            "the project's": project_rules_path(project.folder),
        }
        files[whose].write_text(lost)
    driver.open(name, mode="auto")
    driver.client.add_rule("delegate", "session").result(10)
    driver.client.submit("go")
    assert "read_file" in [request.tool for request in finish(driver)]
    assert not [event for event in driver.of(ToolEnded) if "the plan" in str(event)]
    said = [notice.text for notice in driver.of(Notice) if notice.source == "rules"]
    assert any("nothing goes unasked, not even reading" in text for text in said), said


def test_other_files_and_other_rules_of_the_list_are_as_before(
    project: Project, driver: Driver
) -> None:
    (project.folder / "here.txt").write_text("here")
    calls = calling({"read_file": {"file_path": "here.txt"}}, {"bash": {"command": "ls -a"}})
    rules = {"deny": ["read(secrets/**)", "bash(ls)"]}
    name = project.bundle(script=calls, tools=TOOLS, hooks=(("hooks-approval", rules),))
    driver.open(name)
    driver.client.submit("go")
    assert finish(driver) == []
    tools = {event.call_id: event.tool for event in driver.of(ToolStarted)}
    went = {tools[event.call_id]: event.ok for event in driver.of(ToolEnded)}
    assert went == {"read_file": True, "bash": False}


def test_a_bundles_rule_about_a_server_refuses_its_pages_and_asks_about_others_as_before(
    project: Project, driver: Driver
) -> None:
    fetches = [{"web_fetch": {"url": f"https://{host}.invalid/"}} for host in ("evil", "other")]
    hooks = (("hooks-approval", {"deny": ["web(evil.invalid)"]}),)
    name = project.bundle(script=calling(*fetches), tools=(*TOOLS, "tool-web"), hooks=hooks)
    driver.open(name)
    driver.client.submit("go")
    (asked,) = finish(driver)
    assert "other.invalid" in asked.payload
