from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested
from amplifier_tui.ui.session.approvals import DialogQueue
from amplifier_tui.ui.state.answer_keys import QUIET, OpeningRule
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
        self.strip: tuple[str, int] = ("", 0)
        self.draft = ""
        self.unseen: set[str] = set()
        self.noticed = True
        self._rule = OpeningRule()
        self._timers: list[tuple[float, Callable[[], None]]] = []

    def type(self, text: str) -> None:
        self._rule.pressed(self.now)
        self.draft += text

    def opens_in(self) -> float:
        return self._rule.wait(self.now, bool(self.draft))

    def show_waiting(self, request: ApprovalRequested | None, count: int) -> None:
        self.strip = (request.request_id if request is not None else "", count)

    def open(self, request: ApprovalRequested, place: QueuePlace, asked_for: bool) -> None:
        assert not self.shown
        self.shown, self.place = request.request_id, place

    def close(self, request_id: str) -> None:
        assert self.shown == request_id
        self.shown = ""
        self.closed.append(request_id)

    def take_back(self, request_id: str) -> bool:
        assert self.shown == request_id
        if not self.noticed:
            self.shown = ""
        return not self.noticed

    def show_place(self, place: QueuePlace) -> None:
        self.place = place

    def decide(self, request_id: str, decision: Decision) -> None:
        self.decided.append((request_id, decision))

    def owner(self, request: ApprovalRequested) -> str:
        return request.session_id

    def is_seen(self, request: ApprovalRequested) -> bool:
        return request.session_id not in self.unseen

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
    queue = DialogQueue(dialogs)
    queue.sync(requests)
    return queue, dialogs


def test_a_request_opens_at_once_when_nobody_types() -> None:
    assert queue_with(ask())[1].shown == "r1"


def test_it_waits_until_no_key_was_pressed_for_a_while() -> None:
    queue, dialogs = queue_with()
    dialogs.type("")
    queue.sync([ask()])
    assert dialogs.shown == "" and dialogs.strip == ("r1", 1)
    dialogs.wait(QUIET * 0.9)
    dialogs.type("")
    dialogs.wait(QUIET * 0.9)
    assert dialogs.shown == ""
    dialogs.wait(QUIET)
    assert dialogs.shown == "r1" and dialogs.strip == ("", 0)


def test_it_waits_for_as_long_as_a_text_is_begun() -> None:
    queue, dialogs = queue_with()
    dialogs.type("please ")
    queue.sync([ask()])
    dialogs.wait(3_600)
    assert dialogs.shown == "" and dialogs.strip == ("r1", 1)
    dialogs.draft = ""
    dialogs.wait(1)
    assert dialogs.shown == "r1"


def test_f8_opens_it_while_a_text_is_begun() -> None:
    queue, dialogs = queue_with()
    dialogs.type("please ")
    queue.sync([ask(), ask("r2")])
    assert dialogs.strip == ("r1", 2)
    assert queue.show() and dialogs.shown == "r1" and dialogs.strip == ("", 0)


def test_what_the_user_typed_over_opens_again_when_the_prompt_is_empty() -> None:
    queue, dialogs = queue_with(ask())
    dialogs.shown = ""
    dialogs.type("w")
    queue.answered(DialogAnswer("r1", typing=True))
    dialogs.wait(60)
    assert dialogs.shown == "" and dialogs.strip == ("r1", 1)
    dialogs.draft = ""
    dialogs.wait(1)
    assert dialogs.shown == "r1"


def test_a_request_that_is_resolved_while_it_waits_leaves_the_strip() -> None:
    queue, dialogs = queue_with()
    dialogs.type("please ")
    queue.sync([ask(), ask("r2")])
    queue.sync([ask("r2")])
    assert dialogs.strip == ("r2", 1)
    queue.sync([])
    assert dialogs.strip == ("", 0) and dialogs.closed == []


def test_a_postponed_request_stays_pending_until_it_is_asked_for() -> None:
    queue, dialogs = queue_with(ask())
    dialogs.shown = ""
    queue.answered(DialogAnswer("r1"))
    dialogs.wait(10)
    assert dialogs.shown == "" and dialogs.decided == [] and dialogs.strip == ("r1", 1)
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


def test_a_call_that_was_made_before_takes_the_dialog_only_until_that_was_seen() -> None:
    queue, dialogs = queue_with(ask("later"))
    dialogs.noticed = False
    queue.sync([ask("first"), ask("later")])
    assert dialogs.shown == "first" and dialogs.place == QueuePlace(1, 2, 2) and not dialogs.closed
    dialogs.noticed = True
    queue.sync([ask("zeroth"), ask("first"), ask("later")])
    assert dialogs.shown == "first" and dialogs.place.n == 2
    dialogs.shown = ""
    queue.answered(DialogAnswer("first", Decision(allow=True)))
    assert dialogs.shown == "zeroth"


