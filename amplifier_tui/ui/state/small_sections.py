"""The small sections: facts, usage, sub-agents, plan, and the notices of hooks and host."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from math import ceil

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host import events
from amplifier_tui.ui.state.section import FieldSection, Section, assign, on, told


class Facts(FieldSection):
    """What the status bar and the terminal title say about the session.

    It is ready for a prompt once it is `opened`. `earlier` counts the stored rows that were not
    replayed. `mode` is the one the gate applies; `sandbox` says why commands can't run in one.
    `efforts` are the levels of effort the model has, and `effort` the one it is told.
    `resume_command` is known when it is closed. `held` says that another window has it open, or
    had it until now.
    """

    def reset(self) -> None:
        """Know nothing yet."""
        self.session_id = ""
        self.opened = False
        self.closed = False
        self.title = ""
        self.first_prompt = ""
        self.bundle = ""
        self.model = ""
        self.effort = ""
        self.efforts: tuple[str, ...] = ()
        self._answered = ""
        self.cwd = ""
        self.directory = ""
        self.branch = ""
        self.earlier = 0
        self.mode: events.Mode = "ask"
        self.sandbox = ""
        self.resume_command = ""
        self.last_answer = ""
        self.held: events.SessionHeld | None = None

    def begin(self, session_id: str) -> None:
        """Follow another session from here on; what was known stays until it is open."""
        self.session_id = session_id
        self.opened = self.closed = False
        self.resume_command = self.last_answer = ""
        self.touch()

    def set_title(self, title: str) -> None:
        """Show another title, such as one the user just gave."""
        self.track(setattr, self, "title", title)

    @on(events.SessionOpened)
    def _opened(self, event: events.SessionOpened) -> None:
        self.session_id = event.session_id
        self.opened, self.closed = True, False
        self.held = None
        names = ("title", "first_prompt", "bundle", "model", "cwd", "directory", "branch")
        assign(self, **told(event, *names, "earlier"))

    @on(events.SessionHeld)
    def _held(self, event: events.SessionHeld) -> None:
        self.held = event

    @on(events.Rewound)
    def _rewound(self, event: events.Rewound) -> None:
        if event.scope != "files":
            self.earlier = event.earlier

    @on(events.TitleChanged)
    def _title_changed(self, event: events.TitleChanged) -> None:
        self.title = event.title

    @on(events.ModeChanged)
    def _mode_changed(self, event: events.ModeChanged) -> None:
        self.mode, self.sandbox = event.mode, event.sandbox

    @on(events.ModelChanged)
    def _model_changed(self, event: events.ModelChanged) -> None:
        if event.model != self.model:
            # A request to the model before may still be answered.
            self._answered = self.model
        assign(self, **told(event, "model", "effort", "efforts"))

    @on(events.SessionClosed)
    def _closed(self, event: events.SessionClosed) -> None:
        self.closed, self.opened = True, False
        self.resume_command = event.resume_command
        self.last_answer = event.last_answer

    @on(events.UsageChanged, live=True, main=True)
    def _uses(self, event: events.UsageChanged) -> None:
        # The model of an answer that was counted before may have been left since.
        if event.model != self._answered:
            self._answered = event.model
            self.model = event.model or self.model


class UsageTotals(FieldSection):
    """The session's total as the host counts it, sub-agents included, and the limit of it.

    `limit_cost` is in dollars, as decimal text; empty and 0 mean that there is none. `at_limit`: a
    request waits there for the user.
    """

    def reset(self) -> None:
        """Start from zero."""
        self.session = events.Usage()
        self.limit_cost = ""
        self.limit_tokens = 0
        self.at_limit = False

    @on(events.LimitAsked, live=True)
    def _asked(self, event: events.LimitAsked) -> None:
        self.at_limit = True

    @on(events.LimitResolved, events.TurnEnded, events.SessionClosed, live=True)
    def _goes_on(self, event: events.HostEvent) -> None:
        self.at_limit = False

    @on(events.LimitChanged)
    def _limited(self, event: events.LimitChanged) -> None:
        self.limit_cost, self.limit_tokens = event.cost, event.tokens

    @on(events.UsageChanged)
    def _changed(self, event: events.UsageChanged) -> None:
        self.session = event.session


class Todo(FieldSection):
    """The plan of the main lane; a sub-agent's own is not shown."""

    def reset(self) -> None:
        """Forget the plan."""
        self.items: tuple[events.TodoItem, ...] = ()

    @on(events.TodoChanged, main=True)
    def _changed(self, event: events.TodoChanged) -> None:
        self.items = event.items


