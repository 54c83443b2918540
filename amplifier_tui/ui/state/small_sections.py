"""The small sections: facts, usage, sub-agents, plan, and the notices of hooks and host."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from amplifier_tui.host import events
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.state.section import FieldSection, Section, on


class Facts(FieldSection):
    """What the status bar and the terminal title say about the session.

    Attributes:
        opened: The session is ready for a prompt.
        closed: The session has ended.
        earlier: Stored rows that were not replayed.
        mode: The permission mode; the app sets it.
        resume_command: Opens the session again; known once it is closed.
    """

    def reset(self) -> None:
        """Know nothing yet."""
        self.session_id = ""
        self.opened = False
        self.closed = False
        self.title = ""
        self.bundle = ""
        self.provider = ""
        self.model = ""
        self.cwd = ""
        self.branch = ""
        self.earlier = 0
        self.mode = "ask"
        self.resume_command = ""
        self.last_answer = ""

    def begin(self, session_id: str) -> None:
        """Follow another session from here on; what was known stays until it is open."""
        self.session_id = session_id
        self.opened = self.closed = False
        self.resume_command = self.last_answer = ""
        self.touch()

    def set_mode(self, mode: str) -> None:
        """Show another permission mode."""
        self.track(setattr, self, "mode", mode)

    def set_title(self, title: str) -> None:
        """Show another title, such as one the user just gave."""
        self.track(setattr, self, "title", title)

    @on(events.SessionOpened)
    def _opened(self, event: events.SessionOpened) -> None:
        self.session_id = event.session_id
        self.opened, self.closed = True, False
        self.title = event.title
        self.bundle = event.bundle
        self.provider = event.provider
        self.model = event.model
        self.cwd = event.cwd
        self.branch = event.branch
        self.earlier = event.earlier

    @on(events.SessionClosed)
    def _closed(self, event: events.SessionClosed) -> None:
        self.closed, self.opened = True, False
        self.resume_command = event.resume_command
        self.last_answer = event.last_answer

    @on(events.UsageChanged, live=True, main=True)
    def _uses(self, event: events.UsageChanged) -> None:
        self.provider = event.provider or self.provider
        self.model = event.model or self.model


class UsageTotals(FieldSection):
    """Totals as the host counts them; sub-agents are included there."""

    def reset(self) -> None:
        """Start from zero."""
        self.session = events.Usage()
        self.turn = events.Usage()

    @on(events.UsageChanged)
    def _changed(self, event: events.UsageChanged) -> None:
        self.session, self.turn = event.session, event.turn


@dataclass(frozen=True, slots=True)
class Lane:
    """One sub-agent; `status` is None while it runs."""

    lane: str
    name: str
    status: events.TurnStatus | None = None


class AgentLanes(FieldSection):
    """Sub-agents by lane id, in the order they started."""

    def reset(self) -> None:
        """Forget the sub-agents."""
        self.by_id: dict[str, Lane] = {}

    @property
    def running(self) -> list[Lane]:
        """The sub-agents that have not ended."""
        return [lane for lane in self.by_id.values() if lane.status is None]

    def name_of(self, lane: str) -> str:
        """Return the short name of a lane; the id itself when it is unknown."""
        known = self.by_id.get(lane)
        return known.name if known is not None and known.name else lane

    @on(events.LaneOpened)
    def _opened(self, event: events.LaneOpened) -> None:
        self.by_id.setdefault(event.lane, Lane(event.lane, event.name))

    @on(events.LaneClosed)
    def _closed(self, event: events.LaneClosed) -> None:
        if event.lane in self.by_id:
            self.by_id[event.lane] = replace(self.by_id[event.lane], status=event.status)

    @on(events.SessionClosed)
    def _session_closed(self, event: events.SessionClosed) -> None:
        for lane in self.running:
            self.by_id[lane.lane] = replace(lane, status="cancelled")


class Todo(FieldSection):
    """The plan of the main lane; a sub-agent's own plan stays with its lane."""

    def reset(self) -> None:
        """Forget the plans."""
        self.items: tuple[events.TodoItem, ...] = ()
        self.by_lane: dict[str, tuple[events.TodoItem, ...]] = {}

    @property
    def done(self) -> int:
        """How many steps are completed."""
        return sum(item.status == "completed" for item in self.items)

    @on(events.TodoChanged)
    def _changed(self, event: events.TodoChanged) -> None:
        if event.agent == MAIN_LANE:
            self.items = event.items
        else:
            self.by_lane[event.agent] = event.items


LIFETIME = 8.0
"""Seconds a notice stays in the status bar unless the next one comes."""

_HISTORY = 200


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """A notice with the time it reached the screen, in seconds of the screen's clock."""

    notice: events.Notice
    since: float

    @property
    def level(self) -> events.Level:
        """How bad it is."""
        return self.notice.level


class Notices(Section):
    """Notices, newest last, on the screen's clock in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._current: ShownNotice | None = None
        self.history: deque[ShownNotice] = deque(maxlen=_HISTORY)

    @on(events.Notice)
    def _noticed(self, event: events.Notice) -> None:
        """A replayed notice goes to the history only."""
        shown = ShownNotice(event, self._clock())
        self.history.append(shown)
        if not event.replayed:
            self._current = shown
        self.touch()

    def current(self, now: float) -> ShownNotice | None:
        """Return the notice to show at `now`, or None when the last one has expired."""
        shown = self._current
        if shown is None or now - shown.since >= LIFETIME:
            return None
        return shown

    def dismiss(self) -> None:
        """Take the current notice off the status bar; the history keeps it."""
        if self._current is not None:
            self._current = None
            self.touch()
