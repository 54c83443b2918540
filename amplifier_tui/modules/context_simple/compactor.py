"""When to compact, what was decided so far, and who is told."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

from amplifier_tui.kernel import events
from amplifier_tui.modules.context_simple.compaction import (
    Action,
    Plan,
    Row,
    compacted_size,
    plan_compaction,
    project,
)
from amplifier_tui.modules.context_simple.tokens import message_tokens

logger = logging.getLogger(__name__)

_NEW_WINDOW: Final = 0.1
"""A limit that differs by more than this part is another model's: its cache is cold anyway."""

_PAUSE: Final = 0.1
"""Part of the limit a conversation grows by before it is compacted again, where compaction could
not reach its target. Without a pause every step would compact, and so rewrite the request."""


class Compactor:
    """Shows a conversation so that it fits, and remembers how.

    Args:
        threshold: Part of the limit at which compaction starts.
        target: Part of the limit it goes down to.
        hooks: Who is told; None for nobody.
    """

    def __init__(self, threshold: float, target: float, hooks: Any | None) -> None:
        self._threshold = threshold
        self._target = target
        self._hooks = hooks
        self._actions: dict[int, Action] = {}
        self._limit = 0
        self._resume_at = 0
        self._warned = False

    def forget(self) -> None:
        """Begin anew: the rows are others now."""
        self._actions = {}
        self._resume_at = 0
        self._warned = False

    async def view(self, rows: Sequence[Row], sizes: Sequence[int], limit: int) -> list[Row]:
        """Return the conversation as the model gets it.

        Args:
            rows: The conversation; since the last call it may only have grown.
            sizes: Tokens of each row.
            limit: Most tokens.
        """
        if abs(limit - self._limit) > _NEW_WINDOW * self._limit:
            self.forget()
            self._limit = limit
        trigger = max(int(limit * self._threshold), self._resume_at)
        size = compacted_size(rows, sizes, self._actions, message_tokens)
        if size > trigger:
            await self._compact(rows, sizes, limit, size)
        return project(rows, self._actions)

    async def _compact(
        self, rows: Sequence[Row], sizes: Sequence[int], limit: int, size: int
    ) -> None:
        target = int(limit * self._target)
        plan = plan_compaction(
            rows, sizes, target=target, limit=limit, earlier=self._actions, measure=message_tokens
        )
        self._resume_at = 0
        if plan.after > target:
            self._resume_at = min(limit, plan.after + int(limit * _PAUSE))
            self._warn(plan, limit)
        if plan.actions == self._actions:
            return
        earlier, self._actions = self._actions, plan.actions
        before, after = project(rows, earlier), project(rows, plan.actions)
        await self._emit(
            events.CONTEXT_PRE_COMPACT, {"message_count": len(before), "token_count": size}
        )
        await self._emit(
            events.CONTEXT_POST_COMPACT, {"message_count": len(after), "token_count": plan.after}
        )
        await self._emit(
            events.CONTEXT_COMPACTION,
            {
                "before_tokens": size,
                "after_tokens": plan.after,
                "before_messages": len(before),
                "after_messages": len(after),
                "strategy_level": plan.level,
                "budget": limit,
                "target_tokens": target,
                "messages_removed": plan.count("drop"),
                "messages_truncated": plan.count("truncate", "squeeze"),
                "user_messages_stubbed": plan.count("stub"),
            },
        )

    def _warn(self, plan: Plan, limit: int) -> None:
        if plan.after <= int(limit * self._threshold) or self._warned:
            return
        self._warned = True
        logger.warning(
            "The conversation takes about %d of %d tokens and can't be compacted further: system "
            "prompt, first message and current turn stay. Start a new session, or use a model "
            "with a larger window.",
            plan.after,
            limit,
        )

    async def _emit(self, event: str, data: dict[str, Any]) -> None:
        if self._hooks is not None:
            await self._hooks.emit(event, data)
