"""What authors get wrong in what they mount is answered with the line and what to do."""

import gc
import signal
from math import nan
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel.mounting.contents import (
    event_problem,
    place_of,
    tool_name_problem,
)
from amplifier_tui.kernel.mounting.errors import place_of_error
from amplifier_tui.kernel.mounting.schemas import ARGUMENT, SCHEMA, argument_problem, schema_problem
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
    rows = []
    async def add_message(self, message):
        {keep}
    async def set_messages(self, messages): ...
    async def clear(self):
        self.rows.clear()
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
LACKS = ("hook_answer", "warning", 4)


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
        ("prompt:submit", CHANGE % '"prompt": ""', *LACKS, "leaves no text as `prompt`"),
        ("tool:post", CHANGE % '"result": None', *LACKS, "leaves nothing as `result`"),
        ("tool:pre", '{"action": "modify"}', "hook_answer", "warning", 4, "without `data` does"),
        ("tool:post", 'HookResult(action="inject_context")', *LACKS, "`context_injection` does"),
        (
            *("tool:pre", '{"action": "deny", "reasn": "x"}', "hook_answer", "warning", 4),
            "has no field 'reasn' ('reason' is meant?)",
        ),
        ("execution:start", '{"action": "deny"}', "hook_answer", "warning", 4, "stops nothing; it"),
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


async def test_a_hook_that_registers_nothing_has_the_line_where_it_could(tmp_path: Path) -> None:
    package = write(tmp_path, HOOK.partition("    return coordinator")[0] + "    pass")
    checked = await check_module(str(package), "hook")
    (check,) = [each for each in checked.result.checks if each.name == "protocol_compliance"]
    assert (check.passed, check.severity) == (True, "warning")
    assert f"mount() at {package / '__init__.py'}:6" in check.message
    assert 'coordinator.hooks.register("tool:pre", handler)' in check.message


async def test_a_tool_that_is_checked_as_a_hook_is_said_to_be_mounted_with_the_tools(
    tmp_path: Path,
) -> None:
    package = write(tmp_path, TOOL.replace("{name}", "mine").replace("{schema}", "{}"))
    checked = await check_module(str(package), "hook")
    (check,) = [each for each in checked.result.checks if each.name == "protocol_compliance"]
    assert check.message.endswith("; it mounted at: tools")


async def test_swapped_arguments_of_a_registration_have_their_line(tmp_path: Path) -> None:
    source = HOOK.replace("{answer}", "None").replace('"{event}", handler', 'handler, "tool:pre"')
    package = write(tmp_path, source)
    (check,) = await failed(package, "hook")
    assert check.where == f"{package / '__init__.py'}:7" and check.severity == "error"
    assert check.message.endswith(
        "TypeError: register() takes (event, handler), and got a function as the event"
    )


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


async def test_dependencies_that_are_no_list_are_warned_of(tmp_path: Path) -> None:
    package = write(tmp_path, TOOL.replace("{name}", "mine").replace("{schema}", "{}"))
    toml = tmp_path / "pyproject.toml"
    entry = f'[project.entry-points."amplifier.modules"]\ntool-mine = "{package.name}:mount"\n'
    toml.write_text(f'[project]\nname = "mine"\ndependencies = "humanize"\n{entry}')
    (check,) = await failed(package, "tool")
    assert (check.name, check.severity, check.where) == ("pyproject", "warning", str(toml))
    assert "should be a list, got str" in check.message
    assert check.remedy == 'Write: dependencies = ["package"]'


async def test_a_tool_whose_schema_no_request_can_hold_is_no_tool(tmp_path: Path) -> None:
    schema = '{"properties": {"path": {"default": __import__("pathlib").PurePosixPath(".")}}}'
    package = write(tmp_path, TOOL.replace("{name}", "mine").replace("{schema}", schema))
    (found,) = await failed(package, "tool")
    assert (found.name, found.severity) == ("tool_input_schema", "error")
    assert found.where == f"{package / '__init__.py'}:4" and found.remedy == SCHEMA
    place = "Tool.input_schema.properties.path.default"
    assert found.message == f"{place} is PurePosixPath('.'), which is no JSON"


