"""context-persistent: the conversation in a file of its own, which is the truth (spec 000).

Every message is appended to the file when it is added. A session that finds its file goes on from
it, and then ignores the transcript it is handed: that may be a filtered one.

Config:
    path: The file, below the session's folder, the user's log folder or the project;
        ``{session_id}`` in it stands for the session's id. Default
        ``context-messages.jsonl`` in the session's folder, where the coordinator knows it (its
        attribute ``session_dir``), else in ``contexts/<session id>`` of the Amplifier home.
    memory_files: Files whose texts become system messages of a fresh session.
    max_tokens, window, threshold, target: As for context-pipeline.

Events: ``context:pre_compact``, ``context:post_compact``, ``context:compaction`` and
``context:budget``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pydantic import Field

from amplifier_tui.base.config import PathText
from amplifier_tui.context.adr.file_history import safe_name
from amplifier_tui.context.manager import mount_context
from amplifier_tui.context.request.budget import BudgetSettings
from amplifier_tui.modules._shared.state_places import state_place
from amplifier_tui.modules.context_persistent.manager import PersistentContextManager

if TYPE_CHECKING:
    from collections.abc import Callable

    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["PersistentContextManager", "mount"]

__amplifier_module_type__ = "context"

NAME: Final = "context-persistent"
FILE_NAME: Final = "context-messages.jsonl"


class PersistentContextSettings(BudgetSettings):
    """The module's configuration; see the module's docstring."""

    module: ClassVar[str] = NAME

    path: PathText | None = None
    memory_files: list[str] = Field([], description="a list of paths")

    @property
    def memories(self) -> list[Path]:
        """The memory files."""
        return [Path(path).expanduser() for path in self.memory_files]

    def file(self, coordinator: ModuleCoordinator) -> Path:
        """Return the file of a session.

        Raises:
            SettingsError: `path` leads to where no state belongs.
        """
        name = safe_name(coordinator.session_id)
        if self.path is not None:
            text = self.path.replace("{session_id}", name)
            return state_place(text, coordinator, module=NAME, setting="path")
        folder = getattr(coordinator, "session_dir", None)
        if folder:
            return Path(folder) / FILE_NAME
        home = Path(os.environ.get("AMPLIFIER_HOME") or "~/.amplifier").expanduser()
        return home / "contexts" / name / FILE_NAME


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Mount the context manager.

    Returns:
        A cleanup that stops listening to the session.

    Raises:
        ValueError: A value makes no sense.
        RuntimeError: The memory files alone exceed the context window.
        OSError: The file, or a memory file, can't be read.
    """
    settings = PersistentContextSettings.read(config)
    context = PersistentContextManager(
        settings.file(coordinator),
        policy=settings.policy,
        hooks=coordinator.hooks,
        tools=lambda: coordinator.get("tools"),
        name=NAME,
    )
    await context.load(settings.memories, most=settings.policy.budget().limit)
    return await mount_context(coordinator, context, NAME)
