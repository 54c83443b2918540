"""tool-memory: lets the model remember, forget, search and list notes across sessions.

It uses the memories of context-pipeline where that is mounted, and else a database of its own.
What is remembered holds in this project, unless the model says it holds everywhere.

Config:
    path: The database, where context-pipeline offers none. Default ``memory.sqlite3`` in the
        Amplifier home.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ClassVar

from amplifier_tui.base.config import ModuleSettings, PathText
from amplifier_tui.context.memory.database import memory_path
from amplifier_tui.context.memory.store import MemoryStore
from amplifier_tui.modules.tool_memory.tool import MemoryTool

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["MemoryTool", "mount"]

__amplifier_module_type__ = "tool"


class MemorySettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-memory"

    path: PathText | None = None


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Mount the tool as ``memory``; returns the cleanup."""
    own = MemoryStore(memory_path(MemorySettings.read(config).path))

    def store() -> MemoryStore:
        shared = coordinator.get_capability("context.memory")
        return shared if isinstance(shared, MemoryStore) else own

    tool = MemoryTool(
        store,
        session_id=coordinator.session_id,
        project=lambda: str(coordinator.get_capability("session.working_dir") or ""),
    )
    await coordinator.mount("tools", tool, name=tool.name)
    return own.close
