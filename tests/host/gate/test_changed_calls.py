import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import (
    ApprovalRequested,
    ApprovalResolved,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from amplifier_tui.host.gate.calls.grants import Grants
from amplifier_tui.host.gate.calls.guarded import CHANGED, Guard
from amplifier_tui.host.gate.json_schema import schema_problem
from amplifier_tui.kernel.correlation import current_tool_call_id, tool_call
from amplifier_tui.kernel.models import ToolResult, interrupted_result, interrupted_with
from amplifier_tui.kernel.session.grant import Grant
from tests.host.driving import Driver, Project, calling

WRITE = {"write_file": {"file_path": "a.txt", "content": "theirs\n"}}
TOOLS = ("tool-filesystem",)


def _ask(project: Project, driver: Driver, **more: Any) -> ApprovalRequested:
    name = project.bundle(script=calling(WRITE), tools=TOOLS, **more)
    project.allow(())
    driver.open(name)
    driver.client.submit("go")
    return driver.wait(ApprovalRequested)


def _change(driver: Driver, request: ApprovalRequested, **arguments: object) -> str:
    return driver.client.change_call(request.request_id, json.dumps(arguments)).result(5)


def test_a_changed_call_is_asked_about_anew_and_runs_as_it_was_changed(
    project: Project, driver: Driver
) -> None:
    request = _ask(project, driver)
    assert request.editable
    given = json.loads(driver.client.call_arguments(request.request_id).result(5))
    assert given == WRITE["write_file"]
    assert _change(driver, request, file_path="b.txt", content="mine\n") == ""
    again = driver.allow_next()
    assert driver.wait(ApprovalResolved).outcome == "changed"
    assert again.call_id == request.call_id and "b.txt" in again.action and "+mine" in again.diff
    ended = driver.wait(ToolEnded)
    assert ended.ok and "+mine" in ended.diff
    driver.wait(TurnEnded)
    assert (project.folder / "b.txt").read_text() == "mine\n"
    assert not (project.folder / "a.txt").exists()
    started = [each.arguments["file_path"] for each in driver.of(ToolStarted)]
    assert started == ["a.txt", "b.txt"]
    told = next(r for r in project.rows(ended.session_id) if r["role"] == "tool")
    assert CHANGED in str(told["content"]) and "mine" in str(told["content"])


def test_a_changed_call_takes_the_place_of_what_it_was_and_no_other_comes_up_in_between(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    a, b, c, x, y = (str(tmp_path / "elsewhere" / f"{name}.txt") for name in "abcxy")
    # Calls that only read are asked about beside each other.
    reads = [{"read_file": {"file_path": each}} for each in (a, b, c)]
    name = project.bundle(script=calling(*reads), tools=TOOLS)
    project.allow(())
    driver.open(name)
    driver.client.submit("go")
    requests = sorted((driver.wait(ApprovalRequested) for _ in reads), key=lambda r: r.began)
    assert [each.paths for each in requests] == [(a,), (b,), (c,)]
    assert _change(driver, requests[1], file_path=x) == ""
    again = driver.wait(ApprovalRequested)
    assert again.paths == (x,) and again.began == requests[1].began
    gone = driver.wait(ApprovalResolved)
    assert gone.request_id == requests[1].request_id and gone.outcome == "changed"
    assert _change(driver, again, file_path=y) == ""
    assert driver.wait(ApprovalRequested).began == requests[1].began
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)


def test_the_request_of_a_changed_call_goes_before_a_rule_that_decides_about_it_is_told(
    project: Project, driver: Driver
) -> None:
    name = project.bundle(script=calling(WRITE), tools=TOOLS)
    project.allow(("write(b.txt)",))
    driver.open(name)
    driver.client.submit("go")
    request = driver.wait(ApprovalRequested)
    assert _change(driver, request, file_path="b.txt", content="x") == ""
    driver.wait(TurnEnded)
    outcomes = [(each.outcome, each.by) for each in driver.of(ApprovalResolved)]
    assert outcomes == [("changed", "user"), ("allowed", "rule")]


def test_a_rule_that_denies_holds_for_a_changed_call(project: Project, driver: Driver) -> None:
    name = project.bundle(script=calling(WRITE), tools=TOOLS)
    project.allow((), deny=["write(secret/**)"])
    driver.open(name)
    driver.client.submit("go")
    request = driver.wait(ApprovalRequested)
    assert _change(driver, request, file_path="secret/b.txt", content="x") == ""
    ended = driver.wait(ToolEnded)
    assert ended.denied and "write(secret/**)" in ended.error
    driver.wait(TurnEnded)
    assert not list(project.folder.glob("*.txt")) and not (project.folder / "secret").exists()


def test_arguments_that_the_tool_does_not_take_are_said_and_the_call_waits_on(
    project: Project, driver: Driver
) -> None:
    request = _ask(project, driver)
    assert "'file_path' is a required property" in _change(driver, request, content="x")
    assert "content: 3 is not of type 'string'" in _change(
        driver, request, file_path="b.txt", content=3
    )
    wrong = driver.client.change_call(request.request_id, '{"file_path": ').result(5)
    assert "no JSON" in wrong and "line 1, column" in wrong
    driver.client.interrupt(immediate=True)
    assert driver.wait(TurnEnded)
    assert "no longer waits" in _change(driver, request, file_path="b.txt", content="x")
    assert not driver.of(ToolEnded)[0].ok and not list(project.folder.glob("*.txt"))


def test_a_call_without_an_id_of_its_own_cannot_be_changed(
    project: Project, driver: Driver
) -> None:
    config = {"calls": list(WRITE.items())}
    request = _ask(project, driver, loop="loop-calls", loop_config=config)
    assert not request.editable
    assert driver.client.call_arguments(request.request_id).result(5) == ""
    assert "no longer" in _change(driver, request, file_path="b.txt", content="x")
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)


