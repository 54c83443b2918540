import pytest

from amplifier_tui.host.events import (
    ApprovalOutcome,
    ApprovalRequested,
    ApprovalResolved,
    HandlerHolds,
    ToolProgress,
)
from amplifier_tui.ui.state.conversation.entries import ToolEntry, ToolState
from amplifier_tui.ui.state.conversation.tool_lines import OUTPUT_LIMIT, parse_arguments
from amplifier_tui.ui.state.session import SessionState
from tests.ui.state.make import (
    delta,
    ended,
    make,
    new_state,
    started,
    tool,
    tool_ended,
    turn,
    turn_ended,
)


def lines(state: SessionState) -> list[ToolEntry]:
    return [entry for entry in state.entries if isinstance(entry, ToolEntry)]


def only(state: SessionState) -> ToolEntry:
    (entry,) = lines(state)
    return entry


def ask(request: str = "r", call: str = "c", **fields: object) -> ApprovalRequested:
    fields = {"tool": "bash", "asker": "hooks-approval", "action": "bash wants", **fields}
    return make(ApprovalRequested, request_id=request, call_id=call, **fields)


def answer(outcome: ApprovalOutcome, request: str = "r", **fields: object) -> ApprovalResolved:
    return make(ApprovalResolved, request_id=request, outcome=outcome, **fields)


def test_a_call_is_one_line_from_the_first_argument_to_the_result() -> None:
    state = new_state(turn(), started("r:0", "tool_use", name="bash"), delta("r:0", '{"com'))
    entry = only(state)
    assert (entry.state, entry.preparing, entry.argument_text) == ("running", True, '{"com')
    state.apply([ended("r:0", '{"command": "ls"}', "tool_use", at=4.0)])
    assert (entry.arguments, entry.written) == ({"command": "ls"}, 4.0)
    state.apply([tool("c1", arguments={"command": "ls -a"}, module_id="tool-bash", at=5.0)])
    assert only(state) is entry
    assert (entry.preparing, entry.call_id, entry.started) == (False, "c1", 5.0)
    assert (entry.arguments, entry.argument_text) == ({"command": "ls -a"}, "")
    state.apply([tool_ended("c1", output="a\nb", duration_ms=12.0, summary="2 files")])
    assert only(state) is entry
    assert (entry.state, entry.output, entry.summary) == ("ok", "a\nb", "2 files")


def test_parallel_calls_of_a_tool_find_the_line_with_their_arguments() -> None:
    state = new_state(
        turn(),
        started("r:0", "tool_use", name="read"),
        started("r:1", "tool_use", name="read"),
        ended("r:0", '{"path": "a"}', "tool_use"),
        ended("r:1", '{"path": "b"}', "tool_use"),
        tool("c2", "read", arguments={"path": "b"}),
        tool("c1", "read", arguments={"path": "a"}),
    )
    assert [(entry.call_id, entry.arguments["path"]) for entry in lines(state)] == [
        ("c1", "a"),
        ("c2", "b"),
    ]


def test_a_block_that_names_the_call_wins() -> None:
    state = new_state(
        turn(),
        started("r:0", "tool_use", name="read"),
        started("r:c2", "tool_use", name="read"),
        tool("c2", "read"),
    )
    assert [entry.call_id for entry in lines(state)] == ["", "c2"]


def test_the_durable_copy_of_the_block_after_the_start_makes_no_second_line() -> None:
    state = new_state(
        turn(),
        started("r:0", "tool_use", name="bash"),
        ended("r:0", "{}", "tool_use"),
        tool("c"),
        ended("r:0", '{"command": "late"}', "tool_use"),
    )
    assert only(state).arguments == {}


def test_a_discarded_call_block_leaves_no_line() -> None:
    state = new_state(
        turn(),
        started("r:0", "tool_use", name="bash"),
        ended("r:0", "", "tool_use", discarded=True),
    )
    assert lines(state) == []


