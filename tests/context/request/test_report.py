from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.compaction.outline import MARKER_TOKENS
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.request.budget import BudgetPolicy
from amplifier_tui.context.request.frame import LentTurn
from amplifier_tui.context.request.meter import UsageWatch
from amplifier_tui.context.request.shares import SourceLine, fitted
from amplifier_tui.kernel.correlation import aside
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.models import HookResult
from tests.context.support import (
    ScriptedProvider,
    assistant,
    calling,
    hooked,
    long_session,
    result,
    system,
    user,
)


class Tool:
    description = "Runs a command. " * 20
    input_schema: ClassVar = {"type": "object", "properties": {"command": {"type": "string"}}}


Tool.__module__ = "amplifier_tui.modules.tool_bash.tool"


async def test_every_source_is_named_and_they_sum_to_the_total() -> None:
    manager = SessionContextManager(tools=lambda: {"bash": Tool()})
    manager.set_system_prompt_factory(_Parts())
    for row in (user("u" * 400), calling("a"), result("a", "r" * 800), hooked("h" * 40)):
        await manager.add_message(row)
    report = await manager.view.report(ScriptedProvider())
    sizes = {line.source: line.tokens for line in report.by_source}
    assert list(sizes) == [
        "bundle:coding",
        "file:@ns:guide.md",
        "tools:tool-bash",
        "user",
        "assistant",
        "tool:bash",
        "hook:linter",
    ]
    assert sum(sizes.values()) == report.total
    assert sizes["user"] == 104
    assert sizes["tool:bash"] == 204
    assert (report.kind, report.limit, report.window) == ("estimated", 191_000, 200_000)
    assert (report.trigger, report.target) == (162_350, 95_500)


class _Parts:
    def __call__(self) -> str:
        return ""

    def parts(self) -> list[tuple[str, str]]:
        return [("bundle:coding", "Be good."), ("file:@ns:guide.md", "Guide " * 50)]


async def test_what_the_provider_counted_more_has_a_line_of_its_own() -> None:
    manager, provider = await answered(long_session(3), more=500)
    report = await manager.view.report(provider)
    lines = {line.source: line.tokens for line in report.by_source}
    assert report.kind == "usage"
    assert lines["above our estimate"] == 500
    assert sum(lines.values()) == report.total


async def test_estimates_are_scaled_where_the_provider_counted_less() -> None:
    manager, provider = await answered(long_session(3), more=-500)
    report = await manager.view.report(provider)
    assert "above our estimate" not in {line.source for line in report.by_source}
    assert sum(line.tokens for line in report.by_source) == report.total
    estimate = sum(entry.tokens for entry in manager.ledger.entries)
    assert report.total == estimate - 500


async def answered(rows: list, *, more: int) -> tuple[SessionContextManager, ScriptedProvider]:
    """A session whose last request was counted by the provider."""
    hooks = HookRegistry()
    manager, provider = SessionContextManager(hooks=hooks), ScriptedProvider()
    UsageWatch(manager.view.meter).register(hooks, "test")
    for row in rows:
        await manager.add_message(row)
    view = await manager.get_messages_for_request(provider=provider)
    estimate = sum(entry.tokens for entry in manager.ledger.entries)
    assert len(view) == len(rows)
    await hooks.emit("llm:response", {"usage": {"input_tokens": estimate + more}})
    return manager, provider


async def test_what_is_asked_on_the_side_or_stopped_is_no_count_of_the_request_that_went_out() -> (
    None
):
    hooks = HookRegistry()
    manager, provider = SessionContextManager(hooks=hooks), ScriptedProvider()
    UsageWatch(manager.view.meter).register(hooks, "test")
    await manager.add_message(user("a" * 4_000))
    await manager.get_messages_for_request(provider=provider)
    with aside():
        await hooks.emit("llm:response", {"usage": {"input_tokens": 400}})
    assert (await manager.view.report(provider)).kind == "estimated"
    stopped = {"status": "cancelled", "usage": {"input_tokens": 1_100}}
    await hooks.emit("llm:response", stopped)
    assert (await manager.view.report(provider)).kind == "estimated", "that is about, no count"
    await hooks.emit("llm:response", {"usage": {"input_tokens": 1_200}})
    assert (await manager.view.report(provider)).total == 1_200


async def test_growth_after_a_count_is_added_to_it() -> None:
    manager, provider = await answered(long_session(3), more=500)
    before = (await manager.view.report(provider)).total
    await manager.add_message(assistant("a" * 400))
    assert (await manager.view.report(provider)).total == before + 104


