"""What the mode says happens, whatever a bundle mounts: for the session and its sub-agents."""

import json
import re
import subprocess
from typing import Any

import pytest

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import (
    ApprovalRequested,
    HookTraced,
    HostEvent,
    Mode,
    ModeChanged,
    ModuleFailed,
    ModuleMounted,
    Notice,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from amplifier_tui.paths import amplifier_home
from tests.host.driving import Driver, Project, calling
from tests.sandbox import needs_sandbox

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "read": ("read_file", {"file_path": "here.txt"}),
    "write": ("write_file", {"file_path": "made.txt", "content": "made"}),
    "look": ("bash", {"command": "cat here.txt"}),
    "command": ("bash", {"command": "touch ran.txt"}),
    "outside": ("write_file", {"file_path": "../outside.txt", "content": "made"}),
    "agents": ("write_file", {"file_path": ".claude/settings.json", "content": "{}"}),
    "critical": ("bash", {"command": "rm -rf ~"}),
}
GOES, ASKS, DENIED = "goes", "asks", "denied"
TABLE: dict[Mode, dict[str, str]] = {
    "plan": dict.fromkeys(CALLS, DENIED) | {"read": GOES, "look": GOES},
    "ask": dict.fromkeys(CALLS, ASKS) | {"read": GOES, "look": GOES},
    "edits": dict.fromkeys(CALLS, ASKS) | {"read": GOES, "look": GOES, "write": GOES},
}
BUNDLES: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "without a hook that asks": (),
    "with hooks-approval": (("hooks-approval", {}),),
    "with a published hook": (("hooks-test", {"ask_provider": True}),),
    "with two": (("hooks-approval", {"ask": ["*"]}), ("hooks-test", {"ask": True})),
}
TOOLS = ("tool-filesystem", "tool-bash", "tool-test")
LANES = ("the session", "a sub-agent")


def made(project: Project) -> set[str]:
    found = {path for path in project.folder.parent.rglob("*") if path.is_file()}
    names = {str(path.relative_to(project.folder.parent)) for path in found}
    return {name for name in names if ".amplifier" not in name and "script" not in name} - {
        "project/here.txt"
    }


def in_lane(lane: str, *more: dict[str, Any]) -> list[dict[str, Any]]:
    """A script that makes all the calls, or these, in the session or in a sub-agent."""
    calls = calling(*(more or ({tool: arguments} for tool, arguments in CALLS.values())))
    if lane == "the session":
        return [calls]
    delegating = calling({"delegate": {"text": "go as a child"}})
    return [{**calls, "name": "child", "when": {"prompt": "as a child"}}, delegating]


def finish(driver: Driver, *, allow: bool = False) -> list[ApprovalRequested]:
    """Answer everything that is asked until the turn ends."""
    asked: list[ApprovalRequested] = []
    while True:
        event = driver.wait(HostEvent, lambda e: isinstance(e, ApprovalRequested | TurnEnded))
        if not isinstance(event, ApprovalRequested):
            return asked
        asked.append(event)
        driver.client.decide(event.request_id, Decision(allow=allow))


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("mode", TABLE)
@pytest.mark.parametrize("bundle", BUNDLES)
def test_the_mode_that_is_shown_is_what_happens(
    project: Project, driver: Driver, bundle: str, mode: Mode, lane: str
) -> None:
    (project.folder / "here.txt").write_text("here")
    name = project.bundle(script=in_lane(lane), tools=TOOLS, hooks=BUNDLES[bundle])
    project.allow(["delegate"])
    driver.open(name, mode=mode)
    assert driver.wait(ModeChanged).mode == mode
    driver.client.submit("go")
    asked = [request.call_id for request in finish(driver) if request.tool != "delegate"]
    seen = {}
    for what, (tool, arguments) in CALLS.items():
        started = next(
            e for e in driver.of(ToolStarted) if (e.tool, e.arguments) == (tool, arguments)
        )
        (ended,) = [e for e in driver.of(ToolEnded) if e.call_id == started.call_id]
        assert asked.count(started.call_id) <= 1, "one call is one question"
        seen[what] = ASKS if started.call_id in asked else GOES if ended.ok else DENIED
    expected = TABLE[mode]
    if bundle in ("with a published hook", "with two"):
        # Bundles may add questions. A published hook asks before the mode has denied.
        published = bundle == "with a published hook"
        expected = {k: v if v == DENIED and not published else ASKS for k, v in expected.items()}
    assert seen == expected
    assert made(project) == ({"project/made.txt"} if seen["write"] == GOES else set())