def test_what_was_put_off_takes_no_dialog_from_a_later_one() -> None:
    queue, dialogs = queue_with(ask("first"), ask("later"))
    dialogs.shown = ""
    queue.answered(DialogAnswer("first"))
    dialogs.noticed = False
    queue.sync([ask("first"), ask("later")])
    assert dialogs.shown == "later"


def test_the_queue_is_counted_with_its_identical_requests() -> None:
    queue, dialogs = queue_with(ask("a"), ask("b", payload="x"), ask("c"))
    assert dialogs.place == QueuePlace(1, 3, 2)
    queue.sync([ask("a"), ask("b", payload="x"), ask("c"), ask("d")])
    assert dialogs.place == QueuePlace(1, 4, 3)


def test_the_place_counts_what_the_session_and_its_agents_wait_for_and_no_other_session() -> None:
    queue, dialogs = queue_with(ask("mine"), ask("agent's", agent="scout"))
    dialogs.unseen = {"other"}
    queue.sync([*queue.waiting, ask("other's", session_id="other", payload="x")])
    assert (dialogs.place.n, dialogs.place.of) == (1, 2)
    dialogs.shown = ""
    queue.answered(DialogAnswer("mine", Decision(allow=True)))
    assert (dialogs.place.n, dialogs.place.of) == (1, 1)
    dialogs.shown = ""
    queue.answered(DialogAnswer("agent's", Decision(allow=True)))
    assert queue.show() and dialogs.shown == "other's" and dialogs.place.of == 1


@given(
    st.lists(
        st.sampled_from(["new", "type", "allow", "later", "typing", "gone", "show", "wait"]),
        max_size=40,
    )
)
def test_whatever_happens_only_open_requests_are_decided_and_each_once(steps: list[str]) -> None:
    dialogs = FakeDialogs()
    queue = DialogQueue(dialogs)
    pending: list[ApprovalRequested] = []
    count = 0
    for step in steps:
        if step == "new":
            count += 1
            pending.append(ask(f"r{count}", payload=str(count)))
            queue.sync(pending)
        elif step == "type":
            dialogs.type("")
        elif step in ("allow", "later", "typing") and dialogs.shown:
            shown, dialogs.shown = dialogs.shown, ""
            decision = Decision(allow=True) if step == "allow" else None
            queue.answered(DialogAnswer(shown, decision, typing=step == "typing"))
        elif step == "gone" and pending:
            pending.pop(0)
            queue.sync(pending)
        elif step == "show":
            queue.show()
        elif step == "wait":
            dialogs.wait(1.0)
        assert queue._open == dialogs.shown
        assert not dialogs.shown or dialogs.shown in {r.request_id for r in pending}
        waiting = queue.waiting
        assert dialogs.shown or dialogs.strip[1] == len(waiting)
        assert not (dialogs.shown and dialogs.strip[0])
    decided = [request_id for request_id, _ in dialogs.decided]
    assert len(decided) == len(set(decided))
    dialogs.wait(10)
    assert not queue.show() or dialogs.shown


def test_what_an_unseen_session_asks_waits_until_the_user_wants_to_answer() -> None:
    queue, dialogs = queue_with()
    dialogs.unseen = {"other"}
    queue.sync([ask("r1", session_id="other"), ask("r2", session_id="other", payload="x")])
    dialogs.wait(60)
    assert not dialogs.shown and dialogs.strip == ("r1", 2)
    assert queue.show() and dialogs.shown == "r1"
    dialogs.shown = ""
    queue.answered(DialogAnswer("r1", Decision(allow=True)))
    assert dialogs.shown == "r2", "those that waited then come one after the other"
    dialogs.shown = ""
    queue.answered(DialogAnswer("r2", None))
    queue.sync([ask("r2", session_id="other", payload="x"), ask("r3", session_id="other")])
    dialogs.wait(60)
    assert not dialogs.shown and dialogs.strip == ("r2", 2)


def test_the_shown_session_asks_first_and_all_identical_are_those_of_one_session() -> None:
    queue, dialogs = queue_with()
    dialogs.unseen = {"other"}
    queue.sync([ask("r1"), ask("r2"), ask("r3", session_id="other")])
    assert dialogs.shown == "r1" and dialogs.place == QueuePlace(1, 2, 2)
    dialogs.shown = ""
    queue.answered(DialogAnswer("r1", Decision(allow=True), identical=True))
    assert [request_id for request_id, _ in dialogs.decided] == ["r1", "r2"]
