"""What is told of calls that hooks of modules change or refuse, live and after resuming."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.host.events import ApprovalRequested, ToolEnded, ToolStarted, TurnEnded
from tests.host.asking import chat
from tests.host.driving import Driver, Project, calling
from tests.servers import LoopbackServer, ToolUse, reply

CHANGES = {"action": "modify", "data": {"tool_name": "echo", "tool_input": {"text": "other"}}}
SAME = {"action": "modify", "data": {"tool_name": "echo", "tool_input": {"text": "x"}}}
WITHHELD = "The result was withheld by a hook:"
DENIES = {"action": "deny", "reason": "not here"}


@pytest.mark.parametrize(
    ("answers", "changed", "denied"),
    [
        ([CHANGES], "hooks-answer", ""),
        ([SAME], "", ""),
        ([DENIES], "", "hooks-answer"),
        ([CHANGES, DENIES], "", "hooks-answer"),
        ([], "", ""),
    ],
    ids=["changed", "as it was", "denied", "both", "neither"],
)
def test_a_call_names_the_hook_that_changed_or_refused_it(
    project: Project,
    drive: Callable[..., Driver],
    answers: list[dict[str, Any]],
    changed: str,
    denied: str,
) -> None:
    first, second = drive(), drive()
    hooks = (("hooks-answer", {"tool:pre": answers}),)
    first.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=hooks))
    first.turn("go")
    first.close()
    second.open(resume="last")
    for driver in (first, second):
        assert driver.of(ToolStarted)[-1].changed_by == changed
        assert driver.of(ToolEnded)[-1].denied_by == denied


@pytest.mark.parametrize(
    ("answer", "withheld", "changed", "read"),
    [
        ({"action": "deny", "reason": "a secret"}, True, False, f"{WITHHELD} a secret"),
        (
            {"action": "deny"},
            *(True, False, f"{WITHHELD} The hook 'hooks-answer' denied this and gave no reason."),
        ),
        (
            {"action": "modify", "data": {"tool_name": "echo", "result": None}},
            *(True, False, f"{WITHHELD} it left nothing of it."),
        ),
        (
            {"action": "modify", "data": {"tool_name": "echo", "tool_result": "other"}},
            *(False, True, "other"),
        ),
        ({"action": "continue"}, False, False, "x"),
    ],
    ids=["withheld", "without a reason", "left nothing", "changed", "neither"],
)
def test_a_call_names_the_hook_that_withheld_or_changed_its_result(
    project: Project,
    drive: Callable[..., Driver],
    answer: dict[str, Any],
    withheld: bool,
    changed: bool,
    read: str,
) -> None:
    first, second = drive(), drive()
    hooks = (("hooks-answer", {"tool:post": [answer]}),)
    first.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=hooks))
    first.turn("go")
    first.close()
    second.open(resume="last")
    for driver in (first, second):
        ended = driver.of(ToolEnded)[-1]
        assert ended.withheld_by == ("hooks-answer" if withheld else "")
        assert ended.result_changed_by == ("hooks-answer" if changed else "")
        assert (ended.ok, ended.output) == (not withheld, read)


def test_what_the_user_denies_is_denied_by_no_hook(project: Project, driver: Driver) -> None:
    asks = ("hooks-test", {"ask": True})
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(asks,)))
    driver.client.submit("go")
    driver.deny_next()
    ended = driver.wait(ToolEnded)
    assert ended.denied and not ended.denied_by


def test_a_call_that_is_stopped_at_its_question_is_stopped_with_any_loop(
    project: Project, drive: Callable[..., Driver], tmp_path: Path
) -> None:
    assert run(["module", "new", "orchestrator", "own", "--in", str(tmp_path)]) == 0
    loop = {"module": "loop-own", "source": str(tmp_path / "amplifier-module-loop-own")}
    script = calling({"echo": {"text": "x"}}, {"nosuch": {}})
    asks = ("hooks-test", {"ask": True, "only": "echo"})
    first, second = drive(), drive()
    first.open(project.bundle(script=script, hooks=(asks,), session={"orchestrator": loop}))
    first.client.submit("go")
    first.wait(ApprovalRequested)
    first.client.interrupt()
    first.wait(TurnEnded)
    first.close()
    second.open(resume="last")
    for driver in (first, second):
        ended = next(each for each in driver.of(ToolEnded) if each.tool == "echo")
        assert (ended.ok, ended.denied, ended.interrupted) == (False, False, True)
        assert "stopped" in ended.error


def test_a_call_without_readable_arguments_or_without_a_tool_is_not_run_by_a_new_loop(
    project: Project, driver: Driver, server: LoopbackServer, tmp_path: Path
) -> None:
    assert run(["module", "new", "orchestrator", "own", "--in", str(tmp_path)]) == 0
    loop = {"module": "loop-own", "source": str(tmp_path / "amplifier-module-loop-own")}
    server.script.add(
        reply(ToolUse("echo", '{"text": "x'), ToolUse("nosuch", {"a": 1})), reply("done")
    )
    driver.open(
        project.bundle(
            providers=[chat(server)], tools=("tool-test",), session={"orchestrator": loop}
        ),
        mode="auto",
    )
    driver.turn("go")
    first, second = driver.of(ToolEnded)
    assert (first.tool, first.ok) == ("echo", False) and "JSON" in first.error
    assert (second.tool, second.ok) == ("nosuch", False) and "no tool nosuch" in second.error
    assert not driver.of(ApprovalRequested)


@pytest.mark.parametrize("arguments", [{}, {"command": "  "}, {"command": 3}, {"cmd": "ls"}])
def test_a_command_that_is_missing_is_answered_and_nobody_is_asked(
    project: Project, driver: Driver, arguments: dict[str, Any]
) -> None:
    name = project.bundle(script=calling({"bash": arguments}), tools=("tool-bash",))
    # A bundle of the tests brings a rule that lets its tools through.
    project.allow([])
    driver.open(name)
    driver.client.submit("go")
    driver.wait_until(
        lambda: bool(driver.of(ApprovalRequested) or driver.of(TurnEnded)),
        "it neither asked nor answered",
    )
    assert not driver.of(ApprovalRequested)
    assert "`command` is missing" in str(driver.of(ToolEnded)[0])