def settings(text: str) -> None:
    """The user's own."""
    amplifier_home().mkdir(parents=True, exist_ok=True)
    (amplifier_home() / "settings.yaml").write_text(text)


OUT_OF_BOUNDS = {"bash": {"command": "touch made.txt ../outside.txt; ls $AMPLIFIER_HOME/*.yaml"}}


@needs_sandbox
@pytest.mark.parametrize("lane", LANES)
def test_auto_runs_commands_unasked_where_they_can_touch_the_workspace_alone(
    project: Project, driver: Driver, lane: str
) -> None:
    settings("{}")
    name = project.bundle(script=in_lane(lane, OUT_OF_BOUNDS), tools=TOOLS)
    project.allow(["delegate"])
    driver.open(name, mode="auto")
    driver.client.submit("go")
    assert [request.tool for request in finish(driver) if request.tool != "delegate"] == []
    assert made(project) == {"project/made.txt"}
    (ended,) = [e for e in driver.of(ToolEnded) if "ran in a sandbox" in e.output]
    assert "settings.yaml" not in ended.output


def test_auto_asks_about_commands_where_there_is_no_sandbox(
    project: Project, driver: Driver
) -> None:
    settings("sandbox: off")
    name = project.bundle(script=calling(OUT_OF_BOUNDS), tools=TOOLS)
    project.allow([])
    driver.open(name, mode="auto")
    driver.client.submit("go")
    assert [request.tool for request in finish(driver)] == ["bash"]
    assert made(project) == set()


@pytest.mark.parametrize(
    ("configured", "command", "asked"),
    [
        ("", "git status", False),
        ("", "git log --oneline | head -5", False),
        ("core.fsmonitor", "git status", True),
        ("filter.x.clean", "git diff", True),
        ("diff.external", "git diff | cat", True),
        ("", "git -C other status", True),
        ("", "cd other && git status", True),
    ],
)
def test_without_a_sandbox_git_asks_where_the_repository_names_programs(
    project: Project, driver: Driver, configured: str, command: str, asked: bool
) -> None:
    settings("sandbox: off")
    subprocess.run(["git", "init", "-q"], cwd=project.folder, check=True)
    (project.folder / "other").mkdir()
    if configured:
        subprocess.run(["git", "config", configured, "evil"], cwd=project.folder, check=True)
    name = project.bundle(script=calling({"bash": {"command": command}}), tools=TOOLS)
    project.allow([])
    driver.open(name)
    driver.client.submit("go")
    assert bool(finish(driver)) == asked


RUDE = {
    "ignores what hooks answered": {"how": "ignores"},
    "asks nobody": {"how": "silent"},
    "answers the question itself": {"how": "answers"},
    "runs other arguments than it asked about": {"how": "other arguments"},
    "runs in a task of its own": {"how": "by task"},
    "runs by keyword": {"how": "by keyword"},
}


def rude(project: Project, lane: str, **config: Any) -> str:
    calls = config.pop("calls", [["write_file", {"file_path": "made.txt", "content": "made"}]])
    config = {"calls": calls, "child": lane == "a sub-agent", **config}
    name = project.bundle(loop="loop-rude", loop_config=config, tools=TOOLS)
    project.allow([])
    return name


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("how", RUDE)
def test_an_orchestrator_that_goes_round_the_gate_gets_nothing_run(
    project: Project, driver: Driver, how: str, lane: str
) -> None:
    driver.open(rude(project, lane, **RUDE[how]))
    driver.client.submit("go")
    finish(driver, allow=True)
    assert made(project) == set()
    (notice,) = [e for e in driver.of(Notice) if e.source == "gate"]
    assert notice.level == "error" and "loop-rude" in notice.text and "write_file" in notice.text


@pytest.mark.parametrize("lane", LANES)
def test_an_orchestrator_that_asks_is_served(project: Project, driver: Driver, lane: str) -> None:
    driver.open(rude(project, lane, how="polite"))
    driver.client.submit("go")
    assert len(finish(driver, allow=True)) == 1
    assert made(project) == {"project/made.txt"}
    assert not [e for e in driver.of(Notice) if e.source == "gate"]


def test_what_goes_by_mode_needs_the_gate_as_well(project: Project, driver: Driver) -> None:
    (project.folder / "here.txt").write_text("here")
    calls = [["read_file", {"file_path": "here.txt"}]]
    driver.open(rude(project, "the session", how="silent", calls=calls))
    driver.turn("go")
    assert [e.source for e in driver.of(Notice)] == ["gate"]


