"""The agent's plan, as todo tools keep it."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from amplifier_tui.host.events import TodoItem

_LISTS: Final = ("todos", "items", "tasks", "plan")
_TEXTS: Final = ("content", "text", "title", "description", "step")
_DONE: Final = frozenset({"completed", "complete", "done"})
_RUNNING: Final = frozenset({"in_progress", "in-progress", "active", "doing", "running"})


def is_todo_tool(name: str) -> bool:
    """Whether a tool keeps the plan, told by its name."""
    plain = name.casefold().replace("-", "_")
    return "todo" in plain or plain in ("update_plan", "write_plan")


def read_plan(arguments: Any, result: Any) -> tuple[TodoItem, ...] | None:
    """Return the plan after a call of a todo tool, None when the call does not show it.

    Args:
        arguments: Of the call.
        result: What the tool answered; it has the last word.
    """
    output = result.get("output", result) if isinstance(result, Mapping) else result
    for source in (output, arguments):
        found = _items(source)
        if found is not None:
            return found
    return None


def _items(source: Any) -> tuple[TodoItem, ...] | None:
    if isinstance(source, Mapping):
        source = next((source[key] for key in _LISTS if isinstance(source.get(key), list)), None)
    if not isinstance(source, list):
        return None
    items = [_item(entry) for entry in source]
    return tuple(item for item in items if item is not None)


def _item(entry: Any) -> TodoItem | None:
    if isinstance(entry, str):
        return TodoItem(content=entry, status="pending")
    if not isinstance(entry, Mapping):
        return None
    content = next((entry[key] for key in _TEXTS if isinstance(entry.get(key), str)), "")
    if not content:
        return None
    active = entry.get("activeForm", entry.get("active_form"))
    return TodoItem(
        content=content,
        status=_status(entry.get("status")),
        active_form=active if isinstance(active, str) else "",
    )


def _status(value: Any) -> Literal["pending", "in_progress", "completed"]:
    word = str(value).casefold()
    if value is True or word in _DONE:
        return "completed"
    return "in_progress" if word in _RUNNING else "pending"
