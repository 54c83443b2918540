import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import (
    ApprovalRequested,
    ApprovalResolved,
    HookTraced,
    Notice,
    ToolEnded,
    TurnEnded,
)
from amplifier_tui.host.session import gating
from tests.host.driving import Driver, Project, calling

ASK = ("hooks-test", {"ask": True, "reason": "echo is not on the list"})


def _rows(project: Project, session_id: str) -> str:
    return json.dumps(project.rows(session_id))


def test_a_call_waits_for_the_user_and_runs_when_allowed(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(ASK,)))
    driver.client.submit("go")
    request = driver.allow_next()
    assert (request.tool, request.asker) == ("echo", "hooks-test")
    assert request.why == "echo is not on the list"
    assert request.call_id
    assert driver.wait(ApprovalResolved).outcome == "allowed"
    assert driver.wait(ToolEnded).ok
    driver.wait(TurnEnded)


def test_a_command_that_would_leave_the_sandbox_says_so_in_the_head_of_the_question(
    project: Project, driver: Driver
) -> None:
    given = {"command": "touch made", "outside_sandbox": True}
    driver.open(project.bundle(script=calling({"bash": given}), tools=("tool-bash",)))
    driver.client.submit("go")
    request = driver.allow_next()
    assert request.action == "bash wants to leave the sandbox"
    assert "it wants to run outside of the sandbox" in request.reasons
    driver.wait(TurnEnded)


@pytest.mark.parametrize(
    ("mode", "problem", "given", "said"),
    [
        ("auto", "", {"command": "rm -rf /etc"}, True),
        ("auto", "there is none", {"command": "rm -rf /etc"}, False),
        ("ask", "", {"command": "rm -rf /etc"}, False),
        ("auto", "", {"command": "ls; git init sub"}, False),
        ("auto", "", {"command": "ls", "outside_sandbox": True}, False),
    ],
)
def test_in_mode_auto_a_question_says_once_that_a_yes_leaves_the_sandbox(
    project: Project,
    driver: Driver,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    problem: str,
    given: dict[str, Any],
    said: bool,
) -> None:
    monkeypatch.setattr(gating, "sandbox_problem", lambda: problem)
    bundle = project.bundle(script=calling({"bash": given}), tools=("tool-bash",))
    driver.open(bundle, mode=mode)
    driver.client.submit("go")
    request = driver.deny_next()
    assert request.unconfined is said
    driver.wait(TurnEnded)


def test_what_is_risky_and_why_it_is_asked_about_are_not_said_twice(
    project: Project, driver: Driver
) -> None:
    paths = ".git/hooks/pre-commit", "*** Begin Patch"
    given = {"file_path": paths[0], "content": "x"}
    patch = "\n".join(
        (paths[1], "*** Add File: .git/config", "+x", "*** Add File: .envrc", "+x", "*** End Patch")
    )
    calls = {"write_file": given}, {"apply_patch": {"input": patch}}
    tools = "tool-filesystem", "tool-apply-patch"
    driver.open(project.bundle(script=calling(*calls), tools=tools))
    driver.client.submit("go")
    asked = {request.tool: request for request in (driver.deny_next(), driver.deny_next())}
    assert asked["write_file"].why == "it takes effect on git"
    assert asked["write_file"].reasons == ("takes effect on git",)
    both = asked["apply_patch"]
    assert both.why == f"it {' and '.join(both.reasons)}" and len(both.reasons) == 2
    driver.wait(TurnEnded)


def test_a_denied_call_tells_the_model_why(project: Project, driver: Driver) -> None:
    opened = driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(ASK,)))
    driver.client.submit("go")
    driver.deny_next(reason="use the other file")
    ended = driver.wait(ToolEnded)
    assert ended.denied and not ended.ok and "use the other file" in ended.error
    driver.wait(TurnEnded)
    assert "User denied: use the other file" in _rows(project, opened.session_id)


def test_a_call_that_nobody_could_be_asked_about_was_not_denied_by_the_user(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(script=calling({"echo": {}}), hooks=(ASK,)))
    driver.client.submit("go")
    why = "nobody can be asked"
    driver.deny_next(reason=why, unasked=True)
    resolved = driver.wait(ApprovalResolved)
    assert (resolved.outcome, resolved.by, resolved.reason) == ("denied", "nobody", why)
    assert driver.wait(ToolEnded).denied
    driver.wait(TurnEnded)


