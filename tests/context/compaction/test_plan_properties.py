from collections import Counter
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_tui.base.tokens import message_tokens
from amplifier_tui.context.compaction.plan import Plan, plan, project
from amplifier_tui.context.entries import read_entry
from amplifier_tui.context.ledger import Ledger
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.request.budget import BudgetPolicy
from amplifier_tui.context.request.frame import LentTurn
from amplifier_tui.context.request.pairs import repaired
from amplifier_tui.context.request.report import ContextEvents
from amplifier_tui.context.request.view import ContextView
from amplifier_tui.context.turn import turn_start
from tests.context.support import (
    Recorder,
    Row,
    budget,
    ledgers,
    random_ledger,
    read_entries,
    unpaired,
    user,
)

limits = st.integers(20, 20_000)


def planned(rows: list[Row], limit: int, *, force: bool = False) -> tuple[list, Plan]:
    names: dict[str, str] = {}
    ready = repaired(read_entries(rows, names), names)
    return list(ready), plan(ready, budget(limit), {}, force=force)


@given(ledgers(), limits)
def test_calls_and_results_stay_together(rows: list[Row], limit: int) -> None:
    ready, made = planned(rows, limit)
    assert unpaired(project(ready, made.decisions)) == (set(), set())


@given(ledgers(broken=True), limits)
def test_calls_and_results_of_a_broken_conversation_are_brought_together(
    rows: list[Row], limit: int
) -> None:
    ready, made = planned(rows, limit)
    assert unpaired(project(ready, made.decisions)) == (set(), set())


@given(ledgers(), limits)
def test_system_rows_and_the_users_first_and_last_message_stay_as_they_are(
    rows: list[Row], limit: int
) -> None:
    ready, made = planned(rows, limit)
    own = [entry for entry in ready if entry.own]
    kept = [e for e in ready if e.role == "system"] + own[:1] + own[-1:]
    view = project(ready, made.decisions)
    for entry in kept:
        assert entry.key not in made.decisions
        assert any(row is entry.message for row in view)


@given(ledgers(), limits, st.booleans())
def test_it_gets_under_the_target_unless_the_floor_forbids_it(
    rows: list[Row], limit: int, force: bool
) -> None:
    _, made = planned(rows, limit, force=force)
    wanted = budget(limit)
    if made.before > wanted.trigger or force:
        assert made.after <= max(wanted.target, made.floor)
        assert made.after <= limit or made.reason == "overflow"
    else:
        assert made.after == made.before
        assert not made.actions


@given(ledgers(), limits)
def test_compacting_again_changes_nothing(rows: list[Row], limit: int) -> None:
    ready, made = planned(rows, limit)
    again = plan(ready, budget(limit), made.decisions, force=True)
    if made.actions:
        assert not again.actions
        assert again.before == made.after
        assert again.decisions == made.decisions


@given(ledgers(), limits)
def test_a_compacted_view_is_not_compacted_further(rows: list[Row], limit: int) -> None:
    ready, made = planned(rows, limit)
    view = project(ready, made.decisions)
    if made.reason != "trigger":
        return
    names: dict[str, str] = {}
    again = plan(read_entries(view, names), budget(limit), {})
    assert again.before == made.after
    assert project(read_entries(view, names), again.decisions) == view


@given(ledgers(), limits, st.booleans())
def test_the_numbers_of_a_plan_are_those_of_the_view(
    rows: list[Row], limit: int, force: bool
) -> None:
    ready, made = planned(rows, limit, force=force)
    assert made.before == sum(entry.tokens for entry in ready)
    assert made.after == sum(message_tokens(row) for row in project(ready, made.decisions))
    saved = sum(action.before - action.after for action in made.actions)
    dropped = any(action.kind == "drop" for action in made.actions)
    marker = made.after + saved - made.before
    assert (marker > 0) == dropped
    assert dropped or marker == 0


@given(ledgers(), ledgers(), limits)
def test_decisions_stay_as_the_conversation_grows(
    rows: list[Row], more: list[Row], limit: int
) -> None:
    names: dict[str, str] = {}
    first = plan(read_entries(rows, names), budget(limit), {})
    grown = read_entries([*rows, *more], names)
    second = plan(grown, budget(limit), first.decisions)
    order = ["squeeze", "truncate", "stub", "drop"]
    for key, decision in first.decisions.items():
        assert order.index(second.decisions[key]) >= order.index(decision)


