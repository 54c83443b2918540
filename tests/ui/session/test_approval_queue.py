from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested
from amplifier_tui.ui.session.approvals import LONGEST_WAIT, PAUSE, DialogQueue
from amplifier_tui.ui.state.waiting import DialogAnswer, QueuePlace
from tests.ui.requests import ask


class FakeDialogs:
    """Records what the queue does; time stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.shown: str = ""
        self.place = QueuePlace()
        self.decided: list[tuple[str, Decision]] = []
        self.closed: list[str] = []
        self._timers: list[tuple[float, Callable[[], None]]] = []

    def open(self, request: ApprovalRequested, place: QueuePlace) -> None:
        assert not self.shown
        self.shown, self.place = request.request_id, place

    def close(self, request_id: str) -> None:
        assert self.shown == request_id
        self.shown = ""
        self.closed.append(request_id)

    def show_place(self, place: QueuePlace) -> None:
        self.place = place

    def decide(self, request_id: str, decision: Decision) -> None:
        self.decided.append((request_id, decision))

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        self._timers.append((self.now + seconds, call))

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while due := sorted((t for t in self._timers if t[0] <= end), key=lambda t: t[0]):
            self._timers.remove(due[0])
            self.now = max(self.now, due[0][0])
            due[0][1]()
        self.now = end


def queue_with(*requests: ApprovalRequested) -> tuple[DialogQueue, FakeDialogs]:
    dialogs = FakeDialogs()
    queue = DialogQueue(dialogs, lambda: dialogs.now)
    queue.sync(requests)
    return queue, dialogs


def test_a_request_opens_at_once_when_nobody_types() -> None:
    assert queue_with(ask())[1].shown == "r1"


def test_it_waits_for_a_pause_in_typing() -> None:
    queue, dialogs = queue_with()
    queue.typed()
    queue.sync([ask()])
    assert dialogs.shown == ""
    dialogs.wait(PAUSE * 0.9)
    queue.typed()
    dialogs.wait(PAUSE * 0.9)
    assert dialogs.shown == ""
    dialogs.wait(PAUSE)
    assert dialogs.shown == "r1"


def test_it_does_not_wait_longer_than_three_seconds_for_someone_who_never_pauses() -> None:
    queue, dialogs = queue_with()
    queue.typed()
    queue.sync([ask()])
    for _ in range(int(LONGEST_WAIT / 0.1) - 1):
        dialogs.wait(0.1)
        queue.typed()
    assert dialogs.shown == ""
    dialogs.wait(0.2)
    assert dialogs.shown == "r1"


def test_a_postponed_request_stays_pending_until_it_is_asked_for() -> None:
    queue, dialogs = queue_with(ask())
    dialogs.shown = ""
    queue.answered(DialogAnswer("r1"))
    dialogs.wait(10)
    assert dialogs.shown == "" and dialogs.decided == []
    assert queue.show() and dialogs.shown == "r1"


def test_nothing_to_show_is_said() -> None:
    assert not queue_with()[0].show()


def test_a_request_resolved_elsewhere_closes_and_the_next_one_opens() -> None:
    queue, dialogs = queue_with(ask(), ask("r2", payload="x"))
    queue.sync([ask("r2", payload="x")])
    assert dialogs.closed == ["r1"] and dialogs.shown == "r2"


def test_an_answered_request_is_not_asked_again_while_the_engine_is_slow() -> None:
    request = ask()
    queue, dialogs = queue_with(request)
    dialogs.shown = ""
    queue.answered(DialogAnswer("r1", Decision(allow=True)))
    queue.sync([request])
    queue.sync([request])
    assert dialogs.shown == "" and len(dialogs.decided) == 1


def test_an_answer_to_a_request_that_is_gone_is_not_sent() -> None:
    queue, dialogs = queue_with(ask())
    queue.sync([])
    queue.answered(DialogAnswer("r1", Decision(allow=True)))
    assert dialogs.decided == []


def test_the_queue_is_counted_with_its_identical_requests() -> None:
    queue, dialogs = queue_with(ask("a"), ask("b", payload="x"), ask("c"))
    assert dialogs.place == QueuePlace(1, 3, 2)
    queue.sync([ask("a"), ask("b", payload="x"), ask("c"), ask("d")])
    assert dialogs.place == QueuePlace(1, 4, 3)


@given(
    st.lists(
        st.sampled_from(["new", "type", "allow", "later", "gone", "show", "wait"]), max_size=40
    )
)
def test_whatever_happens_only_open_requests_are_decided_and_each_once(steps: list[str]) -> None:
    dialogs = FakeDialogs()
    queue = DialogQueue(dialogs, lambda: dialogs.now)
    pending: list[ApprovalRequested] = []
    count = 0
    for step in steps:
        if step == "new":
            count += 1
            pending.append(ask(f"r{count}", payload=str(count)))
            queue.sync(pending)
        elif step == "type":
            queue.typed()
        elif step in ("allow", "later") and dialogs.shown:
            shown, dialogs.shown = dialogs.shown, ""
            queue.answered(DialogAnswer(shown, Decision(allow=True) if step == "allow" else None))
        elif step == "gone" and pending:
            pending.pop(0)
            queue.sync(pending)
        elif step == "show":
            queue.show()
        elif step == "wait":
            dialogs.wait(1.0)
        assert queue._open == dialogs.shown
        assert not dialogs.shown or dialogs.shown in {r.request_id for r in pending}
    decided = [request_id for request_id, _ in dialogs.decided]
    assert len(decided) == len(set(decided))
    dialogs.wait(10)
    assert not queue.show() or dialogs.shown
