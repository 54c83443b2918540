"""What kind of tool a name stands for."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from amplifier_tui.base.text import printable

CallKind = Literal["read", "look", "write", "command", "unknown"]
""""read" is reading in the workspace, "look" looking elsewhere or delegating."""

_KINDS: Final[tuple[tuple[CallKind, tuple[str, ...]], ...]] = (
    (
        "read",
        (
            *("read_file", "glob", "grep", "ls", "list_*", "search_files", "find_files"),
            *("todo", "todo_*", "load_skill"),
        ),
    ),
    ("look", ("web_search", "web_fetch", "task", "delegate")),
    ("write", ("write_file", "edit_file", "apply_patch", "create_file", "delete_file")),
    ("command", ("bash", "shell", "run_command")),
)

_PATHS: Final = ("file_path", "path", "url", "query", "pattern", "text")


def kind_of(tool: str, given: Mapping[str, Any]) -> CallKind:
    """Return the kind of a tool.

    Args:
        tool: Its name.
        given: The input of the call: whatever takes a command line runs it.
    """
    if tool == "memory":
        # Notes stay when the session ends, so making and removing them is writing.
        return "read" if given.get("action") in ("search", "list") else "write"
    for kind, patterns in _KINDS:
        if any(fnmatchcase(tool, pattern) for pattern in patterns):
            return kind
    return "command" if isinstance(given.get("command"), str) else "unknown"


def sentence(tool: str, kind: CallKind, given: Mapping[str, Any]) -> str:
    """Return what a call wants to do, in one sentence.

    Args:
        tool: Name of the tool.
        kind: Its kind.
        given: The input of the call.
    """
    if kind == "command":
        return f"{tool} wants to run: {_short(given.get('command'))}"
    target = next((given[name] for name in _PATHS if isinstance(given.get(name), str)), None)
    if kind == "write":
        verb = "change" if tool == "edit_file" else "write"
        return f"{tool} wants to {verb} {_short(target)}" if target else f"{tool} wants to {verb}"
    return f"{tool} wants to run on {_short(target)}" if target else f"{tool} wants to run"


def _short(value: Any) -> str:
    text = printable(" ".join(str(value or "").split()))
    return text if len(text) <= 160 else f"{text[:160]}…"
