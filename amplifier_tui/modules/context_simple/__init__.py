"""context-simple: the conversation in memory, compacted on the way to the model (spec 000).

Compaction is a view: what is stored is never changed. Once a row was shortened or left out it stays
so until the conversation is replaced or another window applies, so that the beginning of the
request, and the provider's cache of it, does not change with every step.

Config:
    max_tokens: Most tokens of a request. Caps what the provider's window allows; without a
        provider that tells its window it is the budget. Default 200 000.
    compaction_threshold: Part of the budget at which compaction starts. Default 0.85.
    compaction_target: Part of the budget it goes down to. Default 0.5.

Events: ``context:pre_compact``, ``context:post_compact`` and ``context:compaction``, only when
something new is compacted; ``context:budget`` when the budget is another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from amplifier_tui.context.request.budget import read_policy
from amplifier_tui.context.request.events import CONTEXT_EVENTS
from amplifier_tui.context.request.usage_watch import UsageWatch
from amplifier_tui.modules.context_simple.manager import NAME, SimpleContextManager

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["SimpleContextManager", "mount"]

__amplifier_module_type__ = "context"


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
    """
    policy = read_policy(config or {}, NAME)
    context = SimpleContextManager(
        max_tokens=policy.max_tokens,
        compaction_threshold=policy.threshold,
        compaction_target=policy.target,
        hooks=coordinator.hooks,
        tools=lambda: coordinator.get("tools"),
    )
    await coordinator.mount("context", context)
    coordinator.register_capability("context.report", context.view.report)
    coordinator.register_capability("context.messages", context.view.messages)
    coordinator.register_contributor("observability.events", NAME, lambda: list(CONTEXT_EVENTS))
    return UsageWatch(context.view).register(coordinator.hooks, NAME)
