"""tool-task: hands a task to an agent, a session of its own with a fresh context.

The agents are those of the mount plan. They run through the capability ``session.spawn``, and are
asked again through ``session.resume``; where no host offers these, the tool says so. Calls side by
side run side by side.

Config:
    max_depth: How deep agents may call agents. Default 2: an agent's agents call no others.
    max_parallel: Agents at the same time. Default 4.
    max_output_chars: Characters of an answer the model gets. Default 40000.
    allow_self: Whether ``self``, the session's own configuration again, is offered. Default false.

Events: ``task:agent_spawned``, ``task:agent_resumed`` and ``task:agent_completed`` with ``agent``,
``instruction``, ``sub_session_id``, ``parent_session_id``, ``tool_call_id``; the last one with
``success`` and ``result`` or ``error``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from amplifier_tui.modules.tool_task.tool import EVENTS, TaskSettings, TaskTool

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["TaskTool", "mount"]

__amplifier_module_type__ = "tool"


async def mount(coordinator: ModuleCoordinator, config: Mapping[str, Any] | None = None) -> None:
    """Mount the tool as ``task``; nothing is mounted where there is no agent to call."""
    tool = TaskTool(coordinator, TaskSettings.read(config))
    if not tool.agents or tool.depth >= tool.settings.max_depth:
        return
    await coordinator.mount("tools", tool, name=tool.name)
    coordinator.register_contributor("observability.events", "tool-task", lambda: list(EVENTS))
