"""What authors get wrong in what they mount is answered with the line and what to do."""

import gc
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel.mounting.contents import (
    event_problem,
    place_of,
    schema_problem,
    tool_name_problem,
)
from amplifier_tui.kernel.mounting.errors import place_of_error
from amplifier_tui.kernel.validation import obedience, trials
from amplifier_tui.kernel.validation.base import ValidationCheck
from amplifier_tui.kernel.validation.module_check import check_module
from tests.kernel.validation.packages import write

HOOK = """
from amplifier_tui.kernel.models import HookResult
__amplifier_module_type__ = "hook"
async def handler(event, data):
    return {answer}
async def mount(coordinator, config=None):
    return coordinator.hooks.register("{event}", handler, name="mine")
"""
TOOL = """
from amplifier_tui.kernel.models import ToolResult
__amplifier_module_type__ = "tool"
class Mine:
    name = "{name}"
    description = "Does something."
    input_schema = {schema}
    async def execute(self, input):
        return ToolResult(output="")
async def mount(coordinator, config=None):
    await coordinator.mount("tools", Mine())
"""
CONTEXT = """
__amplifier_module_type__ = "context"
class Mine:
    async def add_message(self, message): ...
    async def set_messages(self, messages): ...
    async def clear(self): ...
    async def get_messages(self):
        {first}
    async def get_messages_for_request(self, token_budget=None, provider=None):
        {second}
async def mount(coordinator, config=None):
    await coordinator.mount("context", Mine())
"""
LOOP = """
import asyncio
import time
from pathlib import Path
__amplifier_module_type__ = "orchestrator"
class Mine:
    async def execute(self, prompt, context, providers, tools, hooks, **more):
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                pass
        Path("{ended}").touch()
        return ""
async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", Mine())
"""
CHANGE = '{"action": "modify", "data": {**data, %s}}'
REFUSED = ("hook_answer", "error", 4)


async def failed(package: Path, kind: str) -> list[ValidationCheck]:
    checked = await check_module(str(package), kind)
    return [check for check in checked.result.checks if not check.passed and check.where]


@pytest.mark.parametrize(
    ("event", "answer", "name", "severity", "line", "words"),
    [
        ("tool:pre", '"yes"', "hook_answer", "error", 4, "str is not a HookResult"),
        ("tool:pre", '{"action": "alow"}', "hook_answer", "error", 4, "action: Input should be"),
        ("tool:pre", 'HookResult(action="alow")', "hook_answer", "warning", 5, "action: Input"),
        ("tool:pre", CHANGE % '"tool_input": "boo"', *REFUSED, "leaves no object as `tool_input`"),
        ("tool:pre", CHANGE % '"tool_input": None', *REFUSED, "leaves no object as `tool_input`"),
        ("tool:pre", CHANGE % '"tool_name": ""', *REFUSED, "leaves no `tool_name`"),
        ("tool:pre", '{"action": "modify", "data": {"x": 1}}', *REFUSED, "leaves no `tool_name`"),
        ("tool:pre", '{"action": "modify"}', "hook_answer", "warning", 4, "without `data` does"),
        (
            *("tool:post", 'HookResult(action="inject_context")', "hook_answer", "warning", 4),
            "without `context_injection` does nothing",
        ),
        ("tool:post", 'data["nothing"]', "hook_answer", "warning", 5, "KeyError: 'nothing'"),
        ("tool:before", "None", "hook_event", "warning", 4, "are tool:pre, tool:post, tool:error"),
        ("promt:submit", "None", "hook_event", "warning", 4, "did you mean 'prompt:submit'?"),
    ],
)
async def test_a_handler_that_answers_or_listens_wrongly_has_its_line(
    event: str, answer: str, name: str, severity: str, line: int, words: str, tmp_path: Path
) -> None:
    package = write(tmp_path, HOOK.replace("{answer}", answer).replace("{event}", event))
    (check,) = await failed(package, "hook")
    assert (check.name, check.severity) == (name, severity)
    assert check.where == f"{package / '__init__.py'}:{line}"
    assert words in check.message and check.remedy


@pytest.mark.parametrize(
    "answer",
    [
        *("None", "HookResult()", '{"action": "deny"}', "{}"),
        CHANGE % '"tool_input": {"text": "new"}',
    ],
)
async def test_handlers_that_answer_what_the_kernel_understands_pass(
    answer: str, tmp_path: Path
) -> None:
    source = HOOK.replace("{answer}", answer).replace("{event}", "tool:pre")
    checked = await check_module(str(write(tmp_path, source)), "hook")
    assert checked.result.passed
    assert "hook_answer" in [check.name for check in checked.result.checks]