class _Tool:
    def __init__(self, answer: Any) -> None:
        self.answer, self.ran = answer, []

    async def execute(self, input: dict[str, Any]) -> Any:
        self.ran.append(input)
        return self.answer


async def _bound(result: Any) -> Any:
    return result


@pytest.mark.parametrize("passed", [{"n": 1}, {"n": 2}, {"n": 1, "_tool_call_id": "c1"}])
@pytest.mark.parametrize(
    "answer", ["text", ToolResult(output={"n": 1}), {"success": True, "output": "x"}, None]
)
async def test_a_changed_call_runs_once_whichever_arguments_a_loop_passes(
    passed: dict[str, Any], answer: Any
) -> None:
    grants, refused, tool = Grants(), [], _Tool(answer)
    guard = Guard(grants, lambda *who: refused.append(who), _bound, lambda: "a loop")
    grants.change("t", {"n": 1}, "c1", {"n": 2})
    grants.add("t", {"n": 2}, "c1", Grant("person"))
    result = await guard.run("t", tool, (passed,), {})
    assert [each["n"] for each in tool.ran] == [2] and not refused
    assert CHANGED in str(result.output) and '{"n": 2}' in str(result.output)
    for arguments in ({"n": 1}, {"n": 2}):
        assert not (await guard.run("t", tool, (arguments,), {})).success
    assert len(tool.ran) == 1 and len(refused) == 2


async def test_a_tool_knows_its_call_also_where_its_loop_names_it_in_events_only() -> None:
    class Told:
        async def execute(self, input: dict[str, Any]) -> Any:
            return current_tool_call_id()

    grants = Grants()
    guard = Guard(grants, lambda *_: None, _bound, lambda: "a loop")
    for call_id in ("c1", ""):
        grants.add("t", {"n": 1}, call_id, Grant("person"))
    with tool_call("of the agent that runs it"):
        assert await guard.run("t", Told(), ({"n": 1},), {}) == "c1"
    assert await guard.run("t", Told(), ({"n": 1},), {}) is None


