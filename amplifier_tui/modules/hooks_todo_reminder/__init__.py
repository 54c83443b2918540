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

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel import events
from amplifier_tui.modules.hooks_todo_reminder.reminder import ReminderSettings, TodoReminder

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["TodoReminder", "mount"]

__amplifier_module_type__ = "hook"


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
