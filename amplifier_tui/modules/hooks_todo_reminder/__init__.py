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
from typing import TYPE_CHECKING, Any, Literal

from amplifier_tui.kernel import events
from amplifier_tui.modules.hooks_todo_reminder.reminder import TodoReminder

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["TodoReminder", "mount"]

__amplifier_module_type__ = "hook"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Register the handler.

    Args:
        coordinator: The session's coordinator.
        config: See the module's docstring.

    Returns:
        A cleanup that unregisters it.

    Raises:
        ValueError: A value makes no sense.
    """
    config = config or {}
    return coordinator.hooks.register(
        events.PROVIDER_REQUEST,
        TodoReminder(coordinator, _role(config), _number(config, "max_items", 30, least=1)),
        priority=_number(config, "priority", 10),
        name="hooks-todo-reminder",
    )


def _role(config: dict[str, Any]) -> Literal["user", "system"]:
    match config.get("role"):
        case None | "" | "user":
            return "user"
        case "system":
            return "system"
        case other:
            raise ValueError(f"`role` of hooks-todo-reminder must be user or system, not {other!r}")


def _number(config: dict[str, Any], name: str, default: int, least: int | None = None) -> int:
    value = config.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or (least and value < least):
        raise ValueError(f"`{name}` of hooks-todo-reminder must be a whole number, not {value!r}")
    return value
