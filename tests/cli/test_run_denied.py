"""A request to the model that a hook refuses is a refusal for who runs a prompt in a shell."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.cli.group import run as run_command
from tests.host.conftest import project
from tests.host.driving import Project, calling

__all__ = ["project"]

LOOP = """
__amplifier_module_type__ = "orchestrator"

class Own:
    async def execute(self, prompt, context, providers, tools, hooks, **more):
        if LATER:
            await hooks.emit("provider:request", {"provider": "first"})
            await hooks.emit("provider:response", {"finish_reason": "stop"})
        judged = await hooks.emit("provider:request", {"provider": "x"})
        if judged.action == "deny" and not IGNORES:
            return "Operation denied"
        await hooks.emit("provider:response", {"finish_reason": "stop"})
        return "An answer"

async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", Own())
"""
DENY = {"action": "deny", "reason": "out of money"}
ELSEWHERE = {"action": "modify", "data": {"provider": "gone"}}


@pytest.fixture(autouse=True)
def in_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(sys, "stdin", None)


def run(project: Project, capfd: pytest.CaptureFixture[str], **bundle: Any) -> Any:
    return run_bundle(project.bundle(**bundle), capfd)


def run_bundle(name: str, capfd: pytest.CaptureFixture[str], *options: str) -> Any:
    status = run_command(["run", "--bundle", name, "--trust", "--output", "json", *options, "hi"])
    printed = capfd.readouterr()
    result = json.loads(printed.out)
    assert result["exit_status"] == status
    return result, printed.err


@pytest.mark.parametrize(
    ("loop", "event", "answer", "reason"),
    [
        ("loop-basic", "provider:request", DENY, "out of money"),
        ("loop-streaming", "provider:request", DENY, "out of money"),
        ("loop-streaming", "provider:request", ELSEWHERE, "'gone' is not mounted"),
        ("loop-events", "loop-events:loop_started", DENY, "out of money"),
    ],
)
def test_a_request_that_a_hook_refuses_is_refused_with_its_reason(
    project: Project,
    capfd: pytest.CaptureFixture[str],
    loop: str,
    event: str,
    answer: dict[str, Any],
    reason: str,
) -> None:
    hooks = (("hooks-answer", {event: [dict(answer)]}),)
    result, said = run(project, capfd, loop=loop, hooks=hooks)
    assert (result["status"], result["exit_status"]) == ("refused", 3)
    assert "hook" in result["message"] and reason in result["message"]
    assert reason in said and "limit" not in said


def test_the_bundles_own_limit_is_a_limit_still(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    script = calling({"echo": {"text": "x"}})
    result, _ = run(project, capfd, script=script, loop_config={"max_iterations": 1})
    assert (result["status"], result["exit_status"]) == ("limit", 4)


@pytest.mark.parametrize(
    ("ignores", "later", "status"),
    [(False, False, "refused"), (True, False, "done"), (False, True, "done")],
)
def test_it_is_one_whatever_another_loop_says_of_its_end_unless_the_model_was_asked_all_the_same(
    project: Project,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    ignores: bool,
    later: bool,
    status: str,
) -> None:
    file = tmp_path / "loop-own" / "amplifier_module_loop_own" / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_text(LOOP.replace("IGNORES", str(ignores)).replace("LATER", str(later)))
    session = {"orchestrator": {"module": "loop-own", "source": str(file.parents[1])}}
    answers = [{"action": "continue"}] * later + [dict(DENY)]
    hooks = (("hooks-answer", {"provider:request": answers}),)
    result, _ = run(project, capfd, session=session, hooks=hooks)
    assert result["status"] == status


WRITE = {"write_file": {"file_path": "made.txt", "content": "made"}}


def test_what_would_do_more_than_read_is_refused_where_only_reading_is_allowed(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = (WRITE, {"bash": {"command": "touch ran.txt"}}, {"bash": {"command": "pwd"}})
    name = project.bundle(script=calling(*calls), tools=("tool-filesystem", "tool-bash"))
    result, said = run_bundle(name, capfd, "--approve", "none")
    assert (result["status"], result["exit_status"]) == ("refused", 3)
    wanted = ["write_file wants to make made.txt", "bash wants to run a command touch ran.txt"]
    assert result["refused"] == wanted
    for what in wanted:
        assert f"Refused: {what}: plan mode: " in said and "--approve none only reads" in said


def test_a_call_that_writes_what_is_there_already_is_named_without_its_arguments(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    (project.folder / "made.txt").write_text("made")
    name = project.bundle(script=calling(WRITE), tools=("tool-filesystem",))
    result, said = run_bundle(name, capfd, "--approve", "none")
    what = "write_file wants to overwrite made.txt with what it holds already"
    assert result["refused"] == [what] and f"Refused: {what}: " in said


def test_what_a_mode_or_rule_of_the_user_denies_is_part_of_a_run_that_gets_done(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    name = project.bundle(script=calling(WRITE), tools=("tool-filesystem",))
    result, _ = run_bundle(name, capfd, "--mode", "plan")
    assert (result["status"], result["refused"]) == ("done", [])
    project.allow([], deny=["write_file(made.txt)"])
    result, _ = run_bundle(name, capfd, "--approve", "none")
    assert (result["status"], result["refused"]) == ("done", [])


@pytest.mark.parametrize("event", ["prompt:submit", "provider:request"])
def test_of_a_question_that_no_rule_answers_none_is_offered(
    project: Project, capfd: pytest.CaptureFixture[str], event: str
) -> None:
    asks = {"action": "ask_user", "approval_prompt": "Really?", "reason": "it is late"}
    result, said = run(project, capfd, hooks=(("hooks-answer", {event: [asks]}),))
    assert (result["status"], result["refused"]) == ("refused", ["hooks-answer asks Really?"])
    why = "it is late; nobody can be asked: use --approve ask"
    assert f"Refused: hooks-answer asks Really?: {why}\n" in said and "a rule" not in said


@pytest.mark.parametrize("action", ["deny", "ask_user"])
def test_a_loop_that_was_just_generated_tells_a_refusal_as_one(
    project: Project, capfd: pytest.CaptureFixture[str], tmp_path: Path, action: str
) -> None:
    assert run_command(["module", "new", "orchestrator", "own", "--in", str(tmp_path)]) == 0
    capfd.readouterr()
    answer = {"action": action, "reason": "out of money"}
    hooks = (("hooks-answer", {"provider:request": [answer]}),)
    said = []
    for loop in (
        {"module": "loop-own", "source": str(tmp_path / "amplifier-module-loop-own")},
        "loop-basic",
    ):
        session = {"orchestrator": loop if isinstance(loop, dict) else {"module": loop}}
        result, _ = run(project, capfd, session=session, hooks=hooks)
        assert (result["status"], result["exit_status"]) == ("refused", 3)
        said.append((result["message"], result["remedy"], result["refused"]))
    assert said[0] == said[1]
