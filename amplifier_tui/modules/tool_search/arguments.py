"""Reading the arguments of a call as leniently as is safe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_tui.modules._shared.tool_problem import ToolProblem

Input = Mapping[str, Any]


def pattern(given: Input) -> str:
    """Return the pattern.

    Raises:
        ToolProblem: There is none.
    """
    value = given.get("pattern")
    if not isinstance(value, str) or not value:
        raise ToolProblem("`pattern` is missing: say what to look for.", "invalid_arguments")
    return value


def number(given: Input, names: tuple[str, ...], default: int, most: int) -> int:
    """Return a whole number from 0 up, cut to `most`.

    Raises:
        ToolProblem: It is something else.
    """
    name = next((name for name in names if given.get(name) is not None), None)
    if name is None:
        return default
    value = given[name]
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ToolProblem(
            f"`{name}` must be a whole number from 0 up, not {value!r}.", "invalid_arguments"
        )
    return min(value, most)


def flag(given: Input, *names: str) -> bool:
    """Return a yes or no; missing is no.

    Raises:
        ToolProblem: It is something else.
    """
    for name in names:
        value = given.get(name)
        if value is None:
            continue
        if isinstance(value, str) and value.strip().lower() in ("true", "false"):
            value = value.strip().lower() == "true"
        if not isinstance(value, bool):
            raise ToolProblem(
                f"`{name}` must be true or false, not {value!r}.", "invalid_arguments"
            )
        return value
    return False


def choice(given: Input, name: str, choices: tuple[str, ...]) -> str:
    """Return one of some words; missing is the first.

    Raises:
        ToolProblem: It is another one.
    """
    value = given.get(name)
    if value is None or value == "":
        return choices[0]
    if value not in choices:
        raise ToolProblem(
            f"`{name}` must be one of {', '.join(choices)}, not {value!r}.", "invalid_arguments"
        )
    return str(value)


def globs(given: Input, *names: str) -> list[str]:
    """Return the path patterns of arguments, each a text or a list of texts.

    Raises:
        ToolProblem: They are something else.
    """
    found: list[str] = []
    for name in names:
        value = given.get(name)
        listed = [value] if isinstance(value, str) else value
        if listed is None:
            continue
        if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
            raise ToolProblem(f"`{name}` must be a pattern such as *.py.", "invalid_arguments")
        found += [text.strip() for text in listed if text.strip()]
    return found
