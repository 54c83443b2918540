import json

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.adr.groups import EXCLUDED_KEY
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.strategies import (
    ContextWindowCompactionStrategy,
    SelectiveToolCallCompactionStrategy,
    SlidingWindowStrategy,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
)
from amplifier_tui.context.compaction.as_plan import StrategyPlanner
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.request.budget import BudgetPolicy
from tests.context.support import Row, ledgers, long_session, unpaired

STRATEGIES = [
    TruncationStrategy(6, 3),
    SlidingWindowStrategy(3),
    SelectiveToolCallCompactionStrategy(1),
    ToolResultCompactionStrategy(2),
    TokenBudgetComposedStrategy(300, None, [ToolResultCompactionStrategy(0)]),
    ContextWindowCompactionStrategy(900, 100, keep_last_tool_call_groups=1),
]


async def manager_with(strategy, rows: list[Row], limit: int = 10_000) -> SessionContextManager:
    manager = SessionContextManager(
        BudgetPolicy(max_tokens=limit), planner=StrategyPlanner(strategy)
    )
    await manager.set_messages(rows)
    return manager


@given(rows=ledgers(), strategy=st.sampled_from(STRATEGIES), limit=st.integers(200, 5_000))
async def test_the_rules_of_every_plan_hold_for_strategies_too(
    rows: list[Row], strategy, limit: int
) -> None:
    manager = await manager_with(strategy, rows, limit)
    preview = await manager.view.preview()
    report = await manager.view.report()
    assert report.preview.after == preview.after
    assert sum(line.tokens for line in report.by_source) == report.total == preview.before
    done = await manager.view.compact()
    assert (done.before, done.after, len(done.actions)) == (
        preview.before,
        preview.after,
        len(preview.actions),
    )
    after = await manager.view.report()
    assert after.total == done.after
    assert await manager.get_messages() == rows
    view = await manager.get_messages_for_request()
    assert unpaired(view) == (set(), set())
    own = [row for row in rows if row["role"] == "user" and "metadata" not in row]
    for row in (*own[:1], *own[-1:], *(r for r in rows if r["role"] == "system")):
        assert row in view


async def test_a_line_in_the_place_of_results_is_a_summary_action() -> None:
    rows = long_session(6, output=40_000)
    manager = await manager_with(ToolResultCompactionStrategy(2), rows, 60_000)
    plan = await manager.view.compact()
    assert {action.kind for action in plan.actions} == {"summary"}
    assert plan.actions[0].rows == (2, 3)
    view = await manager.get_messages_for_request()
    assert view[2]["role"] == "assistant"
    assert view[2]["content"].startswith("[Tool results: read_file: line 0")
    assert view[2]["metadata"]["summary_of"] == ["2", "3"]
    assert "4 summary" in plan.describe()


async def test_what_a_strategy_did_stays_and_is_saved() -> None:
    rows = long_session(6, output=40_000)
    manager = await manager_with(ToolResultCompactionStrategy(2), rows, 60_000)
    view = await manager.get_messages_for_request()
    assert len(view) < len(rows)
    again = await manager_with(ToolResultCompactionStrategy(2), rows, 60_000)
    again.view.decisions.restore(json.loads(json.dumps(manager.view.decisions.to_dict())))
    assert await again.get_messages_for_request() == view


async def test_a_strategy_is_not_asked_below_the_trigger() -> None:
    async def fail(messages: list[Message]) -> bool:
        raise AssertionError("nobody asked")

    manager = await manager_with(fail, long_session(2), 100_000)
    assert await manager.get_messages_for_request() == long_session(2)


async def test_a_strategy_that_would_split_or_drop_too_much_is_held_back() -> None:
    async def reckless(messages: list[Message]) -> bool:
        for message in messages:
            if message.role in ("system", "tool", "user"):
                message.additional_properties[EXCLUDED_KEY] = True
        return True

    rows = long_session(6)
    manager = await manager_with(reckless, rows, 5_000)
    view = await manager.get_messages_for_request()
    assert unpaired(view) == (set(), set())
    assert view[:2] == rows[:2]
    assert view[-1] == rows[-1]


async def test_half_of_a_group_is_not_left_out_and_neither_is_the_whole() -> None:
    async def only_results(messages: list[Message]) -> bool:
        for message in messages:
            if message.role == "tool":
                message.additional_properties[EXCLUDED_KEY] = True
        return True

    rows = long_session(6, output=80)
    manager = await manager_with(only_results, rows, 100_000)
    assert (await manager.view.compact()).actions == ()
    assert await manager.get_messages_for_request() == rows


async def test_where_a_strategy_is_not_enough_the_plan_goes_on() -> None:
    async def lazy(messages: list[Message]) -> bool:
        return False

    manager = await manager_with(lazy, long_session(20), 5_000)
    plan = await manager.view.compact()
    assert plan.after <= 5_000
    assert plan.actions


async def test_a_summary_without_marks_stands_for_what_was_left_out_before_it() -> None:
    async def summing(messages: list[Message]) -> bool:
        for message in messages[2:5]:
            message.additional_properties[EXCLUDED_KEY] = True
        messages.insert(5, Message("assistant", ["In short: all is well."]))
        return True

    manager = await manager_with(summing, long_session(6), 5_500)
    plan = await manager.view.compact()
    (action,) = [action for action in plan.actions if action.kind == "summary"]
    assert action.rows == (2, 3, 4)
    view = await manager.get_messages_for_request()
    assert view[2]["content"] == "In short: all is well."
