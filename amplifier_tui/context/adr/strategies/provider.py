"""Compaction as a context provider (ADR 0016)."""

from typing import Any

from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.adr.strategies.annotations import (
    TokenizerProtocol,
    annotate_message_groups,
    is_excluded,
)
from amplifier_tui.context.adr.strategies.strategies import CompactionStrategy


class CompactionProvider(ContextProvider):
    """Compacts what other providers loaded, and what a history has stored.

    It has to come after the history among an agent's providers. What the second strategy excludes
    is left out of later runs by a history with ``skip_excluded=True``.

    Args:
        before_strategy: Runs on what this run's context holds; None for no change.
        after_strategy: Runs on the history in the session's state; None for no change.
        tokenizer: Counts tokens; an estimate by default.
        source_id: Name under which it is known.
        history_source_id: Whose stored messages the second strategy is for.
    """

    def __init__(
        self,
        before_strategy: CompactionStrategy | None = None,
        after_strategy: CompactionStrategy | None = None,
        tokenizer: TokenizerProtocol | None = None,
        *,
        source_id: str = "compaction",
        history_source_id: str = "in_memory",
    ) -> None:
        super().__init__(source_id)
        self._before = before_strategy
        self._after = after_strategy
        self._tokenizer = tokenizer
        self._history_source_id = history_source_id

    async def before_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Leave out what the strategy excludes; a summary counts as said by whom it follows."""
        if self._before is None:
            return
        messages = context.get_messages()
        source_of = {
            id(message): source
            for source, loaded in context.context_messages.items()
            for message in loaded
        }
        annotate_message_groups(messages, self._tokenizer)
        await self._before(messages)
        kept: dict[str, list[Message]] = {source: [] for source in context.context_messages}
        source = next(iter(kept), self.source_id)
        for message in messages:
            source = source_of.get(id(message), source)
            if not is_excluded(message):
                kept.setdefault(source, []).append(message)
        context.context_messages.update(kept)

    async def after_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Mark in the stored history what the strategy excludes."""
        history = session.state.get(self._history_source_id)
        messages = history.get("messages") if isinstance(history, dict) else None
        if self._after is None or not isinstance(messages, list) or not messages:
            return
        annotate_message_groups(messages, self._tokenizer)
        await self._after(messages)
