"""hooks-todo-reminder: shows the model its own list again before every request.

It answers ``provider:request`` with a text for that one request, which is never stored. Nothing is
said while there is no list, or when everything on it is done. The list is that of the capability
``todo.items`` (tool-todo).

Config:
    role: Who says it: ``user`` (default) or ``system``.
    max_items: Items that are listed; of a longer list those that are not done come first.
        Default 30.
    priority: Of the handler. Default 10.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from amplifier_tui.base.config import ModuleSettings
from amplifier_tui.base.python import awaited
from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import HookResult

__amplifier_module_type__ = "hook"

logger = logging.getLogger(__name__)

CAPABILITY: Final = "todo.items"
_MARKS: Final = {"completed": "[x]", "in_progress": "[>]"}
_CONTINUE: Final = HookResult(action="continue")


class ReminderSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "hooks-todo-reminder"

    role: Literal["user", "system"] = "user"
    max_items: int = Field(30, ge=1)
    priority: int = 10


class TodoReminder:
    """Handler of ``provider:request``."""

    def __init__(self, coordinator: Any, settings: ReminderSettings) -> None:
        self._coordinator = coordinator
        self._settings = settings

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        """Remind the model, if there is something left to do."""
        items = await self._items()
        if all(item.get("status") == "completed" for item in items):
            return _CONTINUE
        return HookResult(
            action="inject_context",
            context_injection=reminder_text(items, self._settings.max_items),
            context_injection_role=self._settings.role,
            ephemeral=True,
        )

    async def _items(self) -> list[Mapping[str, Any]]:
        ask = self._coordinator.get_capability(CAPABILITY)
        if not callable(ask):
            return []
        found = await awaited(ask())
        if not isinstance(found, list):
            logger.debug("%s gave no list, but %s", CAPABILITY, type(found).__name__)
            return []
        return [item for item in found if isinstance(item, Mapping) and item.get("content")]


def reminder_text(items: list[Mapping[str, Any]], most: int) -> str:
    """Return what the model reads."""
    shown = items
    if len(items) > most:
        left = [item for item in items if item.get("status") != "completed"]
        shown = left[:most]
    lines = [_line(item) for item in shown]
    if len(shown) < len(items):
        lines.append(f"… and {len(items) - len(shown)} more; the todo tool lists them.")
    body = "\n".join(lines)
    return (
        '<system-reminder source="hooks-todo-reminder">\n'
        "Your todo list as it stands; not a message of the user, so don't mention it. Keep it up "
        f"to date with the todo tool.\n{body}\n</system-reminder>"
    )


def _line(item: Mapping[str, Any]) -> str:
    status = str(item.get("status"))
    words = item.get("activeForm") if status == "in_progress" else None
    # One line each: an item must not end the reminder.
    text = " ".join(str(words or item["content"]).split()).replace("<", "‹")
    return f"{_MARKS.get(status, '[ ]')} {text}"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Register the handler; returns the cleanup."""
    settings = ReminderSettings.read(config)
    return coordinator.hooks.register(
        events.PROVIDER_REQUEST,
        TodoReminder(coordinator, settings),
        priority=settings.priority,
        name="hooks-todo-reminder",
    )
