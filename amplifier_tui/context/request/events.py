"""The events a context emits beside the kernel's, and how it emits them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from amplifier_tui.context.compaction.plan import Plan
from amplifier_tui.context.request.budget import Budget
from amplifier_tui.kernel import events

CONTEXT_BUDGET: Final = "context:budget"
"""The budget is another one now; the data are the fields of `Budget`."""

CONTEXT_EVENTS: Final = (
    events.CONTEXT_PRE_COMPACT,
    events.CONTEXT_POST_COMPACT,
    events.CONTEXT_COMPACTION,
    CONTEXT_BUDGET,
)


class ContextEvents:
    """Emits a context's events.

    Args:
        hooks: The hook registry; None for nobody.
        source: Name of the context module, for messages to the user.
    """

    def __init__(self, hooks: Any | None, source: str) -> None:
        self._hooks = hooks
        self._source = source

    async def compaction(
        self, plan: Plan, budget: Budget, messages_before: int, messages_after: int
    ) -> None:
        """Tell of a compaction: before, after, and what it did.

        Args:
            plan: What was done.
            budget: For what.
            messages_before: How many messages the request would have had.
            messages_after: How many it has.
        """
        await self._emit(
            events.CONTEXT_PRE_COMPACT,
            {"message_count": messages_before, "token_count": plan.before},
        )
        await self._emit(
            events.CONTEXT_POST_COMPACT,
            {"message_count": messages_after, "token_count": plan.after},
        )
        await self._emit(
            events.CONTEXT_COMPACTION,
            {
                "before_tokens": plan.before,
                "after_tokens": plan.after,
                "before_messages": messages_before,
                "after_messages": messages_after,
                "strategy_level": plan.level,
                "budget": budget.limit,
                "target_tokens": budget.target,
                "messages_removed": plan.count("drop"),
                "messages_truncated": plan.count("truncate", "squeeze"),
                "user_messages_stubbed": plan.count("stub"),
                "messages_summarized": plan.count("summary"),
                "reason": plan.reason,
                "floor_tokens": plan.floor,
                "model": budget.model,
                "plan": plan.describe(),
            },
        )

    async def budget(self, budget: Budget) -> None:
        """Tell of a new budget."""
        await self._emit(CONTEXT_BUDGET, budget.to_dict())

    async def notice(self, message: str, level: str = "warning") -> None:
        """Tell the user something."""
        await self._emit(
            events.USER_NOTIFICATION,
            {"message": message, "level": level, "source": self._source},
        )

    async def notices(self, messages: Sequence[str]) -> None:
        """Tell the user several things."""
        for message in messages:
            await self.notice(message)

    async def _emit(self, event: str, data: dict[str, Any]) -> None:
        if self._hooks is not None:
            await self._hooks.emit(event, data)