def test_a_call_that_waits_when_the_session_ends_was_stopped_and_denied_by_nobody(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first, second = drive(), drive()
    first.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(ASK,)))
    first.client.submit("go")
    first.wait(ApprovalRequested)
    first.close()
    second.open(resume="last")
    for ended in (*first.of(ToolEnded), *second.of(ToolEnded)):
        assert ended.interrupted and not ended.denied
        assert ended.error == "The turn was stopped before it ran."
    assert second.of(ToolEnded)


def test_nobody_answering_is_not_the_user_denying(project: Project, driver: Driver) -> None:
    hook = ("hooks-test", {"ask": True, "timeout": 0.05})
    opened = driver.open(project.bundle(script=calling({"echo": {}}), hooks=(hook,)))
    driver.client.submit("go")
    resolved = driver.wait(ApprovalResolved)
    assert (resolved.outcome, resolved.by) == ("timed_out", "timeout")
    driver.wait(TurnEnded)
    rows = _rows(project, opened.session_id)
    assert "timeout" in rows and "User denied" not in rows


def test_silence_allows_what_is_harmless_when_the_hook_says_so(
    project: Project, driver: Driver
) -> None:
    hook = ("hooks-test", {"ask": True, "timeout": 0.05, "default": "allow"})
    call = {"read_file": {"file_path": "a.txt"}}
    (project.folder / "a.txt").write_text("x")
    tools = ("tool-filesystem",)
    driver.open(project.bundle(script=calling(call), tools=tools, hooks=(hook,)))
    driver.client.submit("go")
    assert driver.wait(ApprovalRequested).default == "allow"
    resolved = driver.wait(ApprovalResolved)
    assert (resolved.outcome, resolved.by) == ("allowed", "timeout")
    assert driver.wait(ToolEnded).ok
    driver.wait(TurnEnded)
    events = [e.event for e in driver.of(HookTraced) if e.event.startswith("approval:")]
    assert events == ["approval:required", "approval:granted"]


def test_silence_allows_nothing_that_would_be_asked_about_without_the_hook(
    project: Project, driver: Driver
) -> None:
    hook = ("hooks-test", {"ask": True, "timeout": 0.05, "default": "allow"})
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(hook,)))
    driver.client.submit("go")
    assert driver.wait(ApprovalRequested).default == "deny"
    assert driver.wait(ToolEnded).denied


def test_silence_never_allows_what_is_risky(project: Project, driver: Driver) -> None:
    hook = ("hooks-test", {"ask": True, "timeout": 0.05, "default": "allow"})
    call = {"write": {"file_path": "/etc/passwd", "content": "x"}}
    opened = driver.open(project.bundle(script=calling(call), hooks=(hook,)))
    driver.client.submit("go")
    request = driver.wait(ApprovalRequested)
    assert request.default == "deny" and request.risk == "critical" and request.outside
    ended = driver.wait(ToolEnded)
    assert ended.denied
    driver.wait(TurnEnded)
    assert "User denied" not in _rows(project, opened.session_id)


def test_holding_a_request_stops_its_clock(project: Project, driver: Driver) -> None:
    hook = ("hooks-test", {"ask": True, "timeout": 1.0})
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(hook,)))
    driver.client.submit("go")
    request = driver.wait(ApprovalRequested)
    driver.client.hold(request.request_id)
    with pytest.raises(AssertionError):
        driver.wait(ApprovalResolved, timeout=1.2)
    driver.client.decide(request.request_id, Decision(allow=True))
    assert driver.wait(ApprovalResolved).outcome == "allowed"


