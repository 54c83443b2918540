"""The state of the session on screen: events in, changes of the conversation out."""

import time
from collections.abc import Callable, Iterable

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import (
    BudgetChanged,
    Failed,
    HostEvent,
    JobChanged,
    ModuleDegraded,
    ModuleFailed,
    ModuleLoading,
    ModuleMounted,
    ModuleUnmounted,
    Notice,
    OpeningReported,
    QueueChanged,
    SessionClosed,
    SessionHeld,
    SessionOpened,
    ShellEnded,
    ShellProgress,
    ShellStarted,
    TrustAsked,
)
from amplifier_tui.ui.state.activity import Activity
from amplifier_tui.ui.state.conversation.conversation import ConversationState
from amplifier_tui.ui.state.conversation.entries import ConversationEntry, EntryChange, UserEntry
from amplifier_tui.ui.state.conversation.lane_lines import LaneLines
from amplifier_tui.ui.state.conversation.marks import as_said
from amplifier_tui.ui.state.facts import Facts
from amplifier_tui.ui.state.instruments.budget import BudgetState
from amplifier_tui.ui.state.instruments.commands import BackgroundCommands, ModuleCommands
from amplifier_tui.ui.state.instruments.event_ring import CAPACITY, EventRing
from amplifier_tui.ui.state.instruments.modules import Modules
from amplifier_tui.ui.state.instruments.todo import Todo
from amplifier_tui.ui.state.instruments.usage import UsageTotals
from amplifier_tui.ui.state.moments import Moments
from amplifier_tui.ui.state.notices import Notices
from amplifier_tui.ui.state.section import Route
from amplifier_tui.ui.state.waiting import Approvals, AskedQuestions, PromptQueue, TrustQuestion

_COMMAND = 48
"""Characters of a command that a question shows."""
_PENDING_LIMIT = 20_000
"""Events kept of a session that is being opened while another is on screen."""


_BESIDE = frozenset(
    (ShellStarted, ShellProgress, ShellEnded, JobChanged, Notice, QueueChanged, BudgetChanged)
)
"""Events that are no sign of life of the agent."""

_OF_MODULES = frozenset(
    (OpeningReported, ModuleMounted, ModuleFailed, ModuleUnmounted, ModuleDegraded)
)
"""Events that change how many modules are ready."""

SILENCE = 10.0
"""Seconds without a sign of life of the model after which that is said."""