ENDLESS: dict[str, Any] = {}
ENDLESS["items"] = ENDLESS


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
        (
            {"properties": {"a": {"type": str}}},
            "input_schema.properties.a.type is <class 'str'>, which is no JSON",
        ),
        ({"properties": {"a": {"enum": [1, {2}]}}}, "properties.a.enum.1 is {2}, which is no JSON"),
        ({"properties": {"a": {"default": nan}}}, "properties.a.default is nan, which is no JSON"),
        ({"properties": {("a", "b"): {}}}, "properties is {('a', 'b'): {}}, which is no JSON"),
        (ENDLESS, "input_schema.items is {'items': {'items': "),
    ],
)
def test_what_is_no_schema_is_told(schema: Any, words: str) -> None:
    problem = schema_problem(schema)
    assert (words in problem) if words else not problem


@pytest.mark.parametrize(
    "schema",
    ['{"text": {"type": "string"}}', '{"type": "object", "text": "string"}', '{"text": "int"}'],
)
async def test_an_argument_that_no_model_sees_has_its_line(schema: str, tmp_path: Path) -> None:
    package = write(tmp_path, TOOL.replace("{name}", "mine").replace("{schema}", schema))
    (found,) = await failed(package, "tool")
    assert (found.name, found.severity, found.remedy) == ("tool_input_schema", "warning", ARGUMENT)
    assert found.where == f"{package / '__init__.py'}:4"
    assert found.message.startswith("Tool.input_schema has 'text' outside of properties")


GETTER = TOOL.replace("input_schema = {schema}", "def get_schema(self): return {schema}")


async def test_a_tool_that_tells_its_schema_by_get_schema_passes(tmp_path: Path) -> None:
    schema = '{"type": "object", "properties": {"city": {"type": "string"}}}'
    source = GETTER.replace("{name}", "mine").replace("{schema}", schema)
    found = await check_module(str(write(tmp_path, source)), "tool")
    (check,) = (each for each in found.result.checks if each.name == "tool_input_schema")
    assert check.passed, check.message
    assert check.message == "Tool.get_schema() returns dict with 1 properties"


@pytest.mark.parametrize(
    ("schema", "severity", "words"),
    [
        ('{"type": "objekt"}', "warning", "Tool.get_schema() has the type 'objekt'"),
        ('{"properties": {"a": {"type": str}}}', "error", "Tool.get_schema().properties.a.type is"),
        ('{"text": {"type": "string"}}', "warning", "Tool.get_schema() has 'text' outside of"),
        ("1 / 0", "warning", "get_schema() raises ZeroDivisionError("),
        ("None", "warning", "Tool.get_schema() should return a dict, got NoneType"),
    ],
)
async def test_what_is_wrong_with_the_answer_of_get_schema_has_its_line(
    schema: str, severity: str, words: str, tmp_path: Path
) -> None:
    source = GETTER.replace("{name}", "mine").replace("{schema}", schema)
    (found,) = await failed(write(tmp_path, source), "tool")
    assert (found.name, found.severity) == ("tool_input_schema", severity)
    assert words in found.message and found.where


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "title": "object", "description": "string"},
        {"properties": {"a": {"type": "string"}}, "returns": {"type": "string"}},
        {"type": "object", "properties": {}, "outputSchema": {"type": "object"}},
        {"$ref": "#/$defs/object", "$defs": {"object": {"type": "object"}}},
        {"anyOf": [{"properties": {"a": {"type": "string"}}}], "not": {"type": "null"}},
        {"type": "object", "additionalProperties": {"type": "string"}, "default": {"type": "null"}},
        {"if": {"type": "object"}, "then": {"type": "object"}, "else": {"type": "object"}},
        {"patternProperties": {"^a": {"type": "string"}}, "propertyNames": {"type": "string"}},
        {"cache_control": {"type": "ephemeral"}, "strict": True, "x-from": {"type": "string"}},
        [],
    ],
)
def test_keywords_of_a_schema_are_taken_for_no_arguments(schema: Any) -> None:
    assert argument_problem(schema) == ""