async def test_the_usage_of_the_last_block_counts_and_of_the_others_not() -> None:
    hooks = HookRegistry()
    manager, provider = SessionContextManager(hooks=hooks), ScriptedProvider()
    end = UsageWatch(manager.view.meter).register(hooks, "test")
    for row in long_session(3):
        await manager.add_message(row)
    await manager.get_messages_for_request(provider=provider)
    estimate = sum(entry.tokens for entry in manager.ledger.entries)
    usage = {"input_tokens": estimate + 7}
    block = {"total_blocks": 2, "block": {"type": "text"}}
    await hooks.emit("content_block:end", {**block, "block_index": 0, "usage": usage})
    assert manager.view.meter.anchor is None
    await hooks.emit("content_block:end", {**block, "block_index": 1, "usage": usage})
    assert manager.view.meter.anchor is not None
    end()
    assert not any(hooks.list_handlers().values())


async def test_the_count_of_somebody_elses_request_is_not_ours() -> None:
    manager, provider = await answered(long_session(3), more=0)
    anchor = manager.view.meter.anchor
    await manager.add_message(assistant("done"))
    manager.view.meter.counted({"input_tokens": 900})
    assert manager.view.meter.anchor == anchor
    assert provider.requests == []


async def test_what_hooks_add_to_one_request_is_named_once_it_was_counted() -> None:
    hooks = HookRegistry()
    manager, provider = SessionContextManager(hooks=hooks), ScriptedProvider()
    UsageWatch(manager.view.meter).register(hooks, "test")
    hooks.register("provider:request", _remind, name="todo-reminder")
    for row in long_session(3):
        await manager.add_message(row)
    await manager.get_messages_for_request(provider=provider)
    await hooks.emit("provider:request", {})
    estimate = sum(entry.tokens for entry in manager.ledger.entries)
    await hooks.emit("llm:response", {"usage": {"input_tokens": estimate + 300}})
    report = await manager.view.report(provider)
    lines = {line.source: line for line in report.by_source}
    assert lines["hook:todo-reminder"].state == "ephemeral"
    assert lines["hook:todo-reminder"].tokens == 104
    assert lines["above our estimate"].tokens == 196


@pytest.mark.parametrize("counted", [12_000, 9_000])
async def test_what_a_hook_adds_is_named_also_where_it_is_most_of_the_request(counted: int) -> None:
    hooks = HookRegistry()
    manager, provider = SessionContextManager(hooks=hooks), ScriptedProvider()
    UsageWatch(manager.view.meter).register(hooks, "test")
    hooks.register("prompt:submit", _flood, name="flood")
    await hooks.emit("prompt:submit", {})
    await manager.add_message(user("a" * 4_000))
    await manager.get_messages_for_request(provider=provider)
    await hooks.emit("llm:response", {"usage": {"input_tokens": counted}})
    report = await manager.view.report(provider)
    lines = {line.source: line for line in report.by_source}
    assert (report.kind, report.total) == ("usage", counted)
    assert lines["hook:flood"].tokens > 8_000


async def test_what_a_hook_adds_is_named_also_where_nobody_counts() -> None:
    hooks = HookRegistry()
    manager, provider = SessionContextManager(hooks=hooks), ScriptedProvider()
    UsageWatch(manager.view.meter).register(hooks, "test")
    end = hooks.register("prompt:submit", _flood, name="flood")
    await hooks.emit("prompt:submit", {})
    await manager.add_message(user("a" * 4_000))
    await manager.get_messages_for_request(provider=provider)
    await manager.add_message(assistant("done"))
    report = await manager.view.report(provider)
    lines = {line.source: line for line in report.by_source}
    assert lines["hook:flood"].tokens == 10_004
    assert (report.kind, report.total) == ("estimated", sum(li.tokens for li in lines.values()))
    end()
    await manager.add_message(user("again"))
    await manager.get_messages_for_request(provider=provider)
    await manager.add_message(assistant("done"))
    sources = [line.source for line in (await manager.view.report(provider)).by_source]
    assert "hook:flood" not in sources, "it was in the request before the last one"


async def test_what_a_hook_added_once_takes_no_room_of_later_requests() -> None:
    hooks = HookRegistry()
    manager = SessionContextManager(BudgetPolicy(max_tokens=14_000), hooks=hooks)
    provider = ScriptedProvider()
    UsageWatch(manager.view.meter).register(hooks, "test")
    for row in long_session(3):
        await manager.add_message(row)
    await manager.add_message(user("Look."))
    estimate = sum(entry.tokens for entry in manager.ledger.entries)
    await _flood_once(hooks)
    await manager.get_messages_for_request(provider=provider)
    await hooks.emit("llm:response", {"usage": {"input_tokens": estimate + 10_004}})
    await manager.add_message(assistant("done"))
    await manager.add_message(user("again"))
    rows = await manager.get_messages_for_request(provider=provider)
    assert [row["content"] for row in rows] == [
        e.message["content"] for e in manager.ledger.entries
    ]
    assert (await manager.view.report(provider)).total == 10_004 + sum(
        entry.tokens for entry in manager.ledger.entries
    )


