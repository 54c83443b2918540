"""The compaction strategies a bundle can name instead of the built-in plan.

``truncation``, ``sliding-window``, ``tool-calls``, ``tool-results``, ``context-window``: the
deterministic strategies of ADR 0016, with the arguments of their classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

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
from amplifier_tui.modules.context_pipeline.settings import identified, made


def _truncation(max_n: int, compact_to: int, **settings: Any) -> TruncationStrategy:
    return TruncationStrategy(
        max_n, compact_to, tokenizer=CharacterEstimatorTokenizer(), **settings
    )


_MAKERS: Final[dict[str, Callable[..., CompactionStrategy]]] = {
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
    if name not in _MAKERS:
        raise ValueError(
            f"context-pipeline knows no strategy '{name}'. It knows: {', '.join(_MAKERS)}."
        )
    strategy: CompactionStrategy = made("strategy", name, _MAKERS[name], settings)
    return StrategyPlanner(strategy)