class ModuleCommands(FieldSection):
    """The `/` commands that the session's modules bring, and what `@` can mention of them."""

    def reset(self) -> None:
        """Know of none."""
        self.cards: tuple[events.CommandCard, ...] = ()
        self.mentions: tuple[str, ...] = ()

    @on(events.CommandsChanged, main=True)
    def _changed(self, event: events.CommandsChanged) -> None:
        self.cards = event.commands
        self.mentions = event.mentions


class BackgroundCommands(FieldSection):
    """The agent's commands in the background by id, in the order in which they began."""

    def reset(self) -> None:
        """Know of none."""
        self.by_id: dict[str, events.JobChanged] = {}

    @on(events.JobChanged, live=True, main=True)
    def _changed(self, event: events.JobChanged) -> None:
        before = self.by_id.get(event.job_id)
        tail = event.tail or (before.tail if before is not None else "")
        self.by_id[event.job_id] = replace(event, tail=tail)

    @property
    def running(self) -> list[events.JobChanged]:
        """Those that run, the newest first."""
        return [job for job in reversed(self.by_id.values()) if job.running]


LIFETIME = 8.0
"""Seconds a notice stays in the status bar unless the next one comes."""

_HISTORY = 200


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """A notice with the time it reached the screen, in seconds of the screen's clock."""

    notice: events.Notice
    since: float


def retry_words(event: events.ProviderRetrying, left: float) -> str:
    """Return when a request is sent again; `left` is in seconds."""
    when = f"in {ceil(left)} s" if left > 0 else "now"
    count = f" ({event.attempt} of {event.most})" if event.attempt and event.most else ""
    return f"trying again {when}{count}"


class Notices(Section):
    """Notices, newest last, on the screen's clock in seconds.

    `newest` was not taken off the status bar, though its time may be over; `retrying` is the
    request that is sent again, with when that was said.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self.newest: ShownNotice | None = None
        self.retrying: tuple[events.ProviderRetrying, float] | None = None
        self.history: deque[ShownNotice] = deque(maxlen=_HISTORY)

    @on(events.Notice)
    def _noticed(self, event: events.Notice) -> None:
        """A replayed notice goes to the history only."""
        shown = ShownNotice(event, self._clock())
        self.history.append(shown)
        if not event.replayed:
            self.newest = shown
            if event.ends_compaction:
                self.retrying = None
        self.touch()

    @on(events.SessionOpened, events.SessionClosed, events.Failed, live=True)
    def _opened(self, event: events.HostEvent) -> None:
        self._ends("opened")
        self._ends("compacted")
        self._answered(event)

    @on(events.Compacted, live=True)
    def _compacted(self, event: events.Compacted) -> None:
        self._ends("compacted")
        self._answered(event)

    @on(events.ProviderRetrying, live=True)
    def _retrying(self, event: events.ProviderRetrying) -> None:
        self.retrying = (event, self._clock())
        text = f"{event.problem or event.status}: {retry_words(event, event.delay)}"
        who = told(event, "session_id", "agent", "at")
        line = events.Notice(**who, level="warning", text=text, source=event.provider)
        self.history.append(ShownNotice(line, self._clock()))
        self.touch()

    @on(events.BlockStarted, events.BlockDelta, events.ToolStarted, live=True)
    def _came(self, event: events.HostEvent) -> None:
        if self.retrying is None or self.retrying[0].agent == event.agent:
            self._answered(event)

    @on(events.TurnEnded, live=True, main=True)
    def _turn_ended(self, event: events.TurnEnded) -> None:
        self._answered(event)

    def _answered(self, event: events.HostEvent) -> None:
        self._ends("answer")
        if self.retrying is not None:
            self.retrying = None
            self.touch()

    def _ends(self, end: events.NoticeEnd) -> None:
        if self.newest is not None and self.newest.notice.until == end:
            self.dismiss()

    def retry(self, now: float) -> tuple[events.ProviderRetrying, float] | None:
        """Return the request that is sent again, and the seconds until then; a notice hides it."""
        if self.retrying is None:
            return None
        event, since = self.retrying
        shown = self.current(now)
        if shown is not None and shown.since > since:
            return None
        return event, max(0.0, since + event.delay - now)

    def current(self, now: float) -> ShownNotice | None:
        """Return the notice to show at `now`, or None when the last one has expired."""
        shown = self.newest
        if shown is None or now - shown.since >= LIFETIME:
            return None
        return shown

    def dismiss(self) -> None:
        """Take the current notice off the status bar; the history keeps it."""
        if self.newest is not None:
            self.newest = None
            self.touch()
