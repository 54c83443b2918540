"""Decides when an approval dialog opens, closes and what becomes of the answer.

One dialog at a time, first come first served. It waits for a pause in the user's typing, it never
reopens what was put off, and it closes itself when the request is resolved elsewhere.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested

PAUSE = 0.7
"""Seconds without typing after which a dialog may open."""
LONGEST_WAIT = 3.0
"""A request is shown after this many seconds even when the user keeps typing."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user did with a dialog.

    Attributes:
        request_id: The request that was shown.
        decision: None puts it off.
        identical: Give the decision to every pending request that is the same.
    """

    request_id: str
    decision: Decision | None = None
    identical: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request stands in the queue.

    Attributes:
        n: Its number, from 1.
        of: How many wait.
        same: How many of them are exactly this request, itself included.
    """

    n: int = 1
    of: int = 1
    same: int = 1


class Dialogs(Protocol):
    """What the desk needs of the app."""

    def open_approval(self, request: ApprovalRequested, place: Place) -> None:
        """Show a request."""

    def close_approval(self, request_id: str) -> None:
        """Take the dialog away; its answer does not count any more."""

    def place_approval(self, place: Place) -> None:
        """The queue behind the open dialog has changed."""

    def decide(self, request_id: str, decision: Decision) -> None:
        """Send an answer."""

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        """Call back on the UI loop."""


class ApprovalDesk:
    """The queue of requests on the user's side.

    Args:
        dialogs: Opens, closes and sends.
        clock: Monotonic seconds.
    """

    def __init__(self, dialogs: Dialogs, clock: Callable[[], float] = time.monotonic) -> None:
        self._dialogs = dialogs
        self._clock = clock
        self._pending: list[ApprovalRequested] = []
        self._arrived: dict[str, float] = {}
        self._answered: set[str] = set()
        self._later: set[str] = set()
        self._open = ""
        self._typed = float("-inf")
        self._ticking = False

    @property
    def open_id(self) -> str:
        """The request that is shown, empty when none is."""
        return self._open

    @property
    def waiting(self) -> list[ApprovalRequested]:
        """Requests the user has not answered, oldest first, put off ones included."""
        return [r for r in self._pending if r.request_id not in self._answered]

    def typed(self) -> None:
        """The user changed a text: no dialog may open right now."""
        self._typed = self._clock()

    def sync(self, pending: Sequence[ApprovalRequested]) -> None:
        """Take the pending requests of the session, oldest first."""
        now = self._clock()
        self._pending = list(pending)
        known = {request.request_id for request in pending}
        self._arrived = {r: self._arrived.get(r, now) for r in known}
        self._answered &= known
        self._later &= known
        if self._open and self._open not in known:
            gone, self._open = self._open, ""
            self._dialogs.close_approval(gone)
        if self._open:
            self._dialogs.place_approval(self._place(self._open))
        self._consider()

    def show(self) -> bool:
        """Bring back what was put off and show the oldest request; False when none waits."""
        self._later.clear()
        if not self._open and self.waiting:
            self._show(self.waiting[0])
        return bool(self.waiting)

    def answered(self, answer: Answer) -> None:
        """A dialog closed with an answer."""
        if self._open == answer.request_id:
            self._open = ""
        request = next((r for r in self._pending if r.request_id == answer.request_id), None)
        if request is not None and answer.request_id not in self._answered:
            if answer.decision is None:
                self._later.add(answer.request_id)
            else:
                same = [r for r in self.waiting if same_request(r, request)]
                for each in same if answer.identical else [request]:
                    self._answered.add(each.request_id)
                    self._dialogs.decide(each.request_id, answer.decision)
        self._consider(at_once=True)

    def _place(self, request_id: str) -> Place:
        waiting = self.waiting
        for n, request in enumerate(waiting, start=1):
            if request.request_id == request_id:
                return Place(n, len(waiting), sum(same_request(r, request) for r in waiting))
        return Place()

    def _show(self, request: ApprovalRequested) -> None:
        self._open = request.request_id
        self._dialogs.open_approval(request, self._place(request.request_id))

    def _consider(self, at_once: bool = False) -> None:
        """Open the next dialog now, or look again when the user may have paused."""
        queue = [r for r in self.waiting if r.request_id not in self._later]
        if self._open or not queue:
            return
        now = self._clock()
        waited = now - self._arrived[queue[0].request_id]
        quiet = now - self._typed
        if at_once or quiet >= PAUSE or waited >= LONGEST_WAIT:
            self._show(queue[0])
        elif not self._ticking:
            self._ticking = True
            self._dialogs.after(max(0.01, min(PAUSE - quiet, LONGEST_WAIT - waited)), self._tick)

    def _tick(self) -> None:
        self._ticking = False
        self._consider()


def same_request(one: ApprovalRequested, other: ApprovalRequested) -> bool:
    """Return whether two requests ask for exactly the same thing."""
    return _thing(one) == _thing(other)


def _thing(request: ApprovalRequested) -> tuple[object, ...]:
    return (
        request.asker,
        request.tool,
        request.action,
        request.prompt,
        request.payload,
        request.payload_kind,
        request.segments,
        request.diff,
        request.cwd,
        request.paths,
        request.outside,
        request.risk,
        request.options,
    )
