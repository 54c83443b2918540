"""``todo``."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules.tool_todo.items import STATUSES, Item, read_items

logger = logging.getLogger(__name__)

CAPABILITY: Final = "todo.items"
MAX_ITEMS: Final = 100
_ACTIONS: Final = ("create", "update", "list")


class TodoTool:
    """Keeps one list.

    Args:
        coordinator: Has the conversation, from which a resumed session's list is read.
        max_items: Most items of the list.
    """

    name = "todo"

    def __init__(self, coordinator: Any, max_items: int = MAX_ITEMS) -> None:
        self._coordinator = coordinator
        self._max_items = max_items
        self._items: list[Item] | None = None

    @property
    def description(self) -> str:
        """What it does, for the model."""
        return (
            "Your plan for work of three steps or more: create it, and give the whole list again "
            "with every change. One item is in_progress while you work on it; mark it completed "
            "as soon as it is done, and only then. Not for one-step requests or conversation."
        )

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""
        item = {
            "type": "object",
            "properties": {
                "content": {"type": "string", "description": "What to do: Run the tests."},
                "status": {"type": "string", "enum": list(STATUSES)},
                "activeForm": {
                    "type": "string",
                    "description": "The same while it goes on: Running the tests.",
                },
            },
            "required": ["content", "status", "activeForm"],
        }
        return {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": list(_ACTIONS)},
                "todos": {
                    "type": "array",
                    "items": item,
                    "description": "The whole list; for create and update.",
                },
            },
            "required": ["action"],
        }

    async def items(self) -> list[dict[str, Any]]:
        """Return the list as it is now."""
        if self._items is None:
            self._items = await self._from_conversation()
        return [dict(item) for item in self._items]

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Change or show the list.

        Args:
            input: See :attr:`input_schema`.
        """
        action = input.get("action") or ("update" if input.get("todos") is not None else "list")
        if action not in _ACTIONS:
            return _failed(f"`action` must be one of {', '.join(_ACTIONS)}, not {action!r}.")
        if action == "list":
            items = await self.items()
            return ToolResult(output={"status": "listed", "count": len(items), "todos": items})
        try:
            self._items = read_items(input.get("todos"), self._max_items)
        except ValueError as error:
            return _failed(str(error))
        todos = await self.items()
        return ToolResult(output={"status": f"{action}d", "count": len(todos), "todos": todos})

    async def _from_conversation(self) -> list[Item]:
        """Return the list of the last call that changed it; empty without one."""
        context = self._coordinator.get("context")
        if context is None:
            return []
        messages = context.get_messages()
        messages = await messages if inspect.isawaitable(messages) else messages
        for message in reversed(messages):
            for call in reversed(_calls(message)):
                given = _arguments(call) if call.get("name", call.get("tool")) == self.name else {}
                if given.get("todos") is None:
                    continue
                try:
                    return read_items(given["todos"], self._max_items)
                except ValueError as error:
                    # The call was answered with that error, so an earlier one counts.
                    logger.debug("An earlier list is no list: %s", error)
        return []


def _calls(message: Any) -> list[Mapping[str, Any]]:
    calls = message.get("tool_calls") if isinstance(message, Mapping) else None
    if not isinstance(calls, list):
        return []
    return [call for call in calls if isinstance(call, Mapping)]


def _arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    given = call.get("arguments", call.get("input"))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {}
    return given if isinstance(given, Mapping) else {}


def _failed(message: str) -> ToolResult:
    return ToolResult(
        success=False, output=message, error={"type": "invalid_input", "message": message}
    )
