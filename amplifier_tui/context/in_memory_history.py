"""A history in the session's own state (ADR 0016)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from amplifier_tui.context.compaction.annotations import is_excluded
from amplifier_tui.context.history_provider import HistoryProvider
from amplifier_tui.context.message import Message


class InMemoryHistoryProvider(HistoryProvider):
    """Keeps the messages in ``state["messages"]``, and so wherever the session is saved.

    Args:
        source_id: Name under which everything it adds is known.
        load_messages: See `HistoryProvider`.
        store_inputs: See `HistoryProvider`.
        store_context_messages: See `HistoryProvider`.
        store_context_from: See `HistoryProvider`.
        store_outputs: See `HistoryProvider`.
        store_responses: See `HistoryProvider`.
        skip_excluded: Leave out what a compaction of the stored history has excluded.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "in_memory"

    def __init__(
        self,
        source_id: str | None = None,
        *,
        load_messages: bool = True,
        store_inputs: bool = True,
        store_context_messages: bool = False,
        store_context_from: Collection[str] | str | None = None,
        store_outputs: bool = True,
        store_responses: bool | None = None,
        skip_excluded: bool = False,
    ) -> None:
        super().__init__(
            source_id or self.DEFAULT_SOURCE_ID,
            load_messages=load_messages,
            store_inputs=store_inputs,
            store_context_messages=store_context_messages,
            store_context_from=store_context_from,
            store_outputs=store_outputs,
            store_responses=store_responses,
        )
        self.skip_excluded = skip_excluded

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return the messages in the state; none without a state."""
        stored = (state or {}).get("messages") or []
        return [m for m in stored if not (self.skip_excluded and is_excluded(m))]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Add to the messages in the state; without a state there is nowhere to."""
        if state is not None:
            state["messages"] = [*(state.get("messages") or []), *messages]
