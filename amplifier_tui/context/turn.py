"""One turn of a session with providers: what they add before it, what they hear after it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.base.text import short_count
from amplifier_tui.base.tokens import text_tokens
from amplifier_tui.context.adr.history import HistoryProvider
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.compaction.shorten import shortened
from amplifier_tui.context.entries import ATTRIBUTION, Entry, read_entry
from amplifier_tui.context.ledger import Ledger
from amplifier_tui.context.request.frame import LentTurn

MESSAGE_CAP: Final = 128 * 1024
"""Characters a context provider's message may have; what is longer is cut on arrival."""

_CAP_TOKENS: Final = text_tokens("x" * MESSAGE_CAP)


@dataclass(slots=True)
class ProviderTurn:
    """A turn that began at a row of the ledger, with the providers that take part.

    Attributes:
        answered_from: First ledger row after its input.
        context: What the providers and the turn say to each other.
        tools: The tools that were mounted for it, by name.
    """

    start: int
    answered_from: int
    context: SessionContext
    providers: list[ContextProvider] = field(default_factory=list)
    tools: dict[str, Any] = field(default_factory=dict)


def turn_start(entries: Sequence[Entry], marked: int) -> int:
    """Return the row a turn begins with; ``marked`` rows were there when it was announced.

    That is the first of the user's words nobody answered; or, where the user said nothing new and
    the agent is to go on, the beginning of the turn that it goes on with.
    """
    start = first_unanswered(entries, min(marked, len(entries)))
    if any(entry.own for entry in entries[start:]):
        return start
    last = next((i for i in range(start - 1, -1, -1) if entries[i].own), None)
    return start if last is None else first_unanswered(entries, last)


def first_unanswered(entries: Sequence[Entry], start: int) -> int:
    """Return where the words of the user and of hooks right before a row begin."""
    while start > 0 and entries[start - 1].role == "user":
        start -= 1
    return start


def first_answer(entries: Sequence[Entry], start: int) -> int:
    """Return the first row of a turn that is no input: somebody answers."""
    rows = range(start, len(entries))
    return next((row for row in rows if is_answer(entries[row])), len(entries))


def is_answer(entry: Entry) -> bool:
    """Whether the assistant or a tool said it."""
    return entry.role in ("assistant", "tool")


def to_messages(entries: Iterable[Entry]) -> list[Message]:
    """Return copies of rows as messages of ADR 0016."""
    return [Message.from_kernel(copy_plain(entry.message)) for entry in entries]


def lend(
    context: SessionContext,
    ledger_history: LedgerHistory,
    histories: Sequence[HistoryProvider],
    *,
    service: bool,
) -> LentTurn:
    """Return what providers added as rows of a request, in their order.

    Args:
        context: The run.
        ledger_history: Whose messages stand for the ledger rows before this turn.
        histories: Those that took part: what they bring was said in this conversation.
        service: Whether the model's service keeps the history.
    """
    said_here = {history.source_id for history in histories}
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    entries: list[Entry] = []
    past_rows = 0
    for source in context.sources:
        if source == ledger_history.source_id and source in context.unread:
            if not entries:
                past_rows = ledger_history.until
            entries += ledger_history.rows
            continue
        for message in context.messages_of(source):
            entry = ledger_history.entry_of(message) if source in said_here else None
            if entry is None:
                row = _row(message, source, said_here=source in said_here)
                key = _key(source, row, counts)
                entry = read_entry(row, key, names, provided=source not in said_here)
                if entry.provided and entry.tokens > _CAP_TOKENS:
                    entry = _capped(entry, names, context)
            entries.append(entry)
    loading = next((history for history in histories if history.load_messages), ledger_history)
    return LentTurn(
        start=ledger_history.until,
        context=entries,
        past_rows=past_rows,
        instructions=context.attributed_instructions(),
        history=loading.source_id,
        service=service,
    )


def without(lent: LentTurn, gone: Collection[str]) -> LentTurn:
    """Return what was lent without what some sources added."""
    return replace(
        lent,
        context=[each for each in lent.context if each.key.rpartition("#")[0] not in gone],
        instructions=[part for part in lent.instructions if part[0] not in gone],
    )


def _row(message: Message, source: str, *, said_here: bool) -> dict[str, Any]:
    row = message.to_kernel()
    metadata = dict(row.get("metadata") or {})
    if said_here:
        # A history brings back what others said: its own name is not theirs.
        metadata.pop(ATTRIBUTION, None)
    else:
        metadata.setdefault(ATTRIBUTION, {"source_id": source})
    if metadata:
        row["metadata"] = metadata
    else:
        row.pop("metadata", None)
    return row


def _key(source: str, row: dict[str, Any], counts: dict[str, int]) -> str:
    """A name that the message has in the next turn, too: by what it says, and how often."""
    text = json.dumps([row.get("role"), row.get("content")], default=str, sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    name = f"{source}#{digest}"
    counts[name] = counts.get(name, 0) + 1
    return name if counts[name] == 1 else f"{name}.{counts[name]}"


def _capped(entry: Entry, names: dict[str, str], context: SessionContext) -> Entry:
    content = entry.message.get("content")
    pieces = max(1, len(content)) if isinstance(content, list) else 1
    row = shortened(entry.message, MESSAGE_CAP // pieces)
    if row is entry.message:
        return entry
    cut = read_entry(row, entry.key, names, provided=True)
    context.notify(
        f"Context source '{entry.source}' added a message of about "
        f"{short_count(entry.tokens)} tokens; it was cut to {short_count(cut.tokens)}."
    )
    return cut


class LedgerHistory(HistoryProvider):
    """Brings back the ledger's rows before ``until``; it stores nothing, the ledger did."""

    DEFAULT_SOURCE_ID: ClassVar[str] = "history"

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(self.DEFAULT_SOURCE_ID, store_inputs=False, store_outputs=False)
        self.until = 0
        self._ledger = ledger
        self._given: dict[int, tuple[Message, Entry]] = {}

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return the messages before this turn."""
        return [self._message(entry) for entry in self.rows]

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
        """Add the messages before this turn, for whoever looks at them."""
        self._given = {}
        context.extend_when_read(self.source_id, self._load)

    def _load(self) -> list[Message]:
        given = [(self._message(entry), entry) for entry in self.rows]
        self._given = {id(message): (message, entry) for message, entry in given}
        return [message for message, _ in given]

    @property
    def rows(self) -> Sequence[Entry]:
        """The ledger's rows before this turn."""
        return self._ledger.entries[: self.until]

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