def test_names_that_models_take_and_events_that_are_there_have_no_problem() -> None:
    assert not tool_name_problem("mcp__a-b__c_1")
    assert not event_problem("llm:stream_block_delta") and not event_problem("tool:pre")
    assert "did you mean" not in event_problem("my:own")


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


KEEP, ALL = "self.rows.append(message)", "return list(self.rows)"


async def context_checks(
    package: Path, first: str = ALL, second: str = ALL, keep: str = KEEP
) -> list[ValidationCheck]:
    return await failed(
        write(package, CONTEXT.format(first=first, second=second, keep=keep)), "context"
    )


@pytest.mark.parametrize(
    ("first", "second", "severity", "line", "words"),
    [
        ("return None", ALL, "error", 10, "get_messages() returned nothing; it must"),
        (ALL, "return 'x'", "error", 12, "get_messages_for_request() returned str; it must"),
        ("return [1]", ALL, "error", 10, "get_messages() returned a list with int; it must"),
        (ALL, "raise OSError('no disk')", "warning", 12, "could not be tried: OSError: no disk"),
    ],
)
async def test_a_context_that_gives_no_messages_has_its_line(
    first: str, second: str, severity: str, line: int, words: str, tmp_path: Path
) -> None:
    (check,) = await context_checks(tmp_path, first, second)
    assert (check.name, check.severity) == ("context_messages", severity)
    assert check.where.endswith(f"__init__.py:{line}")
    assert words in check.message and check.remedy


async def test_a_context_that_forgets_what_it_was_given_has_its_lines(tmp_path: Path) -> None:
    checks = await context_checks(tmp_path, keep="pass")
    assert [check.name for check in checks] == ["context_keeps"] * 2
    assert [check.where.rpartition(":")[2] for check in checks] == ["10", "12"]
    assert all(check.severity == "error" and check.remedy for check in checks)
    (check,) = await context_checks(tmp_path, second="return []")
    assert check.where.endswith(":12") and "does not return what add_message()" in check.message
    (check,) = await context_checks(tmp_path, keep="raise KeyError('id')")
    assert check.severity == "warning" and check.where.endswith(":6")
    assert "KeyError: 'id'" in check.message


async def test_a_context_whose_messages_are_none_once_it_has_some_has_its_line(
    tmp_path: Path,
) -> None:
    texts = "return [each['content'] for each in self.rows]"
    (check,) = await context_checks(tmp_path, second=texts)
    assert (check.name, check.severity) == ("context_messages", "error")
    assert check.where.endswith(":12") and "returned a list with str" in check.message


@pytest.mark.parametrize(
    ("rows", "severities", "words"),
    [
        (
            "[{'content': each['content']} for each in self.rows]",
            ["error", "error"],
            "returns a row without 'role'; it has 'content'",
        ),
        (
            "[each for each in self.rows if each['role'] != 'tool']",
            ["error", "warning"],
            "drops 1 of 4 rows that add_message() was given: those of tool",
        ),
        (
            "self.rows[-2:]",
            ["error", "warning"],
            "drops 2 of 4 rows that add_message() was given: those of user, assistant",
        ),
        ("self.rows[::-1]", ["error", "warning"], "in another order than they were added in"),
    ],
)
async def test_a_context_that_returns_other_rows_than_it_was_given_has_its_lines(
    tmp_path: Path, rows: str, severities: list[str], words: str
) -> None:
    checks = await context_checks(tmp_path, f"return {rows}", f"return {rows}")
    assert [check.severity for check in checks] == severities
    assert [check.where.rpartition(":")[2] for check in checks] == ["10", "12"]
    assert all(words in check.message and check.remedy for check in checks)


async def test_a_context_that_clears_nothing_has_its_line(tmp_path: Path) -> None:
    source = CONTEXT.format(first=ALL, second=ALL, keep=KEEP).replace("self.rows.clear()", "pass")
    (check,) = await failed(write(tmp_path, source), "context")
    assert (check.name, check.severity) == ("context_clears", "error")
    assert check.where.endswith(":8") and check.remedy
    assert check.message == "ContextManager.clear() leaves what add_message() was given"