def test_a_decision_counts_once(project: Project, driver: Driver) -> None:
    driver.open(rude(project, "the session", how="polite", twice=True))
    driver.client.submit("go")
    assert len(finish(driver, allow=True)) == 1
    (notice,) = [e for e in driver.of(Notice) if e.source == "gate"]
    assert "loop-rude" in notice.text


def test_a_hook_that_calls_a_tool_itself_is_refused_and_named(
    project: Project, driver: Driver
) -> None:
    call = ["write_file", {"file_path": "made.txt", "content": "made"}]
    hook = ("hooks-rude", {"calls": call})
    driver.open(project.bundle(tools=TOOLS, hooks=(hook,)))
    driver.turn("go")
    assert made(project) == set()
    (notice,) = [e for e in driver.of(Notice) if e.source == "gate"]
    assert "hooks-rude" in notice.text


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("config", [{"raises": "no idea"}, {"misspelt": "modfy"}])
def test_a_hook_that_fails_has_not_said_yes(
    project: Project, driver: Driver, config: dict[str, Any], lane: str
) -> None:
    (project.folder / "here.txt").write_text("here")
    hook = ("hooks-rude", {"only": "read_file", **config})
    driver.open(project.bundle(script=in_lane(lane), tools=TOOLS, hooks=(hook,)))
    driver.client.submit("go")
    asked = finish(driver)
    (request,) = [request for request in asked if request.tool == "read_file"]
    assert "hooks-rude" in request.why and request.scopes == ("once",)
    (failed,) = [e for e in driver.of(ModuleFailed) if e.module_id == "hooks-rude"]
    assert "judged a call" in failed.error
    for told in (request.why, failed.error):
        assert re.search(r"Error: .*\(.*hooks_rude/__init__\.py:\d+\)", told, re.S)


def test_a_hook_that_fails_again_after_it_was_mounted_anew_is_told_of_again(
    project: Project, driver: Driver
) -> None:
    (project.folder / "here.txt").write_text("here")
    hook = ("hooks-rude", {"only": "read_file", "raises": "no idea"})
    driver.open(project.bundle(script=in_lane("the session"), tools=TOOLS, hooks=(hook,)))
    for told in (1, 1, 2):
        if told == 2:
            driver.client.reload("hooks-rude")
            assert driver.wait(ModuleMounted).again
        driver.client.submit("go")
        finish(driver)
        failed = [e for e in driver.of(ModuleFailed) if e.module_id == "hooks-rude"]
        assert len(failed) == told


SAME: dict[str, Any] = {"name": "handler"}
ELSEWHERE = {"deny_prompt": "no", "deny_only": "what nobody says"}


@pytest.mark.parametrize("lane", LANES)
def test_of_two_modules_whose_handlers_have_one_name_the_one_that_asks_is_named(
    project: Project, driver: Driver, lane: str
) -> None:
    call = {"write_file": {"file_path": "made.txt", "content": "made"}}
    hooks = (("hooks-test", {"ask": True, "only": "write_file", **SAME}), ("hooks-rude", SAME))
    driver.open(project.bundle(script=in_lane(lane, call), tools=TOOLS, hooks=hooks))
    driver.client.submit("go")
    (request,) = (each for each in finish(driver, allow=True) if each.tool == "write_file")
    assert request.asker == "hooks-test"


@pytest.mark.parametrize("lane", LANES)
def test_of_two_modules_whose_handlers_have_one_name_the_one_that_fails_is_named(
    project: Project, driver: Driver, lane: str
) -> None:
    (project.folder / "here.txt").write_text("here")
    failing = {"only": "read_file", "raises": "no idea", **SAME}
    hooks = (("hooks-rude", failing), ("hooks-test", {**ELSEWHERE, **SAME}))
    driver.open(project.bundle(script=in_lane(lane), tools=TOOLS, hooks=hooks))
    driver.client.submit("go")
    (request,) = (each for each in finish(driver) if each.tool == "read_file")
    assert "hooks-rude failed" in request.why
    assert [failed.module_id for failed in driver.of(ModuleFailed)] == ["hooks-rude"]
    parts = [part for event in driver.of(HookTraced) for part in event.handlers if part.error]
    assert {(part.module, part.label) for part in parts} == {("hooks-rude", "hooks-rude: handler")}


def test_a_change_of_a_hook_is_what_is_asked_about_and_what_runs(
    project: Project, driver: Driver
) -> None:
    changes = {"file_path": "changed.txt"}
    hooks = (("hooks-rude", {"changes": changes}), ("hooks-test", {"ask": True}))
    call = {"write_file": {"file_path": "made.txt", "content": "made"}}
    driver.open(project.bundle(script=calling(call), tools=TOOLS, hooks=hooks))
    driver.client.submit("go")
    (request,) = finish(driver, allow=True)
    assert request.asker == "hooks-test" and "changed.txt" in request.action
    assert made(project) == {"project/changed.txt"}