async def random_session(seed: int) -> tuple[SessionContextManager, list[Row], Recorder]:
    """A session over a random ledger: with a prompt, tools, a source, a count, or none of it."""
    rng, rows, recorder = Random(-seed), random_ledger(seed), Recorder()
    limit = rng.choice((30, 200, 1_000, 5_000, 30_000))
    tools = {"bash": Tool()} if rng.random() < 0.3 else {}
    manager = SessionContextManager(BudgetPolicy(max_tokens=limit), recorder, lambda: tools)
    await manager.set_messages(rows)
    if rng.random() < 0.3:
        manager.set_system_prompt_factory(lambda: "You are kind. " * 20)
    if rng.random() < 0.3:
        added = {"role": "user", "content": "found " * rng.choice((5, 2_000))}
        source = read_entry(
            {**added, "_attribution": {"source_id": "rag"}}, "rag#1", {}, provided=True
        )
        start = turn_start(manager.ledger.entries, len(rows))
        past = manager.ledger.entries[:start]
        manager.view.lent = LentTurn(start=start, context=[*past, source])
    if rng.random() < 0.3:
        plain = (await manager.view.preview()).before
        manager.view.meter.sent(plain, manager.view.budget().key)
        manager.view.meter.counted({"input_tokens": int(plain * rng.uniform(0.5, 2)) + 1})
    return manager, rows, recorder


class Tool:
    description = "Runs a command."
    input_schema: ClassVar = {"type": "object", "properties": {"command": {"type": "string"}}}


LEDGERS = 8 * settings.default.max_examples
"""Random ones, as other properties have examples: the benchmark draws fifty times as many."""


@pytest.mark.hypothesis
async def test_the_preview_is_what_a_compaction_then_does_on_random_ledgers() -> None:
    reasons: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    compacted_by_itself = 0
    for seed in range(LEDGERS):
        manager, rows, told = await random_session(seed)
        view = manager.view
        key = view.budget().key
        before = project((await view.frame()).entries, {})
        preview = await view.preview()
        report = await view.report()
        assert report.preview == preview
        assert report.total == view.meter.real(preview.before, key)
        assert sum(line.tokens for line in report.by_source) == report.total
        assert told.events == []

        done = await view.compact()
        # Actions, decisions, numbers, floor, reason: all of it.
        assert done == preview
        shown = project((await view.frame()).entries, preview.decisions)
        after = await view.report()
        assert after.total == view.meter.real(preview.after, key)
        assert sum(line.tokens for line in after.by_source) == after.total
        assert after.preview.actions == ()
        if preview.actions:
            (event,) = told.of("context:compaction")
            # On the scale of the provider's count, as the budget in the same event is.
            told_before = view.meter.real(preview.before, key)
            told_after = view.meter.real(preview.after, key)
            assert (event["before_tokens"], event["after_tokens"]) == (told_before, told_after)
            assert event["before_messages"] == len(before)
            assert event["after_messages"] == len(shown)
            scaled = replace(preview, before=told_before, after=told_after)
            assert event["plan"] == scaled.describe()
        assert await manager.get_messages() == rows

        # The same session, where a request compacts by itself.
        twin, _, _ = await random_session(seed)
        request = await twin.get_messages_for_request()
        if view.meter.real(preview.before, key) > view.budget().trigger:
            compacted_by_itself += 1
            assert request == shown
            assert dict(twin.view.decisions.of(key).rows) == dict(preview.decisions)
        else:
            assert request == before
        assert await twin.get_messages() == rows
        reasons[done.reason] += 1
        counted[report.kind] += 1
    # Every kind of end was met, and every kind of session.
    assert set(reasons) == {"fits", "forced", "trigger", "floor", "overflow"}
    assert set(counted) == {"usage", "estimated"}
    assert compacted_by_itself > 50
    assert sum(reasons.values()) == LEDGERS


