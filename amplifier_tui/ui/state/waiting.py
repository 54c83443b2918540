"""What waits: approval requests for the user, prompts and steering messages for the turn."""

from collections import deque

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host import events
from amplifier_tui.host.client import Decision
from amplifier_tui.ui.state.section import FieldSection, Section, assign, on, told

_REMEMBERED = 200

TRUST, APPROVAL, ASK = range(3)
"""The order in which the questions of a session are answered."""

QuestionOrder = tuple[bool, int]
"""Whether a question is of a session that is not on screen, and its place in that session."""


class Approvals(Section):
    """Pending approval requests, in the order of their calls, and the latest (`recent`) answers.

    The newest answer is the last.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pending: list[events.ApprovalRequested] = []
        self.recent: deque[events.ApprovalResolved] = deque(maxlen=_REMEMBERED)

    def clear(self) -> None:
        """Forget every request, for another session."""
        if self.pending or self.recent:
            self.pending.clear()
            self.recent.clear()
            self.touch()

    @on(events.ApprovalRequested, live=True)
    def _requested(self, event: events.ApprovalRequested) -> None:
        known = {request.request_id for request in self.pending}
        if event.request_id not in known.union(answer.request_id for answer in self.recent):
            # Those that came at once were judged side by side, each as fast as it could be.
            self.pending = sorted([*self.pending, event], key=lambda each: each.began)
            self.touch()

    @on(events.ApprovalResolved, live=True)
    def _resolved(self, event: events.ApprovalResolved) -> None:
        if event not in self.recent:
            self.pending = [r for r in self.pending if r.request_id != event.request_id]
            self.recent.append(event)
            self.touch()

    @on(events.SessionClosed, live=True)
    @on(events.TurnEnded, live=True, main=True)
    def _ended(self, event: events.SessionClosed | events.TurnEnded) -> None:
        # Nobody waits for an answer any more; the engine says so too, unless it died.
        if self.pending:
            self.pending.clear()
            self.touch()


class AskedQuestions(FieldSection):
    """What agents ask the user and wait for, the oldest first."""

    def reset(self) -> None:
        """Forget the questions."""
        self.pending: tuple[events.QuestionsAsked, ...] = ()

    @on(events.QuestionsAsked, live=True)
    def _asked(self, event: events.QuestionsAsked) -> None:
        if event.request_id not in {asked.request_id for asked in self.pending}:
            self.pending += (event,)

    @on(events.QuestionsResolved, live=True)
    def _resolved(self, event: events.QuestionsResolved) -> None:
        self.pending = tuple(q for q in self.pending if q.request_id != event.request_id)

    @on(events.SessionClosed, live=True)
    @on(events.TurnEnded, live=True, main=True)
    def _ended(self, event: events.SessionClosed | events.TurnEnded) -> None:
        # Nobody waits for an answer any more; the engine says so too, unless it died.
        self.pending = ()


class TrustQuestion(FieldSection):
    """What a project or a stranger brings and the opening of a session waits for, if anything."""

    def reset(self) -> None:
        """Forget the question."""
        self.pending: events.TrustAsked | None = None
        self._answered: set[str] = set()

    @on(events.TrustAsked, live=True)
    def _asked(self, event: events.TrustAsked) -> None:
        if event.request_id not in self._answered:
            self.pending = event

    @on(events.TrustAnswered, live=True)
    def _was_answered(self, event: events.TrustAnswered) -> None:
        self._answered.add(event.request_id)
        if self.pending is not None and self.pending.request_id == event.request_id:
            self.pending = None

    @on(events.SessionClosed, live=True)
    def _closed(self, event: events.SessionClosed) -> None:
        self.pending = None


class PromptQueue(FieldSection):
    """Waiting prompts with their ids, first to be sent first, and what steers the running turn.

    `held`: the prompts wait until the user sends one, and do not go by themselves. `early` is what
    was sent before the session was open; it is sent when it is.
    """

    def reset(self) -> None:
        """Forget the prompts."""
        self.items: tuple[str, ...] = ()
        self.ids: tuple[str, ...] = ()
        self.steering: tuple[str, ...] = ()
        self.early: tuple[str, ...] = ()
        self.held = False

    @on(events.QueueChanged, live=True, main=True)
    def _changed(self, event: events.QueueChanged) -> None:
        assign(self, **told(event, "items", "ids", "steering", "held"))

    @on(events.SessionClosed, live=True)
    def _closed(self, event: events.SessionClosed) -> None:
        self.reset()


@dataclass(frozen=True, slots=True)
class DialogAnswer:
    """What the user did with a request's dialog; a decision of None puts it off.

    `identical` gives the decision to every pending request that is the same; `typing` puts it off
    for as long as the user types; `elsewhere` puts off what waits behind it as well, as the user
    looks at something else first.
    """

    request_id: str
    decision: Decision | None = None
    identical: bool = False
    typing: bool = False
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a request stands in the queue: `n` (from 1) `of` so many.

    `same` of them are exactly this request, itself included.
    """

    n: int = 1
    of: int = 1
    same: int = 1