async def test_a_changed_call_that_is_stopped_says_also_of_what_came_of_it_what_it_ran_with() -> (
    None
):
    class Stopped:
        async def execute(self, input: dict[str, Any]) -> Any:
            raise interrupted_with(ToolResult(output="half"))

    grants = Grants()
    guard = Guard(grants, lambda *_: None, _bound, lambda: "a loop")
    grants.change("t", {"n": 1}, "c1", {"n": 2})
    grants.add("t", {"n": 2}, "c1", Grant("person"))
    with pytest.raises(asyncio.CancelledError) as stopped:
        await guard.run("t", Stopped(), ({"n": 1},), {})
    part = interrupted_result(stopped.value)
    output = str(part and part.output)
    assert CHANGED in output and '{"n": 2}' in output and output.endswith("half")


async def test_nothing_of_a_call_that_was_changed_twice_is_left_for_a_later_one() -> None:
    grants, tool = Grants(), _Tool("text")
    guard = Guard(grants, lambda *_: None, _bound, lambda: "a loop")
    grants.change("t", {"n": 2}, "c1", {"n": 3})
    grants.change("t", {"n": 1}, "c1", {"n": 3})
    for number in (3, 1):
        grants.add("t", {"n": number}, "c1", Grant("person"))
        await guard.run("t", tool, ({"n": number},), {})
    assert tool.ran == [{"n": 3}, {"n": 1}]


async def test_a_call_that_was_changed_back_to_what_it_was_runs_as_one_that_was_not() -> None:
    grants, tool = Grants(), _Tool("text")
    guard = Guard(grants, lambda *_: None, _bound, lambda: "a loop")
    grants.change("t", {"n": 2}, "c1", {"n": 1})
    grants.change("t", {"n": 1}, "c1", {"n": 1})
    grants.add("t", {"n": 1}, "c1", Grant("person"))
    result = await guard.run("t", tool, ({"n": 1},), {})
    assert tool.ran == [{"n": 1}] and CHANGED not in str(result)


@pytest.mark.parametrize(
    ("value", "schema", "problem"),
    [
        ({"a": 1}, {"properties": {"a": {"type": "integer"}}}, ""),
        ({"a": 1.5}, {"properties": {"a": {"type": "integer"}}}, "a: 1.5 is not of type 'integer'"),
        ({"a": float("inf")}, {"properties": {"a": {"type": "integer"}}}, "a: inf is not of type"),
        ({"a": True}, {"properties": {"a": {"type": "number"}}}, "a: True is not of type 'number'"),
        ({"b": 1}, {"properties": {"a": {}}, "additionalProperties": False}, "'b' was unexpected"),
        ({"a": "x"}, {"properties": {"a": {"enum": ["y"]}}}, "a: 'x' is not one of ['y']"),
        (
            {"a": [{"b": 1}]},
            {"properties": {"a": {"items": {"required": ["c"]}}}},
            "a[0]: 'c' is a required",
        ),
        (
            {"a": 1},
            {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
            "a: 1 is not",
        ),
        ({"a": 0}, {"properties": {"a": {"minimum": 1}}}, "a: 0 is less than"),
        ({"a": ""}, {"properties": {"a": {"minLength": 1}}}, "a: '' should be non-empty"),
        (
            {"a": 1},
            {"$defs": {"t": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/t"}}},
            "a: 1 is not of type 'string'",
        ),
        ({"a": 1}, {"properties": {"a": {"$ref": "#/properties/a"}}}, ""),
        ({"a": 1}, {"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}, ""),
        ({"a": "a" * 40}, {"properties": {"a": {"pattern": "(a|a)*b"}}}, ""),
        ({"a": 1}, {"patternProperties": {"(a|a)*b": {}}, "additionalProperties": False}, ""),
        ({"a": 1}, {"properties": "odd", "required": ["a"], "type": 5}, ""),
    ],
)
def test_a_value_is_held_against_its_schema(
    value: object, schema: dict[str, Any], problem: str
) -> None:
    found = schema_problem(value, schema)
    assert problem in found and bool(found) == bool(problem)