def test_a_started_call_outlives_its_discarded_block() -> None:
    state = new_state(
        turn(),
        started("r:0", "tool_use", name="bash"),
        tool("c"),
        ended("r:0", "", "tool_use", discarded=True),
    )
    assert only(state).call_id == "c"


def test_an_end_without_a_start_is_shown() -> None:
    assert only(new_state(tool_ended("c", ok=False, error="no such tool"))).state == "failed"


def test_a_start_after_its_end_fills_in_the_arguments() -> None:
    entry = only(new_state(tool_ended("c"), tool("c", arguments={"a": 1}, at=3.0)))
    assert (entry.state, entry.arguments) == ("ok", {"a": 1})


def test_a_call_id_that_is_used_again_is_another_call() -> None:
    state = new_state(tool("call_0", at=1.0), tool_ended("call_0"), tool("call_0", at=9.0))
    assert [entry.state for entry in lines(state)] == ["ok", "running"]


def test_a_start_told_twice_is_one_call() -> None:
    state = new_state(tool("c", at=1.0), tool_ended("c"), tool("c", at=1.0))
    assert only(state).state == "ok"


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"ok": True}, "ok"),
        ({"ok": False}, "failed"),
        ({"ok": False, "denied": True}, "denied"),
        ({"ok": False, "interrupted": True}, "interrupted"),
    ],
)
def test_a_call_ends_in_the_state_the_host_reports(
    fields: dict[str, bool], state: ToolState
) -> None:
    assert only(new_state(tool("c"), tool_ended("c", **fields))).state == state


def test_a_call_waits_for_the_user_and_runs_when_allowed() -> None:
    state = new_state(turn(), tool("c", at=5.0), ask())
    assert only(state).state == "waiting"
    state.apply([answer("allowed", at=65.0)])
    assert only(state).state == "running"
    assert only(state).started == 65.0, "the user's time to think is not the tool's"


def test_a_small_diff_is_shown_unasked_and_a_large_one_waits() -> None:
    head = "--- a\n+++ a\n@@ -1 +1 @@\n"
    state = new_state(
        *(event for call in ("a", "b", "c") for event in (tool(call),)),
        tool_ended("a", diff=head + "-old\n+new\n"),
        tool_ended("b", diff=head + "+line\n" * 100),
        tool_ended("c", output="no change"),
    )
    assert [entry.expanded for entry in lines(state)] == [True, False, False]


def test_a_call_that_asks_before_its_start_is_reported_is_waiting_on_its_own_line() -> None:
    state = new_state(turn(), started("r:0", "tool_use", name="bash"), ask(), tool("c"))
    assert only(state).state == "waiting"


def test_a_call_held_by_two_requests_waits_for_both() -> None:
    state = new_state(turn(), tool("c"), ask("r1"), ask("r2"), answer("allowed", "r1"))
    assert only(state).state == "waiting"
    state.apply([answer("allowed", "r2")])
    assert only(state).state == "running"


@pytest.mark.parametrize(
    ("outcome", "state"),
    [("denied", "denied"), ("timed_out", "denied"), ("cancelled", "interrupted")],
)
def test_a_refused_call_shows_the_reason(outcome: ApprovalOutcome, state: ToolState) -> None:
    entry = only(new_state(turn(), tool("c"), ask(), answer(outcome, reason="not today")))
    assert (entry.state, entry.error) == (state, "not today")


def test_a_request_of_another_call_leaves_the_line_alone() -> None:
    state = new_state(turn(), tool("c"), ask("r", "other", tool=""), answer("denied"))
    assert only(state).state == "running"


def test_live_output_keeps_its_end() -> None:
    state = new_state(turn(), tool("c"))
    state.apply([make(ToolProgress, call_id="c", text="x" * OUTPUT_LIMIT)])
    state.apply([make(ToolProgress, call_id="c", text="end")])
    entry = only(state)
    assert len(entry.output) == OUTPUT_LIMIT
    assert entry.output.endswith("xend")
    assert entry.output_size == OUTPUT_LIMIT + 3