def test_two_calls_side_by_side_wait_one_behind_the_other(project: Project, driver: Driver) -> None:
    calls = ({"echo": {"text": "first"}}, {"echo": {"text": "second"}})
    driver.open(project.bundle(script=calling(*calls), hooks=(ASK,)))
    driver.client.submit("go")
    one, two = driver.wait(ApprovalRequested), driver.wait(ApprovalRequested)
    assert one.call_id != two.call_id
    assert "first" in one.payload and "second" in two.payload
    driver.client.decide(two.request_id, Decision(allow=False, reason="not this"))
    driver.client.decide(one.request_id, Decision(allow=True))
    ends = {driver.wait(ToolEnded).call_id: None for _ in range(2)}
    assert set(ends) == {one.call_id, two.call_id}
    ended = {e.call_id: e for e in driver.of(ToolEnded)}
    assert ended[one.call_id].ok and ended[two.call_id].denied
    driver.wait(TurnEnded)


def test_an_answer_for_the_session_answers_the_next_one_by_rule(
    project: Project, driver: Driver
) -> None:
    hook = ("hooks-test", {"ask": True})
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(hook,)))
    driver.client.submit("go")
    request = driver.allow_next(scope="session")
    assert request.scopes == ("once", "session", "project", "always")
    assert request.rule == "echo"
    driver.wait(TurnEnded)
    driver.client.submit("again")
    resolved = driver.wait(ApprovalResolved, lambda e: e.by == "rule")
    assert (resolved.outcome, resolved.rule) == ("allowed", "echo")
    driver.wait(TurnEnded)
    assert len(driver.of(ApprovalRequested)) == 1


def test_remembering_one_answer_answers_what_waits_behind_it(
    project: Project, driver: Driver
) -> None:
    calls = ({"echo": {"text": "first"}}, {"echo": {"text": "second"}})
    driver.open(project.bundle(script=calling(*calls), hooks=(ASK,)))
    driver.client.submit("go")
    one = driver.wait(ApprovalRequested)
    driver.wait(ApprovalRequested)
    driver.client.decide(one.request_id, Decision(allow=True, scope="session"))
    driver.wait(TurnEnded)
    assert [e.by for e in driver.of(ApprovalResolved)] == ["user", "rule"]
    assert all(e.ok for e in driver.of(ToolEnded))


def test_an_answer_that_comes_twice_or_too_late_changes_nothing(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(ASK,)))
    driver.client.submit("go")
    request = driver.allow_next()
    driver.client.decide(request.request_id, Decision(allow=False))
    driver.client.decide("never-there", Decision(allow=False))
    assert driver.wait(ToolEnded).ok
    driver.wait(TurnEnded)
    assert len(driver.of(ApprovalResolved)) == 1


def test_a_stop_withdraws_the_requests(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(ASK,)))
    driver.client.submit("go")
    driver.wait(ApprovalRequested)
    driver.client.interrupt()
    resolved = driver.wait(ApprovalResolved)
    assert (resolved.outcome, resolved.by) == ("cancelled", "stop")
    assert driver.wait(TurnEnded).status == "cancelled"


def test_the_hooks_hear_of_requests_and_answers(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(ASK,)))
    driver.client.submit("go")
    driver.deny_next(reason="no")
    driver.wait(TurnEnded)
    events = [e.event for e in driver.of(HookTraced) if e.event.startswith("approval:")]
    assert events == ["approval:required", "approval:denied"]


def test_an_approval_provider_is_given_to_modules_that_take_one(
    project: Project, driver: Driver
) -> None:
    hook = ("hooks-test", {"ask_provider": True, "risk": "critical"})
    opened = driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(hook,)))
    driver.client.submit("go")
    request = driver.deny_next(reason="rather not")
    assert (request.tool, request.risk) == ("echo", "critical")
    assert request.scopes == ("once",), "critical calls are not remembered"
    assert '"text": "x"' in request.payload
    driver.wait(TurnEnded)
    assert "rather not" in _rows(project, opened.session_id)


def test_a_provider_request_that_times_out_says_so(project: Project, driver: Driver) -> None:
    hook = ("hooks-test", {"ask_provider": True, "timeout": 0.05})
    opened = driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(hook,)))
    driver.turn("go")
    assert driver.of(ApprovalResolved)[0].outcome == "timed_out"
    assert "Approval request timed out" in _rows(project, opened.session_id)


