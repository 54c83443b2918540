"""The requests that wait for the user, first come first served."""

from collections import deque
from dataclasses import dataclass

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    ApprovalResolved,
    HostEvent,
    SessionClosed,
    TurnEnded,
)
from amplifier_tui.ui.state.section import Section

_REMEMBERED = 200


class Approvals(Section):
    """Pending approval requests in the order they came.

    Attributes:
        pending: Unanswered requests, oldest first.
        recent: The latest answers, newest last.
    """

    HANDLES: tuple[type[HostEvent], ...] = (
        ApprovalRequested,
        ApprovalResolved,
        SessionClosed,
        TurnEnded,
    )

    def __init__(self) -> None:
        super().__init__()
        self.pending: list[ApprovalRequested] = []
        self.recent: deque[ApprovalResolved] = deque(maxlen=_REMEMBERED)

    @property
    def current(self) -> ApprovalRequested | None:
        """The request to show: the oldest one."""
        return self.pending[0] if self.pending else None

    def position(self, request_id: str) -> tuple[int, int]:
        """Return n and m of "n of m"; n is 0 when the request is not pending (any more)."""
        total = len(self.pending)
        for index, request in enumerate(self.pending, start=1):
            if request.request_id == request_id:
                return index, total
        return 0, total

    def clear(self) -> None:
        """Forget every request, for another session."""
        if self.pending or self.recent:
            self.pending.clear()
            self.recent.clear()
            self.touch()

    def apply(self, event: HostEvent) -> None:
        """Take one event of the session."""
        if event.replayed:
            return
        match event:
            case ApprovalRequested():
                self._requested(event)
            case ApprovalResolved():
                self._resolved(event)
            case TurnEnded() if event.agent == MAIN_LANE:
                self._drop_pending()
            case SessionClosed():
                self._drop_pending()
            case _:
                pass

    def _requested(self, event: ApprovalRequested) -> None:
        known = self.position(event.request_id)[0] or any(
            answer.request_id == event.request_id for answer in self.recent
        )
        if not known:
            self.pending.append(event)
            self.touch()

    def _resolved(self, event: ApprovalResolved) -> None:
        if event in self.recent:
            return
        self.pending = [r for r in self.pending if r.request_id != event.request_id]
        self.recent.append(event)
        self.touch()

    def _drop_pending(self) -> None:
        # Nobody waits for an answer any more; the engine says so too, unless it died.
        if self.pending:
            self.pending.clear()
            self.touch()


@dataclass(frozen=True, slots=True)
class DialogAnswer:
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
class QueuePlace:
    """Where a request stands in the queue.

    Attributes:
        n: Its number, from 1.
        of: How many wait.
        same: How many of them are exactly this request, itself included.
    """

    n: int = 1
    of: int = 1
    same: int = 1
