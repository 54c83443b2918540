"""What a hook made of a call where that is no call any more."""

from collections.abc import Container, Mapping
from typing import Any, Final

from amplifier_tui.base.text import one_line
from amplifier_tui.kernel.hooks import HookAnswers
from amplifier_tui.kernel.mounting.contents import place_of

_KINDS: Final[dict[type, str]] = {
    type(None): "nothing",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}
_NAME_SIZE: Final = 60


def spoilt(answers: HookAnswers, tools: Container[str]) -> tuple[str, str]:
    """Return which hook made a call none any more, and what it made of it; empty where it is one.

    Args:
        answers: Of the handlers of `tool:pre`.
        tools: The names of the tools there are.
    """
    found = ("", "")
    # The first of those after which it never was a call again.
    for who, data, handler in reversed(answers.changes):
        problem = _problem(answers.given, data, tools)
        if not problem:
            break
        where = f" ({place})" if (place := place_of(handler)) else ""
        found = who, f"{who} {problem}{where}. Correct that hook, or go on without it."
    return found


def _problem(given: Mapping[str, Any], data: Mapping[str, Any], tools: Container[str]) -> str:
    """Return what is wrong with a changed call, but for what was so before."""
    was, name = given.get("tool_name"), data.get("tool_name")
    if name != was:
        if not isinstance(name, str) or not name:
            made = "an empty text" if name == "" else _kind(name)
            return f"changed the name of the tool {_named(was)} to {made}"
        if name not in tools:
            return f"changed {_named(was)} to '{_named(name)}', which is no tool here"
    arguments = data.get("tool_input")
    if isinstance(given.get("tool_input"), dict) and not isinstance(arguments, dict):
        return f"changed the arguments of {_named(was)} to {_kind(arguments)}, not an object"
    return ""


def _named(name: Any) -> str:
    return one_line(str(name), _NAME_SIZE)


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)