def test_answers_are_noted_beside_the_outcomes(project: Project, driver: Driver) -> None:
    opened = driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(ASK,)))
    driver.client.submit("go")
    driver.deny_next(reason="no")
    driver.wait(TurnEnded)
    lines = (Path(opened.directory) / "display.jsonl").read_text().splitlines()
    noted = [json.loads(line) for line in lines]
    (entry,) = [line["approval"] for line in noted if "approval" in line]
    assert (entry["tool"], entry["outcome"], entry["reason"]) == ("echo", "denied", "no")
    assert entry["arguments"] == {"text": "x"} and entry["asker"] == "hooks-test"


def test_a_command_comes_with_its_parts_and_its_risk(project: Project, driver: Driver) -> None:
    call = {"bash": {"command": "ls && rm -rf build"}}
    name = project.bundle(
        script=calling(call), tools=("tool-bash",), hooks=(("hooks-approval", {}),)
    )
    driver.open(name)
    driver.client.submit("go")
    request = driver.deny_next()
    assert request.payload == "ls && rm -rf build" and request.payload_kind == "command"
    assert [s.text for s in request.segments] == ["ls", "rm -rf build"]
    assert request.risk == "high" and "deletes whole folders" in request.reasons
    assert request.cwd == str(project.folder)
    driver.wait(TurnEnded)


def test_a_message_of_a_hook_is_a_notice_with_its_source(project: Project, driver: Driver) -> None:
    hook = ("hooks-test", {"message": "watch out"})
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(hook,)))
    driver.turn("go")
    (notice,) = [e for e in driver.of(Notice) if e.text == "watch out"]
    assert notice.source.startswith("hook:")


def test_a_harmless_command_beside_what_a_tool_does_lets_nothing_through(
    project: Project, driver: Driver
) -> None:
    name = project.bundle(script=calling({"echo": {"text": "x", "command": "ls"}}))
    project.allow(["echo(ls)", "echo(ls *)"])
    driver.open(name)
    driver.client.submit("go")
    request = driver.deny_next()
    assert json.loads(request.payload) == {"text": "x", "command": "ls"}
    assert request.scopes == ("once",) and not request.rule
    driver.wait(TurnEnded)
    assert driver.of(ToolEnded)[0].denied


def test_the_rows_of_a_line_are_its_commands_and_why_it_asks_is_said(
    project: Project, driver: Driver
) -> None:
    line = "cat big.txt; for i in 1 2; do echo $i; cat <<E\n$i\nE\ndone"
    name = project.bundle(script=calling({"bash": {"command": line}}), tools=("tool-bash",))
    project.allow(())
    driver.open(name)
    driver.client.submit("go")
    request = driver.deny_next()
    assert request.action == "bash wants to run 3 commands" and request.payload == line
    rows = [segment.text for segment in request.segments]
    assert rows == ["cat big.txt", "echo $i", "cat <<E\n$i"]
    assert request.why.endswith("not sure here: the shell's own `for`")
    assert f"bash({line})" in request.rule, "what is remembered is no less than that"
    driver.wait(TurnEnded)


def test_remembering_one_answer_answers_nothing_that_a_rule_about_files_asks_about(
    project: Project, driver: Driver
) -> None:
    (project.folder / "secrets").mkdir()
    (project.folder / "secrets/plan.txt").write_text("the plan")
    (project.folder / "x.py").write_text("import sys; print(open(sys.argv[1]).read())")
    calls = ({"echo": {"text": "x"}}, {"bash": {"command": "python3 x.py secrets/plan.txt"}})
    tools = ("tool-test", "tool-bash")
    name = project.bundle(script=calling(*calls), tools=tools)
    project.allow(["bash(python3 x.py *)"], deny=["read(secrets/**)"])
    driver.open(name)
    driver.client.submit("go")
    asked = {each.tool: each for each in (driver.wait(ApprovalRequested) for _ in calls)}
    assert asked["bash"].why == "it may read what the rule read(secrets/**) denies"
    driver.client.decide(asked["echo"].request_id, Decision(allow=True, scope="session"))
    assert driver.wait(ToolEnded).tool == "echo"
    driver.client.decide(asked["bash"].request_id, Decision(allow=False))
    driver.wait(TurnEnded)
    assert [e.by for e in driver.of(ApprovalResolved)] == ["user", "user"]
    assert "the plan" not in str(driver.of(ToolEnded))
