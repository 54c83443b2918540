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

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from amplifier_tui.context.manager import SessionContextManager, mount_context
from amplifier_tui.context.request.budget import (
    DEFAULT_TARGET,
    DEFAULT_THRESHOLD,
    BudgetPolicy,
    BudgetSettings,
)
from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["SimpleContextManager", "mount"]

__amplifier_module_type__ = "context"


NAME: Final = "context-simple"


class SimpleContextSettings(BudgetSettings):
    """The module's configuration; see the module's docstring."""

    module: ClassVar[str] = NAME


class SimpleContextManager(SessionContextManager):
    """Keeps the conversation in memory.

    Args:
        max_tokens: Most tokens of a request; None leaves it to the provider.
        compaction_threshold: Part of the budget at which compaction starts.
        compaction_target: Part of the budget it goes down to.
        hooks: Who is told of compactions; None for nobody.
        tools: Returns the tools on offer by name, whose schemas take room, too.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        compaction_threshold: float = DEFAULT_THRESHOLD,
        compaction_target: float = DEFAULT_TARGET,
        hooks: Any | None = None,
        tools: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        policy = BudgetPolicy(
            max_tokens=max_tokens, threshold=compaction_threshold, target=compaction_target
        )
        super().__init__(policy, hooks, tools, name=NAME)


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Mount the context manager; the cleanup stops listening to the session."""
    policy = SimpleContextSettings.read(config).policy
    context = SimpleContextManager(
        max_tokens=policy.max_tokens,
        compaction_threshold=policy.threshold,
        compaction_target=policy.target,
        hooks=coordinator.hooks,
        tools=lambda: coordinator.get("tools"),
    )
    return await mount_context(coordinator, context, NAME)
