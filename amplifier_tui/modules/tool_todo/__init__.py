"""tool-todo: the model's plan as a list of ``{content, status, activeForm}``.

The list belongs to the session. In a resumed session it is read from the conversation. Other
modules get it through the capability ``todo.items``, an async function without arguments that
returns the items as dicts.

Config:
    max_items: Most items of a list. Default 100.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amplifier_tui.modules.tool_todo.tool import CAPABILITY, TodoSettings, TodoTool

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["CAPABILITY", "TodoTool", "mount"]

__amplifier_module_type__ = "tool"


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the tool as ``todo``."""
    tool = TodoTool(coordinator, TodoSettings.read(config))
    await coordinator.mount("tools", tool, name=tool.name)
    coordinator.register_capability(CAPABILITY, tool.items)
