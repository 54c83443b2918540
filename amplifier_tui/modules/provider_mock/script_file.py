"""Reading a script, and saying exactly where a mistake in it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

import yaml

from amplifier_tui.kernel import llm_errors
from amplifier_tui.modules.provider_mock.script import (
    Branch,
    Call,
    Failure,
    Outcome,
    Scenario,
    Script,
    Step,
    When,
)

_MAX_BYTES: Final = 4 * 1024 * 1024


class ScriptError(ValueError):
    """A script can't be read; the message says where and why."""


def read_script(path: Path) -> Script:
    """Read a script.

    Raises:
        ScriptError: The file can't be read, or has a mistake.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ScriptError(f"{path} is larger than {_MAX_BYTES} bytes")
        text = path.read_text(encoding="utf-8-sig")
        # JSON is YAML as well.
        data = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ScriptError(f"{path} can't be read: {error}") from error
    try:
        return parse_script(data)
    except ScriptError as error:
        raise ScriptError(f"{path}: {error}") from error


def parse_script(data: Any) -> Script:
    """Return a script from the data of a file.

    Raises:
        ScriptError: It has a mistake.
    """
    fields = _fields(data, "the script", {"name", "scenarios"})
    scenarios = fields.get("scenarios")
    if not isinstance(scenarios, list) or not scenarios:
        raise ScriptError("`scenarios` must be a list of at least one")
    return Script(tuple(_scenario(item, place) for place, item in enumerate(scenarios, 1)))


def _scenario(data: Any, place: int) -> Scenario:
    fields = _fields(data, f"scenario {place}", {"name", "when", "steps"})
    name = str(fields.get("name") or place)
    where = f"scenario {name!r}"
    steps = fields.get("steps")
    if not isinstance(steps, Mapping) or not steps:
        raise ScriptError(f"{where}: `steps` must map names to at least one step")
    names = [str(step) for step in steps]
    parsed = {
        step: _step(step, item, names, f"{where}, step {step!r}")
        for step, item in zip(names, steps.values(), strict=True)
    }
    return Scenario(name, _when(fields.get("when"), where), parsed)


def _when(data: Any, where: str) -> When:
    where = f"{where}, `when`"
    fields = _fields(data or {}, where, {"turn", "every", "at", "prompt", "tools"})
    tools = fields.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
        raise ScriptError(f"{where}: `tools` must be a list of names")
    return When(
        turn=_whole(fields, "turn", where),
        every=_whole(fields, "every", where),
        at=_whole(fields, "at", where, least=0) or 0,
        prompt=_pattern(fields.get("prompt"), where),
        tools=frozenset(tools),
    )


def _step(name: str, data: Any, names: list[str], where: str) -> Step:
    known = {"say", "thinking", "call", "next", "repeat", "delay", "error"}
    fields = _fields(data, where, known)
    calls = _calls(fields.get("call"), where)
    branches = _branches(fields.get("next"), names, where)
    following = names[names.index(name) + 1 :]
    if calls and not branches:
        if not following:
            raise ScriptError(f"{where}: it calls tools, so it needs a `next` step")
        branches = (Branch(following[0]),)
    delay = fields.get("delay") or 0
    if isinstance(delay, bool) or not isinstance(delay, int | float) or delay < 0:
        raise ScriptError(f"{where}: `delay` must be a number of seconds")
    return Step(
        name=name,
        say=_text(fields, "say", where),
        thinking=_text(fields, "thinking", where),
        calls=calls,
        branches=branches,
        repeat=_whole(fields, "repeat", where) or 1,
        delay=float(delay),
        error=_failure(fields.get("error"), where),
    )


def _calls(data: Any, where: str) -> tuple[Call, ...]:
    if data is None:
        return ()
    if not isinstance(data, list):
        raise ScriptError(f"{where}: `call` must be a list of `tool: {{arguments}}`")
    calls = []
    for item in data:
        if not isinstance(item, Mapping) or len(item) != 1:
            raise ScriptError(f"{where}: a call is written `tool: {{arguments}}`, not {item!r}")
        ((tool, given),) = item.items()
        if isinstance(given, Mapping):
            calls.append(Call(str(tool), {str(key): value for key, value in given.items()}))
        elif given is None or isinstance(given, str):
            calls.append(Call(str(tool), given if given is not None else {}))
        else:
            raise ScriptError(f"{where}: the arguments of {tool} must be a mapping or a text")
    return tuple(calls)


def _branches(data: Any, names: list[str], where: str) -> tuple[Branch, ...]:
    if data is None:
        return ()
    items = data if isinstance(data, list) else [{"go": data}]
    branches = []
    for item in items:
        fields = _fields(item, f"{where}, `next`", {"if", "go"})
        go = str(fields.get("go"))
        if go not in names:
            raise ScriptError(f"{where}: `go: {go}` names no step; there are {', '.join(names)}")
        branches.append(_branch(go, fields.get("if"), where))
    if branches[-1].outcome is not None or branches[-1].output is not None:
        raise ScriptError(f"{where}: the last `next` must have no `if`, so that it always goes on")
    return tuple(branches)


def _branch(go: str, condition: Any, where: str) -> Branch:
    if condition is None:
        return Branch(go)
    outcomes: tuple[Outcome, ...] = get_args(Outcome)
    for outcome in outcomes:
        if condition == outcome:
            return Branch(go, outcome=outcome)
    if isinstance(condition, Mapping) and set(condition) == {"output"}:
        return Branch(go, output=_pattern(condition["output"], where))
    raise ScriptError(
        f"{where}: `if` must be {', '.join(outcomes)} or {{output: pattern}}, not {condition!r}"
    )


def _failure(data: Any, where: str) -> Failure | None:
    if data is None:
        return None
    where = f"{where}, `error`"
    known = {"type", "message", "status_code", "retryable", "retry_after"}
    fields = dict(_fields(data, where, known))
    kind = str(fields.pop("type", "LLMError"))
    if kind not in llm_errors.__all__:
        raise ScriptError(f"{where}: there is no {kind}; known are {', '.join(llm_errors.__all__)}")
    message = str(fields.pop("message", "The script says so."))
    return Failure(kind, message, fields)


def _fields(data: Any, where: str, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise ScriptError(f"{where} must be a mapping, not {type(data).__name__}")
    unknown = [str(key) for key in data if key not in known]
    if unknown:
        raise ScriptError(
            f"{where}: unknown key {', '.join(unknown)}; known are {', '.join(sorted(known))}"
        )
    return data


def _text(fields: Mapping[str, Any], name: str, where: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ScriptError(f"{where}: `{name}` must be a text")
    return value


def _whole(fields: Mapping[str, Any], name: str, where: str, least: int = 1) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ScriptError(f"{where}: `{name}` must be a whole number from {least} up")
    return value


def _pattern(text: Any, where: str) -> re.Pattern[str] | None:
    if text is None:
        return None
    try:
        return re.compile(str(text), re.IGNORECASE)
    except re.error as error:
        raise ScriptError(f"{where}: {text!r} is not a regular expression: {error}") from error
