from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested
from amplifier_tui.ui.session.approval_queue import LONGEST_WAIT, PAUSE, Answer, ApprovalDesk, Place
from tests.ui.requests import ask


class Hands:
    """Records what the desk does; time stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.open: str = ""
        self.place = Place()
        self.decided: list[tuple[str, Decision]] = []
        self.closed: list[str] = []
        self._timers: list[tuple[float, Callable[[], None]]] = []

    def open_approval(self, request: ApprovalRequested, place: Place) -> None:
        assert not self.open
        self.open, self.place = request.request_id, place

    def close_approval(self, request_id: str) -> None:
        assert self.open == request_id
        self.open = ""
        self.closed.append(request_id)

    def place_approval(self, place: Place) -> None:
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


def desk_with(*requests: ApprovalRequested) -> tuple[ApprovalDesk, Hands]:
    hands = Hands()
    desk = ApprovalDesk(hands, lambda: hands.now)
    desk.sync(requests)
    return desk, hands


def test_a_request_opens_at_once_when_nobody_types() -> None:
    assert desk_with(ask())[1].open == "r1"


def test_it_waits_for_a_pause_in_typing() -> None:
    desk, hands = desk_with()
    desk.typed()
    desk.sync([ask()])
    assert hands.open == ""
    hands.wait(PAUSE * 0.9)
    desk.typed()
    hands.wait(PAUSE * 0.9)
    assert hands.open == ""
    hands.wait(PAUSE)
    assert hands.open == "r1"


def test_it_does_not_wait_longer_than_three_seconds_for_someone_who_never_pauses() -> None:
    desk, hands = desk_with()
    desk.typed()
    desk.sync([ask()])
    for _ in range(int(LONGEST_WAIT / 0.1) - 1):
        hands.wait(0.1)
        desk.typed()
    assert hands.open == ""
    hands.wait(0.2)
    assert hands.open == "r1"


def test_a_postponed_request_stays_pending_until_it_is_asked_for() -> None:
    desk, hands = desk_with(ask())
    hands.open = ""
    desk.answered(Answer("r1"))
    hands.wait(10)
    assert hands.open == "" and hands.decided == []
    assert desk.show() and hands.open == "r1"


def test_nothing_to_show_is_said() -> None:
    assert not desk_with()[0].show()


def test_a_request_resolved_elsewhere_closes_and_the_next_one_opens() -> None:
    desk, hands = desk_with(ask(), ask("r2", payload="x"))
    desk.sync([ask("r2", payload="x")])
    assert hands.closed == ["r1"] and hands.open == "r2"


def test_an_answered_request_is_not_asked_again_while_the_engine_is_slow() -> None:
    request = ask()
    desk, hands = desk_with(request)
    hands.open = ""
    desk.answered(Answer("r1", Decision(allow=True)))
    desk.sync([request])
    desk.sync([request])
    assert hands.open == "" and len(hands.decided) == 1


def test_an_answer_to_a_request_that_is_gone_is_not_sent() -> None:
    desk, hands = desk_with(ask())
    desk.sync([])
    desk.answered(Answer("r1", Decision(allow=True)))
    assert hands.decided == []


def test_the_queue_is_counted_with_its_identical_requests() -> None:
    desk, hands = desk_with(ask("a"), ask("b", payload="x"), ask("c"))
    assert hands.place == Place(1, 3, 2)
    desk.sync([ask("a"), ask("b", payload="x"), ask("c"), ask("d")])
    assert hands.place == Place(1, 4, 3)


@given(
    st.lists(
        st.sampled_from(["new", "type", "allow", "later", "gone", "show", "wait"]), max_size=40
    )
)
def test_whatever_happens_only_open_requests_are_decided_and_each_once(steps: list[str]) -> None:
    hands = Hands()
    desk = ApprovalDesk(hands, lambda: hands.now)
    pending: list[ApprovalRequested] = []
    count = 0
    for step in steps:
        if step == "new":
            count += 1
            pending.append(ask(f"r{count}", payload=str(count)))
            desk.sync(pending)
        elif step == "type":
            desk.typed()
        elif step in ("allow", "later") and hands.open:
            shown, hands.open = hands.open, ""
            desk.answered(Answer(shown, Decision(allow=True) if step == "allow" else None))
        elif step == "gone" and pending:
            pending.pop(0)
            desk.sync(pending)
        elif step == "show":
            desk.show()
        elif step == "wait":
            hands.wait(1.0)
        assert desk.open_id == hands.open
        assert not hands.open or hands.open in {r.request_id for r in pending}
    decided = [request_id for request_id, _ in hands.decided]
    assert len(decided) == len(set(decided))
    hands.wait(10)
    assert not desk.show() or hands.open
