"""An agent over any kernel provider (ADR 0016)."""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, Literal, overload
from uuid import uuid4

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.context.adr.agent_loop import Loop
from amplifier_tui.context.adr.agent_tools import named_tools
from amplifier_tui.context.adr.history import InMemoryHistoryProvider
from amplifier_tui.context.adr.message import Message, as_messages
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext
from amplifier_tui.context.adr.provider_runs import (
    ProviderRuns,
    loading_histories,
    runs_before,
    warn_of_histories,
)
from amplifier_tui.context.adr.response import AgentResponse, ResponseStream, Sink
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.adr.strategies import CompactionStrategy

Input = str | Message | Sequence[str | Message]


class ChatAgent:
    """An agent with context providers.

    Where no provider loads a history, one in the session's state is used, unless the model's
    service keeps the conversation or is asked to store it.

    Args:
        chat_client: A kernel provider.
        instructions: What the agent is told about itself.
        name: Its name.
        id: Its id; a random one by default.
        description: What it is for.
        tools: Kernel tools and functions it may call.
        context_providers: Who adds to its context, in this order.
        default_options: Options of every run.
        compaction_strategy: Runs on the messages before every request of a run.
        max_iterations: Most requests of one run.
        hooks: Where the chat client tells what it streams; by default its coordinator's registry.
        provider_timeout: Seconds a context provider's hook may take; None for as long as it takes.
    """

    def __init__(
        self,
        chat_client: Any,
        *,
        instructions: str | None = None,
        name: str | None = None,
        id: str | None = None,
        description: str | None = None,
        tools: Iterable[Any] | None = None,
        context_providers: Sequence[ContextProvider] | None = None,
        default_options: Mapping[str, Any] | None = None,
        compaction_strategy: CompactionStrategy | None = None,
        max_iterations: int = 40,
        hooks: Any | None = None,
        provider_timeout: float | None = None,
    ) -> None:
        self.chat_client = chat_client
        self.instructions = instructions
        self.name = name
        self.id = id or str(uuid4())
        self.description = description
        self.context_providers: list[ContextProvider] = list(context_providers or [])
        self._tools = list(tools or [])
        self._default_options = dict(default_options or {})
        self._strategy = compaction_strategy
        self._max_iterations = max_iterations
        self._hooks = hooks or getattr(getattr(chat_client, "coordinator", None), "hooks", None)
        self._runs = ProviderRuns(self, provider_timeout)
        self._default_history = InMemoryHistoryProvider()
        self._warned = False

    def create_session(
        self, *, session_id: str | None = None, service_session_id: str | None = None
    ) -> AgentSession:
        """Return a new session.

        Args:
            session_id: Its id; a random one by default.
            service_session_id: Id the model's service knows it by, if the service keeps it.
        """
        return AgentSession(session_id=session_id, service_session_id=service_session_id)

    def get_session(
        self, service_session_id: str, *, session_id: str | None = None
    ) -> AgentSession:
        """Return a session that the model's service keeps; the arguments are `create_session`'s."""
        return self.create_session(session_id=session_id, service_session_id=service_session_id)

    @overload
    def run(
        self,
        messages: Input | None = None,
        *,
        stream: Literal[False] = False,
        session: AgentSession | None = None,
        tools: Iterable[Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Awaitable[AgentResponse]: ...

    @overload
    def run(
        self,
        messages: Input | None = None,
        *,
        stream: Literal[True],
        session: AgentSession | None = None,
        tools: Iterable[Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> ResponseStream: ...

    def run(
        self,
        messages: Input | None = None,
        *,
        stream: bool = False,
        session: AgentSession | None = None,
        tools: Iterable[Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Awaitable[AgentResponse] | ResponseStream:
        """Run the agent.

        What goes wrong in a provider's `after_run` does not cost the answer: it is logged and
        listed under ``context_errors`` in its additional properties.

        Args:
            messages: What is new: a text, a message, or several.
            stream: Whether to return the answer while it comes.
            session: The conversation; without one nothing is remembered.
            tools: Tools for this run, beside the agent's.
            options: Options of the requests, such as ``model``; None leaves one at the default.

        Returns:
            The answer to await, or a stream of it.

        Raises:
            Exception: What a provider's `before_run` or the chat client raised.
        """
        run = _Run(self, as_messages(messages), session, list(tools or ()), dict(options or {}))
        if stream:
            return ResponseStream(run.ask, run.finish)
        return run.whole()

    def run_stream(
        self,
        messages: Input | None = None,
        *,
        session: AgentSession | None = None,
        tools: Iterable[Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> ResponseStream:
        """Run the agent and return the answer while it comes; see `run`."""
        return self.run(messages, stream=True, session=session, tools=tools, options=options)

    def _providers(
        self, session: AgentSession | None, options: Mapping[str, Any]
    ) -> list[ContextProvider]:
        """The providers of a run, with a history in front where nobody else has one."""
        providers = list(self.context_providers)
        store = options.get("store")
        if store is None:
            store = getattr(self.chat_client, "STORES_BY_DEFAULT", False) is True
        kept = (
            session is None
            or session.service_session_id is not None
            or options.get("conversation_id") is not None
            or store is True
        )
        default = not kept and not loading_histories(providers)
        if not self._warned:
            self._warned = True
            service = session is not None and session.service_session_id is not None
            warn_of_histories(providers, default_history=default, service=service)
        if not default:
            return providers
        history = self._default_history
        if any(provider.source_id == history.source_id for provider in providers):
            # A store that is only for the record may have the name: its part is not ours.
            history = InMemoryHistoryProvider(f"{history.source_id}_default")
        return [history, *providers]


@dataclass(slots=True)
class _Run:
    """One run of an agent, from its input to the providers' `after_run`."""

    agent: ChatAgent
    input: list[Message]
    given_session: AgentSession | None
    tools: list[Any]
    given_options: dict[str, Any]
    _session: AgentSession | None = None
    _context: SessionContext | None = None
    _providers: Sequence[ContextProvider] = ()

    async def whole(self) -> AgentResponse:
        """Run without streaming."""
        answer = await self.ask(None)
        await self.finish(answer)
        return answer

    async def ask(self, sink: Sink | None) -> AgentResponse:
        """Let the providers add their part, and ask the model."""
        agent = self.agent
        said = {name: value for name, value in self.given_options.items() if value is not None}
        options = {**agent._default_options, **said}
        providers = agent._providers(self.given_session, options)
        session = self.given_session or AgentSession()
        conversation = session.service_session_id or options.get("conversation_id")
        context = SessionContext(
            session_id=session.session_id,
            service_session_id=session.service_session_id,
            input_messages=self.input,
            options=options,
        )
        self._session, self._context, self._providers = session, context, providers
        for provider in providers:
            if runs_before(provider, service=conversation is not None):
                await agent._runs.before(provider, session, context)
        instructions = [agent.instructions, options.get("instructions"), *context.instructions]
        loop = Loop(
            client=agent.chat_client,
            instructions="\n".join(text for text in instructions if text),
            tools=named_tools(agent._tools, context.tools, self.tools, options.get("tools")),
            options=options,
            max_iterations=agent._max_iterations,
            strategy=agent._strategy,
            hooks=agent._hooks,
            conversation_id=conversation,
        )
        answer = await loop.run(context.get_messages(include_input=True), sink)
        if loop.conversation_id is not None and self.given_session is not None:
            session.service_session_id = loop.conversation_id
        answer.agent_id = agent.id
        return answer

    async def finish(self, answer: AgentResponse) -> None:
        """Let the providers look at the answer."""
        if self._session is None or self._context is None:
            return
        self._context._response = answer
        errors = await self.agent._runs.after(self._providers, self._session, self._context)
        if errors:
            answer.additional_properties["context_errors"] = errors
