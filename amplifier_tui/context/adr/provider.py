"""What providers and an agent say to each other during one run (ADR 0016)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.entries import ATTRIBUTION

if TYPE_CHECKING:
    from amplifier_tui.context.adr.response import AgentResponse
    from amplifier_tui.context.adr.session import AgentSession

logger = logging.getLogger(__name__)

NOTICES: Final = "notices"
"""Key in ``metadata`` under which a list of messages for the user may be kept."""


class SessionContext:
    """The state of one run, created fresh for each.

    Args:
        session_id: Id of the session.
        service_session_id: Id the model's service knows the session by, if it keeps it.
        input_messages: What is new.
        context_messages: By source, in the order of the request, what providers add.
        instructions: What providers add to the instructions.
        tools: Tools of providers.
        options: Options of the run; only to be looked at.
        metadata: For providers to talk to each other.

    Attributes:
        instruction_sources: Who wrote each of the ``instructions``.
        unread: By source, how to load messages nobody has looked at yet.
    """

    def __init__(
        self,
        *,
        session_id: str | None = None,
        service_session_id: str | None = None,
        input_messages: list[Message],
        context_messages: dict[str, list[Message]] | None = None,
        instructions: list[str] | None = None,
        tools: list[Any] | None = None,
        options: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.service_session_id = service_session_id
        self.input_messages = input_messages
        self._messages: dict[str, list[Message]] = context_messages or {}
        self.unread: dict[str, Callable[[], list[Message]]] = {}
        self.instructions: list[str] = instructions or []
        self.instruction_sources: list[str] = [""] * len(self.instructions)
        self.tools: list[Any] = tools or []
        self.options: dict[str, Any] = options or {}
        self.metadata: dict[str, Any] = metadata or {}
        self._response: AgentResponse | None = None

    @property
    def response(self) -> AgentResponse | None:
        """The agent's answer, once there is one. Providers only read it."""
        return self._response

    @property
    def context_messages(self) -> dict[str, list[Message]]:
        """By source, in the order of the request, what providers add."""
        for source_id in list(self.unread):
            self.messages_of(source_id)
        return self._messages

    @context_messages.setter
    def context_messages(self, messages: dict[str, list[Message]]) -> None:
        self.unread.clear()
        self._messages = messages

    @property
    def sources(self) -> list[str]:
        """The sources of messages, in the order of the request."""
        return list(self._messages)

    def messages_of(self, source_id: str) -> list[Message]:
        """Return what one source added."""
        messages = self._messages[source_id]
        load = self.unread.pop(source_id, None)
        if load is not None:
            messages[:0] = load()
        return messages

    def extend_when_read(self, source_id: str, load: Callable[[], list[Message]]) -> None:
        """Add what ``load`` makes when somebody looks: the messages of a long history take time."""
        self._messages.setdefault(source_id, [])
        self.unread[source_id] = load

    def extend_messages(
        self,
        source: str | ContextProvider,
        messages: Iterable[Message],
        *,
        origin_session_ids: Iterable[str] | None = None,
    ) -> None:
        """Add messages; they are copied and marked with their source.

        Args:
            source: The source's id, or the provider itself.
            messages: What to add. A mark they already carry stays.
            origin_session_ids: Sessions the messages come from, where it is not this one.
        """
        source_id = source if isinstance(source, str) else source.source_id
        mark: dict[str, Any] = {"source_id": source_id}
        if not isinstance(source, str):
            mark["source_type"] = type(source).__name__
        origins = list(origin_session_ids or ())
        into = self._messages.setdefault(source_id, [])
        for message in messages:
            copy = message.copy()
            known = copy.additional_properties.get(ATTRIBUTION)
            marked = {**mark, **(known if isinstance(known, dict) else {})}
            if origins:
                before = marked.get("origin_session_ids") or []
                marked["origin_session_ids"] = list(dict.fromkeys([*before, *origins]))
            copy.additional_properties[ATTRIBUTION] = marked
            into.append(copy)

    def extend_instructions(self, source_id: str, instructions: str | Sequence[str]) -> None:
        """Add one or several texts to the instructions."""
        new = [instructions] if isinstance(instructions, str) else list(instructions)
        missing = len(self.instructions) - len(self.instruction_sources)
        # Whoever appends to `instructions` directly leaves no name.
        self.instruction_sources += [""] * missing
        self.instructions += new
        self.instruction_sources += [source_id] * len(new)

    def attributed_instructions(self) -> list[tuple[str, str]]:
        """Return the instructions, each with the id of its source."""
        sources = [*self.instruction_sources, *[""] * len(self.instructions)]
        return [
            (source or "instructions", text)
            for source, text in zip(sources, self.instructions, strict=False)
        ]

    def extend_tools(self, source_id: str, tools: Iterable[Any]) -> None:
        """Add kernel tools or functions; those with a place for it are marked with their source."""
        new = list(tools)
        for tool in new:
            for place in ("additional_properties", "metadata"):
                marks = getattr(tool, place, None)
                if isinstance(marks, dict):
                    marks["context_source"] = source_id
                    break
        self.tools += new

    def get_messages(
        self,
        *,
        sources: Collection[str] | str | None = None,
        exclude_sources: Collection[str] | str | None = None,
        include_input: bool = False,
        include_response: bool = False,
    ) -> list[Message]:
        """Return messages in the order of the providers.

        Args:
            sources: Only from these.
            exclude_sources: Not from these.
            include_input: Add the run's input.
            include_response: Add the agent's answer.
        """
        only, never = as_sources(sources), as_sources(exclude_sources)
        found: list[Message] = []
        for source_id, messages in self.context_messages.items():
            if only is not None and source_id not in only:
                continue
            if never is None or source_id not in never:
                found += messages
        if include_input:
            found += self.input_messages
        if include_response and self.response is not None:
            found += self.response.messages
        return found

    def notify(self, message: str) -> None:
        """Have something shown to the user, as far as there is one."""
        logger.warning("%s", message)
        self.metadata.setdefault(NOTICES, []).append(message)


def as_sources(sources: Collection[str] | str | None) -> frozenset[str] | None:
    """Return source ids as a set; one id may come as a plain string."""
    if sources is None:
        return None
    return frozenset([sources] if isinstance(sources, str) else sources)


class ContextProvider:
    """Adds context before a run and looks at the answer after it.

    Providers belong to an agent and serve all of its sessions: what belongs to a session goes
    into ``state``, as JSON-native values or objects of types known to `register_state_type`.

    Args:
        source_id: Name under which everything it adds is known.
    """

    def __init__(self, source_id: str) -> None:
        self.source_id = source_id

    async def before_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add to the context, before the model is asked.

        Args:
            agent: Whose run it is.
            session: The session.
            context: What to add to.
            state: This provider's part of ``session.state``.
        """

    async def after_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Look at what came of it; ``context.response`` is the answer. See `before_run`."""