def test_a_stopped_turn_leaves_no_line_spinning() -> None:
    state = new_state(
        turn(),
        tool("c"),
        ask("r", "d"),
        started("r:0", "tool_use", name="read"),
        turn_ended(status="cancelled"),
    )
    assert [entry.state for entry in lines(state)] == ["interrupted"] * 3
    assert not any(entry.preparing for entry in lines(state))


def test_the_result_of_a_call_that_was_given_up_still_counts() -> None:
    state = new_state(turn(), tool("c"), turn_ended(status="cancelled"), tool_ended("c"))
    assert only(state).state == "ok"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"name": "bash", "input": {"a": 1}}', {"a": 1}),
        ('{"name": "bash", "arguments": {"a": 1}}', {"a": 1}),
        ('{"name": "x"}', {"name": "x"}),
        ("", {}),
        ("{", {}),
        ("[1]", {}),
        ("[" * 100_000, {}),
    ],
)
def test_arguments_are_read_when_they_can_be(text: str, arguments: dict[str, object]) -> None:
    assert parse_arguments(text) == arguments


def test_a_call_that_a_rule_or_a_mode_let_through_is_marked_with_it() -> None:
    state = new_state(
        turn(),
        answer("allowed", "q1", call_id="c1", by="rule", rule="bash(ls *)"),
        tool("c1", at=1.0),
        tool_ended("c1"),
        answer("allowed", "q2", call_id="c1", by="mode", mode="edits"),
        tool("c1", at=9.0),
        ask("q3", "c2"),
        answer("allowed", "q3", call_id="c2", by="user"),
        tool("c2"),
        ask("q4", "c3"),
        answer("allowed", "q4", call_id="c3", by="mode", mode="auto"),
    )
    marks = [entry.allowed_by for entry in lines(state)]
    assert marks == ["rule bash(ls *)", "mode edits", "", "mode auto"]


@pytest.mark.parametrize("replayed", [True, False])
def test_a_call_nobody_answered_about_in_time_is_told_from_one_that_was_denied(
    replayed: bool,
) -> None:
    state = new_state(
        turn(),
        *([] if replayed else [tool("c"), ask()]),
        answer("timed_out", call_id="c", by="timeout", replayed=replayed),
        *([tool("c", replayed=True)] if replayed else []),
        tool_ended("c", ok=False, denied=True, error="nobody answered", replayed=replayed),
    )
    assert (only(state).state, only(state).timed_out) == ("denied", True)


def test_a_call_that_the_clock_allowed_runs_and_says_that_nobody_answered() -> None:
    state = new_state(turn(), tool("c"), ask(), answer("allowed", call_id="c", by="timeout"))
    assert (only(state).state, only(state).timed_out) == ("running", False)
    assert only(state).allowed_by == "nobody answered in time: allowed"


def test_a_call_that_was_changed_is_not_denied_and_may_be_asked_about_again() -> None:
    state = new_state(turn(), tool("c"), ask("r", "c"), answer("changed", "r", call_id="c"))
    assert only(state).state == "running"
    state.apply([answer("allowed", "x", call_id="c", by="rule", rule="bash(ls)")])
    assert (only(state).state, only(state).allowed_by) == ("running", "rule bash(ls)")
    state.apply([ask("r2", "c")])
    assert only(state).state == "waiting"


def test_a_call_that_a_hook_holds_up_names_it_before_it_begins_and_until_it_has_answered() -> None:
    hold = {"event": "tool:pre", "handler": "judge", "tool": "bash", "call_id": "c"}
    state = new_state(turn(), make(HandlerHolds, **hold, module="hooks-slow"))
    assert (only(state).held_by, only(state).state) == ("hooks-slow", "running")
    state.apply([make(HandlerHolds, **hold, module="hooks-slow", over=True), tool("c")])
    assert only(state).held_by == ""