class SessionState:
    """What the screen shows, reduced from the event stream.

    Plain data and no Textual: widgets read the sections and compare their `version`. Events may
    come in any order, twice or not at all; none of that raises.

    One session is on screen. The first session an event names is followed at once, so that its
    modules are seen loading. Events of another session are kept until its `SessionOpened` comes:
    a bundle that cannot be opened leaves everything as it was.

    Notices expire by `clock`, in Unix seconds. The event log keeps `log_capacity` rows in memory.
    """

    def __init__(
        self, clock: Callable[[], float] = time.time, log_capacity: int = CAPACITY
    ) -> None:
        self.facts = Facts()
        self.conversation = ConversationState()
        self.modules = Modules()
        self.log = EventRing(log_capacity)
        self.budget = BudgetState()
        self.usage = UsageTotals()
        self.approvals = Approvals()
        self.questions = AskedQuestions()
        self.trust = TrustQuestion()
        self.queue = PromptQueue()
        self.todo = Todo()
        self.commands = ModuleCommands()
        self.jobs = BackgroundCommands()
        self.notices = Notices(clock)
        self.activity = Activity()
        self.moments = Moments()
        self.heard = 0.0
        """When the agent was heard last, in Unix seconds."""
        self.moment: float | None = None
        """The past moment, in Unix seconds, that modules and context are shown of; None for now."""
        self._past = (self.modules, self.budget)
        self._per_session = (
            *(self.conversation, self.modules, self.log, self.budget, self.usage),
            *(self.approvals, self.questions, self.trust, self.queue, self.todo),
            *(self.commands, self.jobs, self.activity),
            self.moments,
        )
        self._sections = (self.facts, self.notices, *self._per_session)
        self._routes: dict[type[HostEvent], tuple[Route, ...]] = {}
        self._left: set[str] = set()
        self._pending_id = ""
        self._pending: list[HostEvent] = []

    @property
    def entries(self) -> list[ConversationEntry]:
        """The conversation, in order. Read only."""
        return self.conversation.list.entries

    @property
    def lanes(self) -> LaneLines:
        """The sub-agents."""
        return self.conversation.lanes

    @property
    def work(self) -> list[str]:
        """What runs, in the background too: each with its article, to begin a sentence with."""
        jobs = (one_line(job.command, _COMMAND) for job in self.jobs.running)
        background = (f"The background command {command}" for command in jobs)
        return [*filter(None, [self.activity.work]), *background]

    def prompt_of(self, entry: ConversationEntry | None = None) -> UserEntry | None:
        """Return the prompt of the turn that an entry is of; without an entry, of the last turn."""
        entries = self.entries
        if entry is not None:
            at = next((i for i, known in enumerate(entries) if known is entry), -1)
            entries = entries[: at + 1]
        prompts = (each for each in reversed(entries) if isinstance(each, UserEntry))
        return next((each for each in prompts if each.begins_turn), None)

    def look_at(self, moment: float | None) -> None:
        """Show modules and context as they were at a moment; None for now."""
        self.moment = moment
        if moment is not None:
            self._past = self.moments.at(moment)

    @property
    def shown_modules(self) -> Modules:
        """The modules, of the moment that is looked at."""
        return self.modules if self.moment is None else self._past[0]

    @property
    def shown_budget(self) -> BudgetState:
        """The budget, of the moment that is looked at."""
        return self.budget if self.moment is None else self._past[1]

    def apply(self, events: Iterable[HostEvent]) -> list[EntryChange]:
        """Take a batch of events and return what it did to the conversation."""
        for event in events:
            self._receive(event)
        # The stored part of a session may end with the batch and nothing live follow for long.
        self.conversation.settle_replay()
        return self.conversation.list.take_changes()

    def prepend(self, events: Iterable[HostEvent]) -> list[EntryChange]:
        """Put earlier, replayed events in front of the conversation; nothing else changes."""
        earlier = ConversationState()
        for event in events:
            if not isinstance(event, SessionOpened):
                earlier.apply(as_said(event))
        self.conversation.prepend(earlier)
        return self.conversation.list.take_changes()

    def silence(self, now: float) -> float:
        """Return for how many seconds nothing came from the model; 0 where that is as it should."""
        waits = self.activity.awaits_model and self.trust.pending is None
        if not waits or self.notices.retrying is not None:
            return 0.0
        seconds = now - max(self.heard, self.activity.started)
        return seconds if seconds >= SILENCE else 0.0

    def dismiss_plan(self) -> list[EntryChange]:
        """Ask about the plan no more; returns what that did to the conversation."""
        self.conversation.dismiss_plan()
        return self.conversation.list.take_changes()

    def _receive(self, event: HostEvent) -> None:
        session_id = event.session_id
        current = self.facts.session_id
        begins = isinstance(event, ModuleLoading | SessionOpened) or (
            event.replayed and not isinstance(event, SessionClosed)
        )
        if begins:
            self._left.discard(session_id)
        if session_id in ("", current) or session_id in self.lanes.by_lane:
            if begins and self.facts.closed and session_id:
                self._take(session_id)
            self._dispatch(event)
        elif not current:
            self.facts.begin(session_id)
            self._dispatch(event)
        elif isinstance(event, SessionOpened) or (
            # A question of trust comes before any module is loaded.
            not self.facts.opened and (begins or isinstance(event, TrustAsked))
        ):
            self._take(session_id)
            self._dispatch(event)
        elif session_id not in self._left:
            self._keep(event)
        elif isinstance(event, Notice):
            self._dispatch(event)

    def _keep(self, event: HostEvent) -> None:
        """Keep an event of a session that is being opened behind the one on screen."""
        if isinstance(event, ModuleLoading | ModuleMounted | ModuleFailed):
            self.activity.open_soon(event)
        if isinstance(event, Failed | Notice):
            self._dispatch(event)
        if isinstance(event, Notice):
            return
        if event.session_id != self._pending_id:
            self._pending_id, self._pending = event.session_id, []
        if len(self._pending) < _PENDING_LIMIT:
            self._pending.append(event)

    def _take(self, session_id: str) -> None:
        """Give the screen to another session, or to a new life of the same one."""
        self._left.add(self.facts.session_id)
        self._left.discard(session_id)
        pending = self._pending if self._pending_id == session_id else []
        self._pending_id, self._pending = "", []
        self.facts.begin(session_id)
        self.moment = None
        for section in self._per_session:
            section.clear()
        for event in pending:
            self._dispatch(event)

    def _dispatch(self, event: HostEvent) -> None:
        event = as_said(event)
        kind = type(event)
        routes = self._routes.get(kind)
        if routes is None:
            routes = self._routes[kind] = tuple(
                route for section in self._sections for route in section.handlers_of(kind)
            )
        if not event.replayed and kind is not SessionOpened:
            self.conversation.end_replay(elsewhere=kind is SessionHeld)
        for route in routes:
            if not route.skips(event):
                route.handle(event)
        if kind in _OF_MODULES:
            self.conversation.count_modules(self.modules.count("ready"), self.modules.amiss)
        if kind not in _BESIDE and not event.replayed:
            self.heard = event.at
        self.moments.note(event.at, self.entries)
