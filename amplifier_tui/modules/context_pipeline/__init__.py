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

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, ClassVar, Final

from pydantic import Field, field_validator

from amplifier_tui.base.config import Seconds
from amplifier_tui.base.nearest import did_you_mean
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


def make_providers(configured: Any, project: Any = None) -> list[ContextProvider]:
    """Make the configured providers; None stands for the default ones. None of them opens anything.

    Raises:
        ValueError: One is unknown, has settings it does not take, or the name of another one. Its
            text goes on after the name of the setting and the module.
    """
    entries = DEFAULT if configured is None else configured
    if not isinstance(entries, list | tuple):
        raise ValueError(f"must be a list, not {entries!r}")
    providers: list[ContextProvider] = []
    for entry in entries:
        name, settings = identified(entry)
        makers = {"memory": _memory(project), **_MAKERS}
        if name not in makers:
            raise ValueError(
                f"{unknown('provider', name, makers)}. Others come from modules, which add them to "
                "the capability `context.pipeline`"
            )
        provider = made(name, makers[name], settings)
        if provider.source_id == STATE_KEY:
            raise ValueError(
                f"has one called '{STATE_KEY}': the context's own state is kept under that name"
            )
        if any(other.source_id == provider.source_id for other in providers):
            raise ValueError(f"has two called '{provider.source_id}': give one another `source_id`")
        providers.append(provider)
    return providers


_MAKERS: Final[Mapping[str, Callable[..., ContextProvider]]] = {
    "redis": RedisHistoryProvider,
    "file": FileHistoryProvider,
    "in-memory": InMemoryHistoryProvider,
}


def _memory(project: Any) -> Callable[..., SqliteMemoryProvider]:
    def make(
        *,
        path: str | None = None,
        search_scopes: list[str] | None = None,
        **settings: Any,
    ) -> SqliteMemoryProvider:
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
        ValueError: It is unknown, or has settings it does not take; see `make_providers`.
    """
    if configured is None:
        return None
    name, settings = identified(configured)
    if name not in _STRATEGIES:
        raise ValueError(unknown("strategy", name, _STRATEGIES))
    strategy: CompactionStrategy = made(name, _STRATEGIES[name], settings)
    return StrategyPlanner(strategy)


def unknown(what: str, name: str, known: Collection[str]) -> str:
    """Say that nothing has a name, what may be meant, and what there is."""
    hint = did_you_mean(name, known) or "."
    return f"knows no {what} '{name}'{hint} It knows: {', '.join(known)}"


def identified(entry: Any) -> tuple[str, dict[str, Any]]:
    """Return id and settings of an entry: an id, or a mapping with ``id``; else a `ValueError`."""
    if isinstance(entry, str) and entry:
        return entry, {}
    if isinstance(entry, Mapping) and isinstance(entry.get("id"), str) and entry["id"]:
        inner = entry.get("config")
        settings = dict(inner) if isinstance(inner, Mapping) else {}
        settings.update({k: v for k, v in entry.items() if k not in ("id", "config")})
        return entry["id"], settings
    raise ValueError(f"takes an id or a mapping with `id`, not {entry!r}")


def made(name: str, make: Any, settings: Mapping[str, Any]) -> Any:
    """Make a provider or strategy of its settings; a `ValueError` where it does not take them."""
    try:
        return make(**settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"has a wrong '{name}': {error}") from error


NAME: Final = "context-pipeline"


class PipelineSettings(BudgetSettings):
    """The module's configuration; see the module's docstring."""

    module: ClassVar[str] = NAME

    providers: Any = None
    provider_timeout: Seconds = Field(DEFAULT_TIMEOUT, gt=0)
    strategy: Any = None

    @field_validator("providers")
    @classmethod
    def _providers_can_be_made(cls, value: Any) -> Any:
        make_providers(value)
        return value

    @field_validator("strategy")
    @classmethod
    def _strategy_can_be_made(cls, value: Any) -> Any:
        make_planner(value)
        return value


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
    providers = make_providers(settings.providers, coordinator.get_capability(_WORKING_DIR))
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