@pytest.mark.parametrize(
    ("name", "schema", "check"),
    [("my tool!", "{}", "tool_name"), ("mine", '{"type": "objekt"}', "tool_input_schema")],
)
async def test_a_tool_that_no_model_can_be_given_has_its_line(
    name: str, schema: str, check: str, tmp_path: Path
) -> None:
    package = write(tmp_path, TOOL.replace("{name}", name).replace("{schema}", schema))
    (found,) = await failed(package, "tool")
    assert (found.name, found.where) == (check, f"{package / '__init__.py'}:4")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, ""),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, ""),
        ({"properties": {"a": True, "b": {"type": ["string", "null"]}}}, ""),
        ([], "should return a dict, got list"),
        ({"type": "string"}, "it must be 'object'"),
        ({"properties": []}, "properties should be a dict, got list"),
        ({"properties": {"a": "text"}}, "properties.a should be a dict, got str"),
        ({"properties": {"a": {"type": "strin"}}}, "did you mean 'string'?"),
        ({"required": "a"}, "should be a list of names"),
        ({"properties": {"a": {}}, "required": ["b"]}, "names 'b', which is no property"),
    ],
)
def test_what_is_no_schema_is_told(schema: Any, words: str) -> None:
    problem = schema_problem(schema)
    assert (words in problem) if words else not problem


def test_names_that_models_take_and_events_that_are_there_have_no_problem() -> None:
    assert not tool_name_problem("mcp__a-b__c_1")
    assert not event_problem("llm:stream_block_delta") and not event_problem("tool:pre")
    assert tool_name_problem("x" * 65) and "did you mean" not in event_problem("my:own")


@pytest.mark.parametrize("define", ["async def", "def"])
async def test_a_mount_that_is_not_awaited_has_its_line_and_no_warning_of_python(
    define: str, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    source = TOOL.format(name="mine", schema='{"type": "object"}')
    source = source.replace("await coord", "coord").replace("async def mount", f"{define} mount")
    package = write(tmp_path, source)
    checked = await check_module(str(package), "tool")
    gc.collect()
    assert not [each for each in recwarn if "never awaited" in str(each.message)]
    (check,) = [check for check in checked.result.checks if check.severity == "error"][-1:]
    if define == "async def":
        assert check.where == f"{package / '__init__.py'}:{len(source.splitlines())}"
        assert "is not awaited" in check.message and "await coordinator" in check.remedy
    else:
        assert "mount() should be async" in check.message


def test_code_without_a_file_has_no_place() -> None:
    assert place_of(len) == ""
    assert place_of(test_code_without_a_file_has_no_place).startswith(f"{Path(__file__)}:")


def test_an_error_that_is_its_own_cause_has_a_place() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert place_of_error(first) == ""


@pytest.mark.parametrize(
    ("first", "second", "severity", "line", "words"),
    [
        ("return None", "return []", "error", 7, "get_messages() returned nothing; it must"),
        ("return []", "return 'x'", "error", 9, "get_messages_for_request() returned str; it must"),
        ("return [1]", "return []", "error", 7, "get_messages() returned a list with int; it must"),
        ("return []", "raise OSError('no disk')", "warning", 9, "could not be tried: no disk"),
    ],
)
async def test_a_context_that_gives_no_messages_has_its_line(
    first: str, second: str, severity: str, line: int, words: str, tmp_path: Path
) -> None:
    package = write(tmp_path, CONTEXT.format(first=first, second=second))
    (check,) = await failed(package, "context")
    assert (check.name, check.severity) == ("context_messages", severity)
    assert check.where == f"{package / '__init__.py'}:{line}"
    assert words in check.message and check.remedy


def test_a_loop_that_swallows_its_cancellation_is_left_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(obedience, "SECONDS", 0.05)
    monkeypatch.setattr(trials, "_SECONDS_TO_STOP", 0.05)
    ended = tmp_path / "ended"
    package = write(tmp_path, LOOP.replace("{ended}", str(ended)))
    checked = trials.run_trials(check_module(str(package), "orchestrator"))
    (check,) = [check for check in checked.result.checks if check.name == "hooks_deny"]
    assert (
        not check.passed
        and check.message.endswith("it did not end within 0.05 s")
        and not ended.exists()
    )
    gc.collect()
    assert capsys.readouterr().err == ""
