"""Notices of hooks and the host, and how long each stays in the status bar."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from math import ceil

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host import events
from amplifier_tui.ui.state.section import Section, on, told

LIFETIME = 8.0
"""Seconds a notice stays in the status bar unless the next one comes."""

_SAID = 3.0
"""Seconds an error, or an answer to the user's action, keeps its place before a lesser notice."""

_HISTORY = 200


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """A notice with the time it reached the screen, in seconds of the screen's clock."""

    notice: events.Notice
    since: float

    @property
    def answers_user(self) -> bool:
        """Whether the screen says it of what the user did: it has no session that tells it."""
        return not self.notice.session_id and not self.notice.source

    @property
    def is_error(self) -> bool:
        """Whether it says what failed."""
        return self.notice.level == "error"


def retry_words(event: events.ProviderRetrying, left: float) -> str:
    """Return when a request is sent again; `left` is in seconds."""
    when = f"in {ceil(left)} s" if left > 0 else "now"
    count = f" ({event.attempt} of {event.most})" if event.attempt and event.most else ""
    return f"trying again {when}{count}"


class Notices(Section):
    """Notices, newest last, on the screen's clock in seconds.

    `newest` was not taken off the status bar, though its time may be over; `retrying` is the
    request that is sent again, with when that was said. What comes right after an error or an
    answer to the user waits for its place; only the last that came does.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self.newest: ShownNotice | None = None
        self._next: ShownNotice | None = None
        self.retrying: tuple[events.ProviderRetrying, float] | None = None
        self.history: deque[ShownNotice] = deque(maxlen=_HISTORY)

    def warned_of(self, source: str) -> bool:
        """Whether the history has a warning from a source; what is replayed counts for nothing."""
        return any(
            (each.notice.source, each.notice.level, each.notice.replayed)
            == (source, "warning", False)
            for each in self.history
        )

    @on(events.Notice)
    def _noticed(self, event: events.Notice) -> None:
        """A replayed notice goes to the history only."""
        shown = ShownNotice(event, self._clock())
        self.history.append(shown)
        if not event.replayed:
            newest = self.current(shown.since)
            greater = shown.answers_user or shown.is_error
            if newest is not None and (newest.answers_user or newest.is_error) and not greater:
                self._next = ShownNotice(event, max(shown.since, newest.since + _SAID))
            else:
                self.newest, self._next = shown, None
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

    @on(events.ApprovalRequested, events.QuestionsAsked, live=True)
    @on(events.TrustAsked, events.LimitAsked, live=True)
    def _asked(self, event: events.HostEvent) -> None:
        self._ends("asked")

    @on(events.LimitChanged, live=True)
    def _limited(self, event: events.LimitChanged) -> None:
        self._ends("limit")

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

    @on(events.LaneClosed, live=True)
    def _lane_closed(self, event: events.LaneClosed) -> None:
        if self.retrying is not None and self.retrying[0].agent == event.lane:
            self.retrying = None
            self.touch()

    @on(events.TurnEnded, live=True, main=True)
    def _turn_ended(self, event: events.TurnEnded) -> None:
        self._answered(event)

    def _answered(self, event: events.HostEvent) -> None:
        self._ends("answer")
        if self.retrying is not None:
            self.retrying = None
            self.touch()

    def _ends(self, end: events.NoticeEnd) -> None:
        if self._next is not None and self._next.notice.until == end:
            self._next = None
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
        if self._next is not None and now >= self._next.since:
            self.newest, self._next = self._next, None
        shown = self.newest
        if shown is None or now - shown.since >= LIFETIME:
            return None
        return shown

    def changes_at(self, now: float) -> float | None:
        """Return when another notice is to show than at `now`, or none; None without a notice."""
        shown = self.current(now)
        if shown is None:
            return None
        return self._next.since if self._next is not None else shown.since + LIFETIME

    def dismiss(self) -> None:
        """Take the current notice off the status bar; the history keeps it."""
        if self.newest is not None:
            self.newest, self._next = self._next and replace(self._next, since=self._clock()), None
            self.touch()
