"""tool-todo: the model's plan as a list of ``{content, status, activeForm}``.

The list belongs to the session. In a resumed session it is read from the conversation. Other
modules get it through the capability ``todo.items``, an async function without arguments that
returns the items as dicts.

Config:
    max_items: Most items of a list. Default 100.
"""

import json
import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Final, TypedDict

from pydantic import Field

from amplifier_tui.base.config import ModuleSettings
from amplifier_tui.base.messages.tool_calls import calls_of
from amplifier_tui.base.python import awaited
from amplifier_tui.base.text import shortened
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem, argument

__amplifier_module_type__ = "tool"

logger = logging.getLogger(__name__)

CAPABILITY: Final = "todo.items"
STATUSES: Final = ("pending", "in_progress", "completed")
_LONGEST: Final = 500
_SAME: Final = {"todo": "pending", "open": "pending", "done": "completed", "active": "in_progress"}
_INVALID: Final = "invalid_input"
_ACTIONS: Final = ("create", "update", "list")


class TodoSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-todo"

    max_items: int = Field(100, ge=1)


class TodoEntry(TypedDict):
    """One thing to do; the names are the ecosystem's."""

    content: str
    status: str
    activeForm: str


_ENTRY_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "content": argument("string", "What to do: Run the tests."),
        "status": {"type": "string", "enum": list(STATUSES)},
        "activeForm": argument("string", "The same while it goes on: Running the tests."),
    },
    "required": ["content", "status", "activeForm"],
}


class TodoTool(ModuleTool):
    """Keeps one list; that of a resumed session is read from the conversation."""

    name = "todo"
    description = (
        "Your plan for work of three steps or more: create it, and give the whole list again "
        "with every change. One item is in_progress while you work on it; mark it completed "
        "as soon as it is done, and only then. Not for one-step requests or conversation."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "action": {"type": "string", "enum": list(_ACTIONS)},
        "todos": argument("array", "The whole list; for create and update.", items=_ENTRY_SCHEMA),
    }
    required = ("action",)
    changes_session_only = True
    """A replay runs it, too: what it keeps concerns the session alone, and hooks read it."""

    def __init__(self, coordinator: Any, settings: TodoSettings) -> None:
        self._coordinator = coordinator
        self._settings = settings
        self._items: list[TodoEntry] | None = None

    async def items(self) -> list[dict[str, Any]]:
        """Return the list as it is now."""
        if self._items is None:
            self._items = await self._from_conversation()
        return [dict(item) for item in self._items]

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Change or show the list."""
        action = given.get("action") or ("update" if given.get("todos") is not None else "list")
        if action not in _ACTIONS:
            raise ToolProblem(
                f"`action` must be one of {', '.join(_ACTIONS)}, not {action!r}.", _INVALID
            )
        if action != "list":
            try:
                self._items = read_items(given.get("todos"), self._settings.max_items)
            except ValueError as error:
                raise ToolProblem(str(error), _INVALID) from error
        todos = await self.items()
        done = "listed" if action == "list" else f"{action}d"
        return ToolResult(output={"status": done, "count": len(todos), "todos": todos})

    async def _from_conversation(self) -> list[TodoEntry]:
        """Return the list of the last call that changed it; empty without one."""
        context = self._coordinator.get("context")
        if context is None:
            return []
        messages = await awaited(context.get_messages())
        for message in reversed(messages):
            for call in reversed(list(calls_of(message))):
                given = call.arguments.get("todos") if call.name == self.name else None
                if given is None:
                    continue
                try:
                    return read_items(given, self._settings.max_items)
                except ValueError as error:
                    # The call was answered with that error, so an earlier one counts.
                    logger.debug("An earlier list is no list: %s", error)
        return []


def read_items(value: Any, most: int) -> list[TodoEntry]:
    """Return the items of a list as it came from the model: dicts or texts, also as JSON.

    Raises:
        ValueError: It is something else; says what is wrong with which item.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ValueError("`todos` must be a list, not a text.") from error
    if not isinstance(value, list):
        raise ValueError("`todos` must be a list of {content, status, activeForm}.")
    if len(value) > most:
        raise ValueError(f"{len(value)} items are too many to work with; at most {most}.")
    return [_item(entry, number) for number, entry in enumerate(value, start=1)]


def _item(entry: Any, number: int) -> TodoEntry:
    if isinstance(entry, str):
        entry = {"content": entry}
    if not isinstance(entry, Mapping):
        raise ValueError(f"Item {number} must be {{content, status, activeForm}}.")
    content = _line(entry.get("content"))
    if not content:
        raise ValueError(f"Item {number} has no `content`: say what is to be done.")
    status = str(entry.get("status") or "pending").lower().replace("-", "_")
    status = _SAME.get(status, status)
    if status not in STATUSES:
        raise ValueError(
            f"Item {number} has the status {entry.get('status')!r}; it must be one of "
            f"{', '.join(STATUSES)}."
        )
    active = _line(entry.get("activeForm") or entry.get("active_form")) or content
    return {"content": content, "status": status, "activeForm": active}


def _line(value: Any) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return shortened(text, _LONGEST)


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the tool as ``todo``."""
    tool = TodoTool(coordinator, TodoSettings.read(config))
    await coordinator.mount("tools", tool, name=tool.name)
    coordinator.register_capability(CAPABILITY, tool.items)