async def test_messages_that_a_context_has_already_are_left_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "added"
    keep = f"__import__('pathlib').Path({str(file)!r}).touch(); {KEEP}"
    assert not await context_checks(tmp_path, keep=keep)
    assert file.exists()
    file.unlink()
    there = "return [{'role': 'user'}, *self.rows]"
    assert not await context_checks(tmp_path, there, there, keep)
    assert not file.exists()


async def test_a_context_that_fails_in_its_trial_is_cleared_too(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    keep = f"__import__('pathlib').Path({str(file)!r}).touch(); {KEEP}"
    fails = "return self.rows[0]['id'] if self.rows else []"
    source = CONTEXT.format(first=ALL, second=fails, keep=keep)
    clear = f"__import__('os').remove({str(file)!r})"
    (check,) = await failed(write(tmp_path, source.replace("self.rows.clear()", clear)), "context")
    assert check.name == "context_keeps" and "KeyError: 'id'" in check.message
    assert not file.exists()


@pytest.mark.parametrize(
    ("define", "severity", "words"),
    [
        ("async def", "warning", "does not take token_budget, provider, which loops give it"),
        ("def", "error", "should be async"),
    ],
)
async def test_a_context_that_does_not_take_what_loops_give_it_has_its_line(
    define: str, severity: str, words: str, tmp_path: Path
) -> None:
    takes = "async def get_messages_for_request(self, token_budget=None, provider=None)"
    source = CONTEXT.format(first=ALL, second=ALL, keep=KEEP)
    assert takes in source
    source = source.replace(takes, f"{define} get_messages_for_request(self)")
    (check,) = await failed(write(tmp_path, source), "context")
    assert (check.name, check.severity) == ("context_get_messages_for_request", severity)
    assert words in check.message and check.where.endswith(":12")
    assert check.remedy == f"Define it as: {takes}"


async def test_a_loop_that_fails_as_it_runs_has_its_line(tmp_path: Path) -> None:
    head, loop, tail = LOOP.partition("        until = time")
    package = write(tmp_path, f"{head}        nobody = {{}}['nobody']\n{loop}{tail}")
    (check,) = await failed(package, "orchestrator")
    assert (check.name, check.severity) == ("hooks_deny", "warning")
    assert check.where == f"{package / '__init__.py'}:8"
    assert "KeyError: 'nobody'" in check.message and check.remedy


@pytest.mark.parametrize("forever", ["await providers['trial'].complete(None)", "pass"])
def test_a_loop_without_an_end_is_an_error_with_its_line(
    forever: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(obedience, "SECONDS", 0.05)
    monkeypatch.setattr(trials, "_SECONDS_TO_STOP", 0.05)
    before = signal.getsignal(signal.SIGALRM)
    head, _, tail = LOOP.partition("        until = time")
    loop = f"{head}        while True:\n            {forever}\n"
    package = write(tmp_path, loop + tail[tail.index("async def mount") :])
    (check,) = trials.run_trials(failed(package, "orchestrator"))
    assert (check.name, check.severity) == ("orchestrator_answer", "error")
    assert check.message.endswith("execute() did not end within 0.05 s") and check.remedy
    assert check.where == f"{package / '__init__.py'}:7"
    assert signal.getsignal(signal.SIGALRM) is before


def test_a_loop_that_swallows_its_cancellation_is_left_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(obedience, "SECONDS", 0.05)
    monkeypatch.setattr(trials, "_SECONDS_TO_STOP", 0.05)
    ended = tmp_path / "ended"
    package = write(tmp_path, LOOP.replace("{ended}", str(ended)))
    checked = trials.run_trials(check_module(str(package), "orchestrator"))
    (check,) = checked.result.errors
    assert (
        check.message.endswith("execute() did not end within 0.05 s")
        and check.where == f"{package / '__init__.py'}:7"
        and not ended.exists()
    )
    gc.collect()
    assert capsys.readouterr().err == ""
