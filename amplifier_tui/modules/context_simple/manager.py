"""The context manager: the common ledger and view, without providers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.request.budget import DEFAULT_TARGET, DEFAULT_THRESHOLD, BudgetPolicy

NAME: Final = "context-simple"


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