async def _flood_once(hooks: HookRegistry) -> None:
    end = hooks.register("prompt:submit", _flood, name="flood")
    await hooks.emit("prompt:submit", {})
    end()


async def test_what_hooks_add_to_each_request_is_given_room() -> None:
    hooks = HookRegistry()
    manager, provider = SessionContextManager(hooks=hooks), ScriptedProvider()
    meter = manager.view.meter
    UsageWatch(meter).register(hooks, "test")
    hooks.register("prompt:submit", _flood, name="flood")
    recurring = []
    for _ in range(3):
        await hooks.emit("prompt:submit", {})
        await manager.add_message(user("a" * 4_000))
        await manager.get_messages_for_request(provider=provider)
        estimate = sum(entry.tokens for entry in manager.ledger.entries)
        await hooks.emit("llm:response", {"usage": {"input_tokens": estimate + 10_004}})
        await manager.add_message(assistant("done"))
        recurring.append(meter.recurring)
    assert recurring == [0, 10_004, 10_004]


async def _flood(event: str, data: dict) -> HookResult:
    return HookResult(action="inject_context", context_injection="x" * 40_000, ephemeral=True)


async def _remind(event: str, data: dict) -> HookResult:
    return HookResult(action="inject_context", context_injection="x" * 400, ephemeral=True)


async def test_the_history_opens_into_those_who_spoke_in_it() -> None:
    manager = SessionContextManager()
    rows = long_session(2)
    await manager.set_messages(rows)
    start = len(rows) - 1
    entries = list(manager.ledger.entries[:start])
    manager.view.lent = LentTurn(start=start, context=entries)
    report = await manager.view.report()
    history = next(line for line in report.by_source if line.source == "history")
    assert {child.source for child in history.children} == {
        "system",
        "user",
        "assistant",
        "tool:read_file",
    }
    assert sum(child.tokens for child in history.children) == history.tokens
    leaves = {line.source: line.tokens for line in report.leaves()}
    assert sum(leaves.values()) == report.total
    assert "history" not in leaves
    assert leaves["user"] == sum(e.tokens for e in manager.ledger.entries if e.role == "user")


async def test_cut_sources_say_so() -> None:
    manager = SessionContextManager(BudgetPolicy(max_tokens=10_000))
    await manager.set_messages(long_session(20))
    await manager.get_messages_for_request()
    states = {line.source: line.state for line in (await manager.view.report()).by_source}
    assert states["tool:read_file"] == "compacted"
    assert states["user"] == "full"


async def test_the_turns_that_still_fit_are_told_from_the_last_ones() -> None:
    manager = SessionContextManager(BudgetPolicy(max_tokens=10_000, threshold=0.5))
    for _ in range(4):
        await manager.add_message(user("x" * 400))
        await manager.add_message(assistant("x" * 384))
    report = await manager.view.report()
    assert report.total == 816
    assert report.turns_left == (5_000 - 816) // 204


async def test_an_empty_session_can_be_reported() -> None:
    report = await SessionContextManager().view.report()
    assert (report.total, report.by_source, report.turns_left) == (0, (), None)


async def test_a_floor_above_the_trigger_is_a_warning() -> None:
    manager = SessionContextManager(BudgetPolicy(max_tokens=1_000))
    await manager.set_messages([system("s" * 4_000), user()])
    report = await manager.view.report()
    assert report.floor == report.total > report.trigger
    assert "'system'" in report.warning


async def test_a_result_that_is_going_to_be_cut_is_no_floor() -> None:
    manager = SessionContextManager(BudgetPolicy(max_tokens=10_000))
    await manager.set_messages([user(), calling("a"), result("a", "word " * 20_000)])
    report = await manager.view.report()
    assert report.total > 20_000 and report.floor == report.preview.after < report.trigger
    assert not report.warning


@given(st.lists(st.integers(0, 10_000), max_size=30), st.integers(0, 400_000))
def test_shares_always_sum_to_the_total(sizes: list[int], total: int) -> None:
    lines = [
        SourceLine(f"s{i}", 1, size, children=(SourceLine("a", 1, size), SourceLine("b", 1, 0)))
        for i, size in enumerate(sizes)
    ]
    made = fitted(lines, total)
    assert sum(line.tokens for line in made) == total
    assert all(line.tokens >= 0 for line in made)
    for line in made:
        if line.children:
            assert sum(child.tokens for child in line.children) == line.tokens


async def test_the_line_that_stands_for_what_was_left_out_is_billed_to_compaction() -> None:
    manager = SessionContextManager(BudgetPolicy(max_tokens=3_000))
    await manager.set_messages(long_session(20))
    await manager.get_messages_for_request()
    report = await manager.view.report()
    lines = {line.source: line for line in report.by_source}
    assert (lines["compaction"].messages, lines["compaction"].tokens) == (1, MARKER_TOKENS)
    assert "above our estimate" not in lines
