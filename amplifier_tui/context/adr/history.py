"""Whoever stores a conversation and brings it back (ADR 0016)."""

import asyncio
import hashlib
import logging
import re
from abc import ABC, abstractmethod
from base64 import urlsafe_b64encode
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, TypedDict, Unpack

from amplifier_tui.base.jsonl import append_rows, read_rows
from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.context.adr.groups import is_excluded
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext, as_sources
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.entries import ATTRIBUTION

logger = logging.getLogger(__name__)

_RUNTIME_MARKS = (ATTRIBUTION, "attribution")


class HistoryFlags(TypedDict, total=False):
    """What a history loads and stores; see `HistoryProvider`."""

    load_messages: bool
    store_inputs: bool
    store_context_messages: bool
    store_context_from: Collection[str] | str | None
    store_outputs: bool
    store_responses: bool | None


class HistoryProvider(ContextProvider, ABC):
    """Stores what is said, and loads it before the next run.

    Args:
        source_id: Name under which everything it adds is known.
        load_messages: Whether to load; without it `before_run` is not called at all, as for a
            store that is only for the record.
        store_inputs: Whether to store what the user said.
        store_context_messages: Whether to store what other providers added.
        store_context_from: Only from these providers; None or empty for all.
        store_outputs: Whether to store what the agent answered.
        store_responses: The same, under the ADR's name.
    """

    def __init__(
        self,
        source_id: str,
        *,
        load_messages: bool = True,
        store_inputs: bool = True,
        store_context_messages: bool = False,
        store_context_from: Collection[str] | str | None = None,
        store_outputs: bool = True,
        store_responses: bool | None = None,
    ) -> None:
        super().__init__(source_id)
        self.load_messages = load_messages
        self.store_inputs = store_inputs
        self.store_context_messages = store_context_messages
        self.store_context_from = as_sources(store_context_from) or None
        self.store_outputs = store_outputs if store_responses is None else store_responses

    @property
    def store_responses(self) -> bool:
        """Whether to store what the agent answered; the ADR's name for ``store_outputs``."""
        return self.store_outputs

    @abstractmethod
    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return what is stored of a session; ``state`` is this provider's part of its state."""

    @abstractmethod
    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Add what a run produced to what is stored: two equal messages are two messages."""

    async def before_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Load."""
        messages = await self.get_messages(context.session_id, state=state)
        context.extend_messages(self, messages)

    async def after_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Store what the flags say."""
        messages = self.messages_to_store(context)
        if messages:
            await self.save_messages(context.session_id, messages, state=state)

    def messages_to_store(self, context: SessionContext) -> list[Message]:
        """Return what the flags say of a run, without the marks that only hold during it."""
        found: list[Message] = []
        if self.store_context_messages:
            if self.store_context_from:
                found += context.get_messages(sources=self.store_context_from)
            else:
                found += context.get_messages(exclude_sources=[self.source_id])
        if self.store_inputs:
            found += context.input_messages
        if self.store_outputs and context.response is not None:
            found += context.response.messages
        bare = [message.copy() for message in found]
        for message in bare:
            for mark in _RUNTIME_MARKS:
                message.additional_properties.pop(mark, None)
        return bare


class InMemoryHistoryProvider(HistoryProvider):
    """Keeps the messages in ``state["messages"]``, and so wherever the session is saved.

    With ``skip_excluded`` it leaves out what a compaction of the stored history has excluded.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "in_memory"

    def __init__(
        self,
        source_id: str | None = None,
        *,
        skip_excluded: bool = False,
        **flags: Unpack[HistoryFlags],
    ) -> None:
        super().__init__(source_id or self.DEFAULT_SOURCE_ID, **flags)
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


class FileHistoryProvider(HistoryProvider):
    """Appends the messages of each session to a file of its own in the folder ``storage_path``.

    A torn last line, as a crash leaves it, is moved aside; other lines that can't be read are left
    out and logged. The other arguments are those of `InMemoryHistoryProvider`.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "file_history"

    def __init__(
        self,
        storage_path: Path | str,
        *,
        source_id: str | None = None,
        skip_excluded: bool = False,
        **flags: Unpack[HistoryFlags],
    ) -> None:
        super().__init__(source_id or self.DEFAULT_SOURCE_ID, **flags)
        self.skip_excluded = skip_excluded
        self._folder = Path(storage_path)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def path(self, session_id: str | None) -> Path:
        """Return the file of a session; it is always right in the folder."""
        return self._folder / f"{safe_name(session_id)}.jsonl"

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return the messages in the session's file; raises ``OSError``."""
        path = self.path(session_id)
        async with self._locks[path.name]:
            rows, _ = await asyncio.to_thread(read_rows, path)
        messages = [message for row in rows if (message := read_message(row, path)) is not None]
        return [m for m in messages if not (self.skip_excluded and is_excluded(m))]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Append the messages to the session's file, all of them or none.

        Raises:
            OSError: It can't be written.
            TypeError: A message holds something that JSON has no form for.
        """
        path = self.path(session_id)
        rows = [message.to_dict() for message in messages]
        async with self._locks[path.name]:
            await asyncio.to_thread(append_rows, path, rows)


def read_message(row: dict[str, Any], place: object) -> Message | None:
    """Return the message of a stored row; one that can't be read is logged with its place."""
    try:
        return Message.from_dict(row)
    except (ValueError, RecursionError) as error:
        logger.warning("A message in %s can't be read and is left out: %s", place, error)
        return None


_PLAIN: Final = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_RESERVED: Final = lazy_pattern(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_LONGEST: Final = 120


def safe_name(identity: str | None) -> str:
    """Return a file name for an id: the id itself where it is harmless on every system.

    It is no path and no device, and another one for every id; without an id it is "default".
    """
    if not identity:
        return "default"
    # "default" and names with the prefix are not plain: two ids never share a name.
    if _PLAIN.fullmatch(identity) and not _RESERVED.fullmatch(identity) and identity != "default":
        return identity
    data = identity.encode("utf-8", "surrogatepass")
    name = "~session-" + urlsafe_b64encode(data).decode().rstrip("=")
    if len(name) <= _LONGEST:
        return name
    return "~session-sha256-" + hashlib.sha256(data).hexdigest()
