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
something new is compacted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel import events
from amplifier_tui.modules.context_simple.budget import read_settings
from amplifier_tui.modules.context_simple.manager import SimpleContextManager

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["SimpleContextManager", "mount"]

__amplifier_module_type__ = "context"

_EVENTS = [events.CONTEXT_PRE_COMPACT, events.CONTEXT_POST_COMPACT, events.CONTEXT_COMPACTION]


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the context manager.

    Args:
        coordinator: The session's coordinator.
        config: See the module's docstring.

    Raises:
        ValueError: A value makes no sense.
    """
    settings = read_settings(config or {})
    context = SimpleContextManager(
        max_tokens=settings.max_tokens,
        compaction_threshold=settings.threshold,
        compaction_target=settings.target,
        hooks=coordinator.hooks,
    )
    await coordinator.mount("context", context)
    coordinator.register_contributor(
        "observability.events", "context-simple", lambda: list(_EVENTS)
    )
