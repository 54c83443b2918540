"""context-persistent: the conversation in a file of its own, which is the truth (spec 000).

Every message is appended to the file when it is added. A session that finds its file goes on from
it, and then ignores the transcript it is handed: that may be a filtered one.

Config:
    path: The file; ``{session_id}`` in it stands for the session's id. Default
        ``context-messages.jsonl`` in the session's folder, where the coordinator knows it (its
        attribute ``session_dir``), else in ``contexts/<session id>`` of the Amplifier home.
    memory_files: Files whose texts become system messages of a fresh session.
    max_tokens, window, threshold, target: As for context-pipeline.

Events: ``context:pre_compact``, ``context:post_compact``, ``context:compaction`` and
``context:budget``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amplifier_tui.context.request.budget import read_policy
from amplifier_tui.context.request.events import CONTEXT_EVENTS
from amplifier_tui.context.request.usage_watch import UsageWatch
from amplifier_tui.modules.context_persistent.location import file_of, memory_files_of
from amplifier_tui.modules.context_persistent.manager import PersistentContextManager

if TYPE_CHECKING:
    from collections.abc import Callable

    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["PersistentContextManager", "mount"]

__amplifier_module_type__ = "context"

NAME = "context-persistent"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Mount the context manager.

    Args:
        coordinator: The session's coordinator.
        config: See the module's docstring.

    Returns:
        A cleanup that stops listening to the session.

    Raises:
        ValueError: A value makes no sense.
        RuntimeError: The memory files alone exceed the context window.
        OSError: The file, or a memory file, can't be read.
    """
    config = config or {}
    policy = read_policy(config, NAME)
    context = PersistentContextManager(
        file_of(config, coordinator),
        policy=policy,
        hooks=coordinator.hooks,
        tools=lambda: coordinator.get("tools"),
        name=NAME,
    )
    await context.load(memory_files_of(config), most=policy.budget().limit)
    await coordinator.mount("context", context)
    coordinator.register_capability("context.report", context.view.report)
    coordinator.register_capability("context.messages", context.view.messages)
    coordinator.register_contributor("observability.events", NAME, lambda: list(CONTEXT_EVENTS))
    return UsageWatch(context.view).register(coordinator.hooks, NAME)
