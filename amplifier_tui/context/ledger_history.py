"""The ledger as a history: what was said before this turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from amplifier_tui.context.attribution import ATTRIBUTION
from amplifier_tui.context.entries import Entry
from amplifier_tui.context.history_provider import HistoryProvider
from amplifier_tui.context.ledger import Ledger
from amplifier_tui.context.message import Message
from amplifier_tui.context.session import AgentSession
from amplifier_tui.context.session_context import SessionContext


class LedgerHistory(HistoryProvider):
    """Brings back what the ledger holds of earlier turns; it stores nothing, the ledger did.

    Args:
        ledger: The session's rows.
        source_id: Name under which the history is known.

    Attributes:
        until: The first row that is not history.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "history"

    def __init__(self, ledger: Ledger, source_id: str | None = None) -> None:
        super().__init__(
            source_id or self.DEFAULT_SOURCE_ID, store_inputs=False, store_outputs=False
        )
        self.until = 0
        self._ledger = ledger
        self._given: dict[int, tuple[Message, Entry]] = {}

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return the messages before this turn."""
        return [self._message(entry) for entry in self._ledger.entries[: self.until]]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Do nothing: what is said is in the ledger when it is said."""

    async def before_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add the messages before this turn."""
        self._given = {}
        messages: list[Message] = []
        for entry in self._ledger.entries[: self.until]:
            message = self._message(entry)
            self._given[id(message)] = (message, entry)
            messages.append(message)
        # They are this run's own already; copying each of a long history takes time.
        context.context_messages.setdefault(self.source_id, []).extend(messages)

    def entry_of(self, message: Message) -> Entry | None:
        """Return the row a message of this run stands for; None if it is another one by now."""
        found = self._given.get(id(message))
        if found is None:
            return None
        given, entry = found
        return entry if given is message and message.is_as_loaded else None

    def forget(self) -> None:
        """Let the messages of the last run go."""
        self._given = {}

    def _message(self, entry: Entry) -> Message:
        message = Message.from_kernel(entry.message)
        mark = message.additional_properties.get(ATTRIBUTION)
        known = mark if isinstance(mark, dict) else {}
        message.additional_properties[ATTRIBUTION] = {"source_id": self.source_id, **known}
        return message
