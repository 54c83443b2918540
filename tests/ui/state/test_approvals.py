from amplifier_tui.host.events import ApprovalRequested, ApprovalResolved, SessionClosed
from amplifier_tui.ui.state.session import SessionState
from tests.ui.state.make import make, new_state, turn, turn_ended


def ask(request_id: str, **fields: object) -> ApprovalRequested:
    return make(ApprovalRequested, request_id=request_id, asker="h", action="x", **fields)


def answer(request_id: str) -> ApprovalResolved:
    return make(ApprovalResolved, request_id=request_id, outcome="allowed")


def pending(state: SessionState) -> list[str]:
    return [request.request_id for request in state.approvals.pending]


def test_requests_wait_in_the_order_they_came() -> None:
    state = new_state(ask("a"), ask("b"), ask("c"))
    assert pending(state) == ["a", "b", "c"]
    state.apply([answer("a")])
    assert pending(state) == ["b", "c"]


def test_an_answer_out_of_turn_removes_its_own_request() -> None:
    assert pending(new_state(ask("a"), ask("b"), answer("b"))) == ["a"]


def test_a_request_told_twice_or_after_its_answer_is_not_asked_again() -> None:
    assert pending(new_state(ask("a"), ask("a"), answer("b"), ask("b"))) == ["a"]


def test_a_replayed_request_waits_for_nobody() -> None:
    assert pending(new_state(ask("a", replayed=True))) == []


def test_nothing_waits_after_the_turn_or_the_session() -> None:
    assert pending(new_state(turn(), ask("a"), turn_ended())) == []
    assert pending(new_state(ask("a"), make(SessionClosed))) == []


def test_the_end_of_a_sub_agents_turn_leaves_the_requests() -> None:
    assert pending(new_state(turn(), ask("a"), turn_ended(agent="lane1"))) == ["a"]
