"""Context providers around the turns of a session, whatever orchestrator runs them.

The providers' `before_run` comes with the first request of a turn, when the user's words are in
the ledger: what goes wrong there leaves the orchestrator as an exception, before the model is
asked. Their `after_run` comes when the turn ended well: at the end of `turn`, or, where nobody
calls that, with the event ``execution:end``.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import Any, Final

from amplifier_tui.context.adr.agent_tools import named_tools
from amplifier_tui.context.adr.history import HistoryProvider
from amplifier_tui.context.adr.provider import NOTICES, ContextProvider, SessionContext
from amplifier_tui.context.adr.provider_runs import (
    ProviderRuns,
    loading_histories,
    runs_before,
    warn_of_histories,
)
from amplifier_tui.context.adr.response import AgentResponse
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.compaction.plan import Plan
from amplifier_tui.context.compaction.summary import summarize
from amplifier_tui.context.errors import ContextSourceError, HistoryUnavailableError
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.provider_contract import check_provider
from amplifier_tui.context.request.report import ContextEvents
from amplifier_tui.context.state_file import STATE_KEY
from amplifier_tui.context.turn import (
    LedgerHistory,
    ProviderTurn,
    first_answer,
    first_unanswered,
    is_answer,
    lend,
    to_messages,
    turn_start,
    without,
)
from amplifier_tui.kernel import events
from amplifier_tui.kernel.mounting.changes import add_shared, drop_shared

DEFAULT_TIMEOUT: Final = 30.0


class ContextPipeline:
    """The context providers of a session.

    Args:
        manager: The session's context manager.
        providers: Who adds to the context, in this order. Without a history that loads, the
            ledger is the history, before all others.
        session: What they remember; a new one by default.
        tools: The mounted tools by name, for tools of providers; None where none can be added.
        hooks: Who is told; None for nobody.
        timeout: Seconds a provider's hook may take; None for as long as it takes.
        name: Name of the module, for messages to the user.

    Attributes:
        report: `ContextView.report`; ``preview`` and ``compact`` are the view's, too.
        context_providers: Who adds to the context; may be changed between turns.
        id: Id under which the answers of the session are known to providers.
        leaves_out: Whether the user goes on without a provider; asked as a turn's are chosen.
    """

    def __init__(
        self,
        manager: SessionContextManager,
        providers: Sequence[ContextProvider] = (),
        *,
        session: AgentSession | None = None,
        tools: Callable[[], dict[str, Any]] | None = None,
        hooks: Any | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        name: str = "context-pipeline",
    ) -> None:
        self.manager = manager
        view = manager.view
        self.report, self.preview, self.compact = view.report, view.preview, view.compact
        self.context_providers: list[ContextProvider] = list(providers)
        self.session = session or AgentSession()
        self.name = name
        self.id = self.session.session_id
        self._history = LedgerHistory(manager.ledger)
        self._runs = ProviderRuns(self, timeout)
        self._tools = tools
        self._events = ContextEvents(hooks, name)
        self._turn: ProviderTurn | None = None
        self._lenders: set[str] = set()
        self._host: object | None = None
        self._announced = False
        self._failed = False
        self._marked = len(manager.ledger)
        self._told_until = 0
        self._skipped: set[str] = set()
        self.leaves_out: Callable[[ContextProvider], bool] = lambda provider: False
        self._gone: set[str] = set()
        self._beginning = asyncio.Lock()
        self._warned = False
        view.before_request, manager.on_reset = self._before_request, self._forget
        view.before_frame = self._let_go

    @property
    def beginning(self) -> bool:
        """Whether providers are being asked before a turn; the model was not asked yet."""
        return self._turn is None and self._beginning.locked()

    # -- providers -------------------------------------------------------------------------------

    def add(self, provider: ContextProvider) -> None:
        """Let a provider take part from the next turn on.

        Raises:
            ProviderContractError: It can't be called as it is.
            ValueError: There is one of that name, or the name is the context's own.
        """
        check_provider(provider)
        if provider.source_id == STATE_KEY:
            raise ValueError(f"'{STATE_KEY}' is no name for a source: its state is kept there")
        if any(other.source_id == provider.source_id for other in self.context_providers):
            raise ValueError(f"There is a context provider '{provider.source_id}' already")
        add_shared(self.context_providers, provider)
        # One that is mounted anew is asked anew.
        self._skipped.discard(provider.source_id)

    def remove(self, source_id: str) -> None:
        """Let a provider take part no longer; ``ValueError`` where there is none of that name."""
        gone = [other for other in self.context_providers if other.source_id == source_id]
        if not gone:
            raise ValueError(f"There is no context provider '{source_id}'")
        for provider in gone:
            drop_shared(self.context_providers, provider)

    def provider(self, source_id: str) -> ContextProvider | None:
        """Return the provider of that name; None where there is none."""
        named = (each for each in self.context_providers if each.source_id == source_id)
        return next(named, None)

    def skip(self, source_id: str) -> None:
        """Go on without a source in the next turn; for the user's answer to an error of it."""
        self._skipped.add(source_id)

    # -- turns -----------------------------------------------------------------------------------

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Say when a turn begins and ends; ``session.execute`` goes inside.

        Raises:
            ExceptionGroup: After a turn that ended well: `ContextSourceError` of providers that
                failed after it. The answer is not affected.
        """
        self._announce()
        own = self._host = object()
        try:
            yield
        except BaseException:
            if self._host is own:
                self._host = None
                self._abandon()
            raise
        if self._host is not own:
            return  # It was given up long ago: the turn that runs now is another one.
        self._host = None
        if self._failed:
            self._abandon()
            return
        errors = await self._end()
        if errors:
            raise ExceptionGroup("Context sources failed after the turn", errors)

    def register(self, hooks: Any) -> Callable[[], None]:
        """Follow turns by a session's events, where nobody calls `turn`; returns what ends it."""
        start, end = events.EXECUTION_START, events.EXECUTION_END
        ends = ExitStack()
        ends.callback(hooks.register(start, self._on_start, name=self.name))
        ends.callback(hooks.register(end, self._on_end, priority=100, name=self.name))
        return ends.close

    async def _on_start(self, event: str, data: dict[str, Any]) -> None:
        if self._host is None:
            self._announce()

    async def _on_end(self, event: str, data: dict[str, Any]) -> None:
        self._failed = data.get("status") not in (None, "completed")
        if self._host is not None:
            return
        if self._failed:
            self._abandon()
            return
        await self._events.notices(await self._end())

    async def _before_request(self) -> None:
        async with self._beginning:
            if self._turn is not None and self._host is None and self._is_over(self._turn):
                # An orchestrator that does not tell when it ends.
                await self._events.notices(await self._end())
            if self._turn is None and (self._announced or self._unanswered()):
                await self._begin()

    def _announce(self) -> None:
        self._abandon()
        self._announced = True
        self._failed = False

    def _unanswered(self) -> bool:
        """Whether the user said something nobody answered; else nobody started a turn."""
        entries = self.manager.ledger.entries
        start = first_unanswered(entries, min(self._marked, len(entries)))
        return any(entry.own for entry in entries[start:])

    def _is_over(self, turn: ProviderTurn) -> bool:
        """Whether the user spoke again since somebody answered in full."""
        answered = False
        for entry in self.manager.ledger.entries[turn.answered_from :]:
            if entry.own and answered:
                return True
            if entry.role == "assistant":
                answered = not entry.calls
        return False

    async def _begin(self) -> None:
        ledger = self.manager.ledger
        entries = ledger.entries
        start = turn_start(entries, self._marked)
        answered = first_answer(entries, start)
        service = self.session.service_session_id is not None
        context = SessionContext(
            session_id=self.session.session_id,
            service_session_id=self.session.service_session_id,
            input_messages=to_messages(e for e in entries[start:answered] if e.own),
        )
        turn = ProviderTurn(start, answered, context)
        self._history.until = start
        self._choose_providers(turn, service=service)
        for provider in list(turn.providers):
            if runs_before(provider, service=service):
                await self._run_before(provider, turn)
        histories = [p for p in turn.providers if isinstance(p, HistoryProvider)]
        lent = lend(context, self._history, histories, service=service)
        self._mount_tools(turn)
        self.manager.view.lent = lent
        self._lenders = {p.source_id for p in turn.providers if not isinstance(p, HistoryProvider)}
        self._history.forget()
        self._turn = turn
        self._skipped.clear()
        await self._tell_notices(context)

    def _choose_providers(self, turn: ProviderTurn, *, service: bool) -> None:
        configured = [
            each
            for each in self.context_providers
            if each.source_id not in self._skipped and not self.leaves_out(each)
        ]
        loads = bool(loading_histories(configured))
        if not self._warned:
            self._warned = True
            # The ledger is always there: a store that is only for the record is no mistake.
            warn_of_histories(configured, default_history=True, service=not loads)
        default = [] if loads or service else [self._history]
        turn.providers = [*default, *configured]

    async def _run_before(self, provider: ContextProvider, turn: ProviderTurn) -> None:
        try:
            await self._runs.before(provider, self.session, turn.context)
            self._gone.discard(provider.source_id)
        except HistoryUnavailableError as error:
            self._tell_gone(error, turn.context)
            turn.context.context_messages.pop(provider.source_id, None)
            if self._history not in turn.providers:
                turn.providers.insert(0, self._history)
                await self._runs.before(self._history, self.session, turn.context)
        except Exception as error:
            await self._tell_notices(turn.context)
            raise self._runs.named(provider, "before_run", error) from error

    def _tell_gone(self, error: HistoryUnavailableError, context: SessionContext) -> None:
        """Tell the user that a store is gone, once until it is back."""
        if error.source_id not in self._gone:
            self._gone.add(error.source_id)
            context.notify(f"{error} The session goes on from its own record.")

    def _mount_tools(self, turn: ProviderTurn) -> None:
        if not turn.context.tools or self._tools is None:
            return
        mounted = self._tools()
        for offered in turn.context.tools:
            ((name, tool),) = named_tools([offered]).items()
            if mounted.get(name) is tool:
                continue
            if name in mounted:
                turn.context.notify(
                    f"A context source offers a tool '{name}', but there is one already; the "
                    "mounted one is used."
                )
                continue
            mounted[name] = turn.tools[name] = tool

    def _unmount_tools(self, turn: ProviderTurn) -> None:
        mounted = self._tools() if self._tools is not None else {}
        for name, tool in turn.tools.items():
            if mounted.get(name) is tool:
                del mounted[name]

    async def _end(self) -> list[ContextSourceError]:
        """End the running turn well: its providers hear of it."""
        turn = self._turn
        self._abandon()
        if turn is None:
            return []
        if turn.start < self._told_until:
            # It went on with a turn the providers heard of: what they know is not said twice.
            turn.context.input_messages = []
            turn.answered_from = max(turn.answered_from, self._told_until)
        self._told_until = self._answered_until()
        answers = filter(is_answer, self.manager.ledger.entries[turn.answered_from :])
        turn.context._response = AgentResponse(to_messages(answers), agent_id=self.id)
        # One that was mounted anew in the meantime stands for what it was; one that is gone is out.
        here = {each.source_id: each for each in (self._history, *self.context_providers)}
        taking_part = [here[each.source_id] for each in turn.providers if each.source_id in here]
        errors = await self._runs.after(taking_part, self.session, turn.context)
        failed: list[ContextSourceError] = []
        for error in errors:
            if isinstance(error.__cause__, HistoryUnavailableError):
                self._tell_gone(error.__cause__, turn.context)
            else:
                failed.append(error)
        await self._tell_notices(turn.context)
        return failed

    def _let_go(self) -> None:
        """Take back what those added that take part no longer: a module can go during a turn."""
        gone = self._lenders.difference(each.source_id for each in self.context_providers)
        lent = self.manager.view.lent
        if gone and lent is not None:
            self.manager.view.lent = without(lent, gone)
        self._lenders -= gone

    def _abandon(self) -> None:
        """End the running turn; what was said in it is in the ledger."""
        turn, self._turn = self._turn, None
        self._announced = False
        self._marked = len(self.manager.ledger)
        if turn is not None:
            self._unmount_tools(turn)

    def _answered_until(self) -> int:
        entries = self.manager.ledger.entries
        return first_unanswered(entries, len(entries))

    def _forget(self) -> None:
        self._abandon()
        self._told_until = self._answered_until()
        self._history.forget()
        self.manager.view.lent = None

    async def _tell_notices(self, context: SessionContext) -> None:
        await self._events.notices(context.metadata.pop(NOTICES, ()))

    # -- what the screen asks --------------------------------------------------------------------

    async def summarize(self, provider: Any, instructions: str = "") -> Plan:
        """Have the model summarize the earlier turns; see `summary.summarize`."""
        return await summarize(self.manager.view, provider, instructions)

    # -- saving ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the session's state: of the providers, and of the context itself."""
        self.session.state[STATE_KEY] = {
            **self.manager.view.to_dict(),
            "turn": self.manager.ledger.turn,
            "told": self._told_until,
        }
        return self.session.to_dict()

    def restore(self, data: dict[str, Any]) -> None:
        """Take over the state that `to_dict` returned, after ``set_messages``.

        Ids in the state of another session, such as the one this was forked from, are left out.
        ``ValueError`` where a part can't be decoded; nothing was changed then.
        """
        given = {"session_id": self.session.session_id, **data}
        restored = AgentSession.from_dict(given)
        self.session.state = restored.state
        if restored.session_id == self.session.session_id:
            self.session.service_session_id = restored.service_session_id
        own = restored.state.get(STATE_KEY)
        own = own if isinstance(own, dict) else {}
        told = own.get("told")
        if isinstance(told, int):
            self._told_until = min(told, self._told_until)
        self.manager.view.restore(own)