@given(rows=ledgers(), limit=limits)
async def test_what_is_stored_is_never_changed(rows: list[Row], limit: int) -> None:
    manager = SessionContextManager(BudgetPolicy(max_tokens=limit))
    for row in rows:
        await manager.add_message(row)
        view = await manager.get_messages_for_request()
        for shown in view:
            shown["content"] = "changed by whoever got it"
            shown.get("tool_calls", []).clear()
    assert await manager.get_messages() == rows


@given(rows=ledgers(), limit=limits)
async def test_a_view_only_grows_until_it_is_compacted_again(rows: list[Row], limit: int) -> None:
    manager = SessionContextManager(BudgetPolicy(max_tokens=limit))
    before: list[Row] = []
    for row in rows:
        await manager.add_message(row)
        if row["role"] == "assistant" and row.get("tool_calls"):
            continue
        decided = dict(manager.view.decisions.of(f"@{limit}").rows)
        view = await manager.get_messages_for_request()
        if dict(manager.view.decisions.of(f"@{limit}").rows) == decided and not _mended(before):
            assert view[: len(before)] == before
        before = view


def _mended(rows: list[Row]) -> bool:
    return any((row.get("metadata") or {}).get("repaired") for row in rows)


@given(ledgers(broken=True))
def test_nothing_a_tool_said_is_lost_when_a_conversation_is_put_right(rows: list[Row]) -> None:
    names: dict[str, str] = {}
    ready = repaired(read_entries(rows, names), names)
    shown = str([entry.message["content"] for entry in ready])
    for row in rows:
        if row["role"] == "tool":
            assert str(row["content"]) in shown or repr(row["content"])[1:-1] in shown


@given(ledgers())
def test_a_whole_conversation_needs_no_repair(rows: list[Row]) -> None:
    ledger = Ledger()
    ledger.replace(rows)
    assert repaired(ledger.entries, ledger.tool_names) is ledger.entries


@pytest.mark.hypothesis
async def test_a_request_of_a_session_that_grew_is_that_of_one_read_anew() -> None:
    for seed in range(settings.default.max_examples):
        rng, rows = Random(-seed), random_ledger(seed)
        if seed % 2:
            # Somebody lost a row, or wrote one twice.
            del rows[rng.randrange(len(rows))]
            rows.insert(rng.randrange(len(rows) or 1), user("again"))
        limit = rng.choice((200, 1_000, 5_000, 20_000))
        await grows_as_if_read_anew(rows, limit, lent=seed % 3 == 0, prompts=seed % 5 == 0)


async def grows_as_if_read_anew(rows: list[Row], limit: int, *, lent: bool, prompts: bool) -> None:
    grown = SessionContextManager(BudgetPolicy(max_tokens=limit))
    for number, row in enumerate(rows):
        if lent and row["role"] == "user":
            start = len(grown.ledger)
            added = read_entry(user(f"doc {number}"), f"rag#{number}", {}, provided=True)
            past = grown.ledger.entries[:start]
            context = [*past, added]
            grown.view.lent = LentTurn(start=start, context=context, past_rows=start)
        if prompts:
            grown.view.prompt.use(lambda said=f"Be kind. It is {number // 5}.": said)
        await grown.add_message(row)
        decided = grown.view.decisions.peek(grown.view.budget().key)
        anew = ContextView(grown.ledger, BudgetPolicy(max_tokens=limit), ContextEvents(None, "c"))
        anew.prompt, anew.meter, anew.decisions = (
            grown.view.prompt,
            grown.view.meter,
            deepcopy(grown.view.decisions),
        )
        anew.lent = replace(grown.view.lent, past_rows=0) if grown.view.lent else None
        assert await grown.view.report() == await anew.report()
        frame, wanted = await anew.frame(decided), anew.budget()
        again = max(wanted.trigger, min(decided.resume_at, wanted.limit))
        wanted = replace(wanted, trigger=again)
        at_once = plan(frame.entries, wanted, decided.rows, force=True, protected=frame.protected)
        assert await grown.view.preview() == at_once == await anew.preview()
        if number % 3 == 2:
            assert await grown.view.compact() == await anew.compact()
        assert await grown.view.messages() == await anew.messages()
        assert dict(decided.rows) == dict(anew.decisions.peek(anew.budget().key).rows)