def test_an_injection_beside_a_change_loses_none_of_both(project: Project, driver: Driver) -> None:
    config = {"changes": {"file_path": "changed.txt"}, "injects": "by the way"}
    hooks = (("hooks-rude", config),)
    call = {"write_file": {"file_path": "made.txt", "content": "made"}}
    opened = driver.open(project.bundle(script=calling(call), tools=TOOLS, hooks=hooks))
    driver.turn("go")
    assert made(project) == {"project/changed.txt"}
    assert "by the way" in json.dumps(project.rows(opened.session_id))


def test_a_call_that_a_hook_renames_is_judged_as_the_new_one(
    project: Project, driver: Driver
) -> None:
    (project.folder / "here.txt").write_text("here")
    config = {"renames": "read_file", "with": {"file_path": "here.txt"}, "only": "bash"}
    call = {"bash": {"command": "touch ran.txt"}}
    driver.open(project.bundle(script=calling(call), tools=TOOLS, hooks=(("hooks-rude", config),)))
    project.allow([])
    driver.client.submit("go")
    assert finish(driver) == []
    assert made(project) == set()
    assert [e.ok for e in driver.of(ToolEnded)] == [True]


@pytest.mark.parametrize("lane", LANES)
def test_a_renamed_call_does_not_smuggle_the_first_one_past_the_gate(
    project: Project, driver: Driver, lane: str
) -> None:
    (project.folder / "here.txt").write_text("here")
    config = {"renames": "read_file", "with": {"file_path": "here.txt"}, "only": "bash"}
    loop = {
        "how": "polite",
        "calls": [["bash", {"command": "touch ran.txt"}]],
        "child": lane == "a sub-agent",
    }
    hooks = (("hooks-rude", config),)
    driver.open(project.bundle(loop="loop-rude", loop_config=loop, tools=TOOLS, hooks=hooks))
    driver.turn("go")
    assert made(project) == set()
    assert [e.source for e in driver.of(Notice)] == ["gate"]


@pytest.mark.parametrize(
    ("path", "whom"),
    [
        (".git/hooks/pre-commit", "git"),
        (".amplifier/rules.yaml", "this program"),
        (".mcp.json", "this program"),
        (".envrc", "the environment of programs"),
        (".vscode/tasks.json", "the editor"),
        (".claude/settings.json", "other agents"),
        (".github/hooks/a.json", "other agents"),
        ("lib/x.pth", "interpreters and debuggers"),
        (".bashrc", "shells and what starts with them"),
    ],
)
def test_what_configures_programs_asks_in_every_mode_and_says_whom(
    project: Project, driver: Driver, path: str, whom: str
) -> None:
    call = {"write_file": {"file_path": path, "content": "x"}}
    driver.open(project.bundle(script=calling(call), tools=TOOLS), mode="auto")
    project.allow(["write_file", "write(**)"])
    driver.client.submit("go")
    (request,) = finish(driver)
    assert request.risk == "high" and whom in request.why
    assert request.scopes == ("once",)


@pytest.mark.parametrize("command", ["cat .env", "git show HEAD:.env"])
def test_a_command_that_reads_keys_is_asked_about_for_that(
    project: Project, driver: Driver, command: str
) -> None:
    driver.open(project.bundle(script=calling({"bash": {"command": command}}), tools=TOOLS))
    driver.client.submit("go")
    (request,) = finish(driver)
    assert request.why == "it touches keys or passwords"


@pytest.mark.parametrize("rule", ["write_file", "write", "*", "write(**)", "write(.envrc)"])
def test_no_rule_lets_what_configures_programs_through(
    project: Project, driver: Driver, rule: str
) -> None:
    call = {"write_file": {"file_path": ".envrc", "content": "x"}}
    name = project.bundle(script=calling(call), tools=TOOLS)
    project.allow([rule])
    driver.open(name)
    driver.client.submit("go")
    assert len(finish(driver)) == 1


def test_half_a_character_in_a_call_is_asked_about_and_said(
    project: Project, driver: Driver
) -> None:
    name = project.bundle(script=calling({"bash": {"command": "touch a\ud800"}}), tools=TOOLS)
    project.allow([])
    driver.open(name)
    driver.client.submit("go")
    assert [request.tool for request in finish(driver, allow=True)] == ["bash"]
    (ended,) = driver.of(ToolEnded)
    assert "can't be started" in ended.error
