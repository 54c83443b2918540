"""The context providers a bundle can name.

``memory``: `SqliteMemoryProvider`. Settings: ``path`` (default ``memory.sqlite3`` in the Amplifier
home), ``top_k``, ``max_tokens``, ``search_scopes`` (default: everywhere, and this project).
``redis``: `RedisHistoryProvider`. ``file``: `FileHistoryProvider`, with ``storage_path``.
``in-memory``: `InMemoryHistoryProvider`. They take the arguments of their classes; a history that
loads takes the place of the ledger as the past.

Any other provider comes from a module: it asks the capability ``context.pipeline`` and calls
``add``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from amplifier_tui.context.adr.file_history import FileHistoryProvider
from amplifier_tui.context.adr.history import InMemoryHistoryProvider
from amplifier_tui.context.adr.provider import ContextProvider
from amplifier_tui.context.adr.redis_history import RedisHistoryProvider
from amplifier_tui.context.adr.strategies.annotations import CharacterEstimatorTokenizer
from amplifier_tui.context.adr.strategies.strategies import (
    CompactionStrategy,
    ContextWindowCompactionStrategy,
    SelectiveToolCallCompactionStrategy,
    SlidingWindowStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
)
from amplifier_tui.context.compaction.as_plan import StrategyPlanner
from amplifier_tui.context.memory.database import memory_path
from amplifier_tui.context.memory.provider import SqliteMemoryProvider
from amplifier_tui.context.memory.store import MemoryStore
from amplifier_tui.context.pipeline import STATE_KEY

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator


DEFAULT: Final = ("memory",)

_WORKING_DIR: Final = "session.working_dir"


def make_providers(configured: Any, coordinator: ModuleCoordinator) -> list[ContextProvider]:
    """Make the configured providers.

    Args:
        configured: The ``providers`` of the module's config; None for the default.
        coordinator: The session's coordinator; its project is where memories are searched.

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
    """Make the configured strategy a planner.

    Args:
        configured: The ``strategy`` of the module's config; None for the built-in plan.

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
    """Return id and settings of an entry: an id, or a mapping with ``id``.

    Args:
        entry: As configured.
        what: What it is, for the message.

    Raises:
        ValueError: It is neither.
    """
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
    """Make something of its settings.

    Args:
        what: What it is, for the message.
        name: Its id, for the message.
        make: Takes the settings by keyword.
        settings: As configured.

    Raises:
        ValueError: It does not take these settings.
    """
    try:
        return make(**settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The {what} '{name}' of context-pipeline: {error}") from error
