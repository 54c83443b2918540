"""context-pipeline: one ledger, context providers around every turn, and an answer to who put what.

The conversation is an append-only ledger. Before a turn, context providers add what they know;
what the model then sees is assembled, measured, and compacted only where it would not fit.
Compaction is a view: what is stored is never changed.

Config:
    window: The model's context window in tokens where the provider does not tell it; caps it
        where it does.
    max_tokens: Most tokens of a request; caps what the provider allows.
    threshold: Part of the budget at which compaction starts. Default 0.85.
    target: Part of the budget it goes down to. Default 0.5.
    providers: Context providers in their order, each an id or a mapping with ``id`` and the
        provider's settings; see `providers`. Default ``[memory]``.
    provider_timeout: Seconds a provider may take before or after a turn. Default 30.
    strategy: An ADR 0016 compaction strategy instead of the built-in plan: a mapping with ``id``
        and the strategy's arguments; see `providers`.

Capabilities:
    context.pipeline: The `ContextPipeline`: ``turn()``, ``report()``, ``preview()``,
        ``compact()``, ``summarize()``, ``add()``, ``skip()``, ``to_dict()``, ``restore()``.
    context.report: Async function that returns the `ContextReport` of the next request.
    context.messages: Async function that returns the messages of the next request, to be read
        only.
    context.memory: The `MemoryStore`, where the provider ``memory`` is configured.

Events: ``context:pre_compact``, ``context:post_compact`` and ``context:compaction`` when something
new is compacted; ``context:budget`` when the budget is another one; ``user:notification``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pydantic import Field

from amplifier_tui.base.config import Seconds
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.manager import SessionContextManager, mount_context
from amplifier_tui.context.memory.provider import SqliteMemoryProvider
from amplifier_tui.context.pipeline import DEFAULT_TIMEOUT, ContextPipeline
from amplifier_tui.context.request.budget import BudgetSettings
from amplifier_tui.modules.context_pipeline.providers import make_planner, make_providers

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["mount"]

__amplifier_module_type__ = "context"

NAME: Final = "context-pipeline"


class PipelineSettings(BudgetSettings):
    """The module's configuration; see the module's docstring."""

    module: ClassVar[str] = NAME

    providers: Any = None
    provider_timeout: Seconds = Field(DEFAULT_TIMEOUT, gt=0)
    strategy: Any = None


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Mount the context manager and its pipeline.

    Returns:
        A cleanup that closes what the providers opened.

    Raises:
        ValueError: A value makes no sense.
    """
    settings = PipelineSettings.read(config)
    hooks = coordinator.hooks

    def tools() -> dict[str, Any]:
        mounted: dict[str, Any] = coordinator.get("tools")
        return mounted

    manager = SessionContextManager(
        settings.policy, hooks, tools, make_planner(settings.strategy), NAME
    )
    providers = make_providers(settings.providers, coordinator)
    pipeline = ContextPipeline(
        manager,
        providers,
        session=AgentSession(session_id=coordinator.session_id or None),
        tools=tools,
        hooks=hooks,
        timeout=settings.provider_timeout,
        name=NAME,
    )
    ends = [await mount_context(coordinator, manager, NAME), pipeline.register(hooks)]
    coordinator.register_capability("context.pipeline", pipeline)
    memory = next((p for p in providers if isinstance(p, SqliteMemoryProvider)), None)
    if memory is not None:
        coordinator.register_capability("context.memory", memory.store)

    async def cleanup() -> None:
        for end in ends:
            end()
        for provider in pipeline.context_providers:
            close = getattr(provider, "aclose", None)
            if close is not None:
                await close()

    return cleanup
