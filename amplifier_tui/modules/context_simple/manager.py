"""The context manager of spec 000."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from amplifier_tui.modules.context_simple.budget import (
    DEFAULT_TARGET,
    DEFAULT_THRESHOLD,
    request_budget,
)
from amplifier_tui.modules.context_simple.compactor import Compactor
from amplifier_tui.modules.context_simple.tokens import message_tokens

logger = logging.getLogger(__name__)

SystemPromptFactory = Callable[[], Awaitable[str] | str]


class SimpleContextManager:
    """Keeps the conversation in memory.

    Args:
        max_tokens: Most tokens of a request; None leaves it to the provider.
        compaction_threshold: Part of the budget at which compaction starts.
        compaction_target: Part of the budget it goes down to.
        hooks: Who is told of compactions; None for nobody.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        compaction_threshold: float = DEFAULT_THRESHOLD,
        compaction_target: float = DEFAULT_TARGET,
        hooks: Any | None = None,
    ) -> None:
        self._max_tokens = max_tokens
        target = min(compaction_target, compaction_threshold)
        self._compactor = Compactor(compaction_threshold, target, hooks)
        self._rows: list[dict[str, Any]] = []
        self._sizes: list[int] = []
        self._factory: SystemPromptFactory | None = None
        self._prompt = ""

    async def add_message(self, message: dict[str, Any]) -> None:
        """Add a message.

        Args:
            message: A dict with at least ``role``.

        Raises:
            ValueError: It has no role.
        """
        self._append(message)

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any | None = None
    ) -> list[dict[str, Any]]:
        """Return the messages for the next request, compacted if they would not fit.

        Args:
            token_budget: Explicit limit in tokens; it wins.
            provider: Whose window to fit otherwise.
        """
        prompt = await self._system_prompt()
        limit = request_budget(token_budget, provider, self._max_tokens)
        rows, sizes = self._rows, self._sizes
        if prompt is not None:
            # The prompt takes the place of the stored ones, which keep their places in the list
            # and weigh nothing.
            limit = max(0, limit - message_tokens(prompt))
            sizes = [
                0 if _is_replaced(row) else size for row, size in zip(rows, sizes, strict=True)
            ]
        view = await self._compactor.view(rows, sizes, limit)
        if prompt is None:
            return [dict(row) for row in view]
        return [prompt, *(dict(row) for row in view if not _is_replaced(row))]

    async def get_messages(self) -> list[dict[str, Any]]:
        """Return the whole history, never compacted."""
        return [dict(row) for row in self._rows]

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        """Replace the history, for resuming a session.

        Raises:
            ValueError: A message has no role; the history is as it was.
        """
        for message in messages:
            _check(message)
        await self.clear()
        for message in messages:
            self._append(message)

    async def clear(self) -> None:
        """Forget everything but where the system prompt comes from."""
        self._rows.clear()
        self._sizes.clear()
        self._compactor.forget()

    def set_system_prompt_factory(self, factory: SystemPromptFactory) -> None:
        """Have the system prompt made anew for every request.

        It replaces the stored system messages, except those of hooks.

        Args:
            factory: Async or plain function without arguments.
        """
        self._factory = factory

    def _append(self, message: dict[str, Any]) -> None:
        _check(message)
        row = dict(message)
        self._rows.append(row)
        self._sizes.append(message_tokens(row))

    async def _system_prompt(self) -> dict[str, Any] | None:
        if self._factory is None:
            return None
        try:
            made = self._factory()
            self._prompt = str(await made if inspect.isawaitable(made) else made)
        except Exception:
            if not self._prompt:
                raise
            logger.exception("The system prompt could not be made anew; the last one is used")
        return {"role": "system", "content": self._prompt} if self._prompt else None


def _check(message: Any) -> None:
    if not isinstance(message, Mapping) or not message.get("role"):
        raise ValueError("Message must have 'role' field")


def _is_replaced(row: Mapping[str, Any]) -> bool:
    """Whether the factory's prompt stands for this row."""
    metadata = row.get("metadata")
    by_hook = isinstance(metadata, Mapping) and metadata.get("source") == "hook"
    return row.get("role") == "system" and not by_hook
