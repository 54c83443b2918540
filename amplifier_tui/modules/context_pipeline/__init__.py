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
        provider's settings. Default ``[memory]``.
    provider_timeout: Seconds a provider may take before or after a turn. Default 30.
    strategy: An ADR 0016 compaction strategy instead of the built-in plan: a mapping with ``id``
        and the strategy's arguments.

Providers:
    memory: `SqliteMemoryProvider`, with ``path`` (default ``memory.sqlite3`` in the Amplifier
        home), ``top_k``, ``max_tokens``, ``search_scopes`` (default: everywhere, and this project).
    redis, file, in-memory: `RedisHistoryProvider`, `FileHistoryProvider` (with ``storage_path``),
        `InMemoryHistoryProvider`. They take the arguments of their classes; a history that loads
        takes the place of the ledger as the past.
    Any other comes from a module: it asks the capability ``context.pipeline`` and calls ``add``.
        It goes with its module.

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

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final

from pydantic import Field

from amplifier_tui.base.config import Seconds
from amplifier_tui.context.adr.groups import CharacterEstimatorTokenizer
from amplifier_tui.context.adr.history import FileHistoryProvider, InMemoryHistoryProvider
from amplifier_tui.context.adr.provider import ContextProvider
from amplifier_tui.context.adr.redis_history import RedisHistoryProvider
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.adr.strategies import (
    CompactionStrategy,
    ContextWindowCompactionStrategy,
    SelectiveToolCallCompactionStrategy,
    SlidingWindowStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
)
from amplifier_tui.context.compaction.as_plan import StrategyPlanner
from amplifier_tui.context.manager import SessionContextManager, mount_context
from amplifier_tui.context.memory.database import memory_path
from amplifier_tui.context.memory.provider import SqliteMemoryProvider
from amplifier_tui.context.memory.store import MemoryStore
from amplifier_tui.context.pipeline import DEFAULT_TIMEOUT, ContextPipeline
from amplifier_tui.context.request.budget import BudgetSettings
from amplifier_tui.context.state_file import STATE_KEY
from amplifier_tui.kernel.coordinator import ModuleCoordinator

__amplifier_module_type__ = "context"

DEFAULT: Final = ("memory",)

_WORKING_DIR: Final = "session.working_dir"


def make_providers(configured: Any, coordinator: ModuleCoordinator) -> list[ContextProvider]:
    """Make the configured providers; None stands for the default ones.

    Raises:
        ValueError: One is unknown, has settings it does not take, or the name of another one.
    """
    entries = DEFAULT if configured is None else configured
    if not isinstance(entries, list | tuple):
        raise ValueError(f"`providers` of context-pipeline must be a list, not {entries!r}")
    providers: list[ContextProvider] = []
    for entry in entries:
        name, settings = identified(entry, "provider")
        if name == "memory":
            provider = made("provider", name, _memory(coordinator), settings)
        elif name in _MAKERS:
            provider = made("provider", name, _MAKERS[name], settings)
        else:
            known = ", ".join(("memory", *_MAKERS))
            raise ValueError(
                f"context-pipeline knows no provider '{name}'. It knows: {known}. Others come "
                "from modules, which add them to the capability `context.pipeline`."
            )
        if provider.source_id == STATE_KEY:
            raise ValueError(
                f"A provider of context-pipeline can't be called '{STATE_KEY}': the context's own "
                "state is kept under that name"
            )
        if any(other.source_id == provider.source_id for other in providers):
            raise ValueError(
                f"Two providers of context-pipeline are called '{provider.source_id}': give one "
                "another `source_id`"
            )
        providers.append(provider)
    return providers


_MAKERS: Final[dict[str, Callable[..., ContextProvider]]] = {
    "redis": RedisHistoryProvider,
    "file": FileHistoryProvider,
    "in-memory": InMemoryHistoryProvider,
}


def _memory(coordinator: ModuleCoordinator) -> Callable[..., SqliteMemoryProvider]:
    def make(
        *,
        path: str | None = None,
        search_scopes: list[str] | None = None,
        **settings: Any,
    ) -> SqliteMemoryProvider:
        project = coordinator.get_capability(_WORKING_DIR)
        scopes = ("", str(project)) if project else ("",)
        return SqliteMemoryProvider(
            MemoryStore(memory_path(path)),
            search_scopes=scopes if search_scopes is None else search_scopes,
            **settings,
        )

    return make


def _truncation(max_n: int, compact_to: int, **settings: Any) -> TruncationStrategy:
    return TruncationStrategy(
        max_n, compact_to, tokenizer=CharacterEstimatorTokenizer(), **settings
    )


_STRATEGIES: Final[dict[str, Callable[..., CompactionStrategy]]] = {
    "truncation": _truncation,
    "sliding-window": SlidingWindowStrategy,
    "tool-calls": SelectiveToolCallCompactionStrategy,
    "tool-results": ToolResultCompactionStrategy,
    "context-window": ContextWindowCompactionStrategy,
}


def make_planner(configured: Any) -> StrategyPlanner | None:
    """Make the configured strategy a planner; None stands for the built-in plan.

    Raises:
        ValueError: It is unknown, or has settings it does not take.
    """
    if configured is None:
        return None
    name, settings = identified(configured, "strategy")
    if name not in _STRATEGIES:
        raise ValueError(
            f"context-pipeline knows no strategy '{name}'. It knows: {', '.join(_STRATEGIES)}."
        )
    strategy: CompactionStrategy = made("strategy", name, _STRATEGIES[name], settings)
    return StrategyPlanner(strategy)


def identified(entry: Any, what: str) -> tuple[str, dict[str, Any]]:
    """Return id and settings of an entry: an id, or a mapping with ``id``; else a `ValueError`."""
    if isinstance(entry, str) and entry:
        return entry, {}
    if isinstance(entry, Mapping) and isinstance(entry.get("id"), str) and entry["id"]:
        inner = entry.get("config")
        settings = dict(inner) if isinstance(inner, Mapping) else {}
        settings.update({k: v for k, v in entry.items() if k not in ("id", "config")})
        return entry["id"], settings
    raise ValueError(
        f"A {what} of context-pipeline must be an id or a mapping with `id`, not {entry!r}"
    )


def made(what: str, name: str, make: Any, settings: Mapping[str, Any]) -> Any:
    """Make a provider or strategy of its settings; a `ValueError` where it does not take them."""
    try:
        return make(**settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The {what} '{name}' of context-pipeline: {error}") from error


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
    """Mount the context manager and its pipeline; the cleanup closes what providers opened."""
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
    coordinator.share_list(pipeline.context_providers)
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
