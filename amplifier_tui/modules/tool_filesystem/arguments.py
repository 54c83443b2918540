"""Reading the arguments of a call as leniently as is safe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_tui.modules.tool_filesystem.problems import FileProblem

Input = Mapping[str, Any]

FILE_PATH: dict[str, Any] = {
    "type": "string",
    "description": "Path of the file: relative to the workspace, or absolute inside it.",
}
"""Schema of the argument all tools have."""


def file_path(given: Input) -> Any:
    """Return the path; some models call it ``path``."""
    return given.get("file_path") or given.get("path")


def text(given: Input, name: str) -> str:
    """Return a text.

    Raises:
        FileProblem: It is missing, or something else.
    """
    value = given.get(name)
    if not isinstance(value, str):
        what = "missing" if value is None else f"a {type(value).__name__}"
        raise FileProblem(f"`{name}` must be a text, and is {what}.", "invalid_arguments")
    return value


def number(given: Input, name: str, default: int) -> int:
    """Return a whole number from 1 up.

    Raises:
        FileProblem: It is something else.
    """
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise FileProblem(
            f"`{name}` must be a whole number from 1 up, not {value!r}.", "invalid_arguments"
        )
    return value


def flag(given: Input, name: str, default: bool) -> bool:
    """Return a yes or no.

    Raises:
        FileProblem: It is something else.
    """
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise FileProblem(f"`{name}` must be true or false, not {value!r}.", "invalid_arguments")
    return value
