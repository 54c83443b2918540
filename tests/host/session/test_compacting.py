import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    BudgetChanged,
    Compacted,
    HookTraced,
    Notice,
    QueueChanged,
    SessionClosed,
    TurnEnded,
    TurnStarted,
    UsageChanged,
)
from amplifier_tui.host.session import budget
from amplifier_tui.host.session.compacting import _why_not
from tests.host.asking import CONTEXT, chat, seen
from tests.host.driving import Driver, Project, calling, saying
from tests.servers import Failure, Gate, LoopbackServer, Reply, ToolUse, Usage, reply

Make = Callable[..., Driver]
LONG = "word " * 400


def long_session(project: Project, driver: Driver, turns: int = 4, **more: Any) -> str:
    """A session whose old tool results take much room."""
    more.setdefault("context", CONTEXT)
    config = {"target": 0.1}
    if more["context"] == CONTEXT:
        more.setdefault("context_config", {"providers": [], **config})
    more.setdefault("context_config", {"compaction_target": 0.1})
    more.setdefault("script", calling({"echo": {"text": "x" * 20_000}}))
    opened = driver.open(project.bundle(**more))
    for number in range(turns):
        driver.turn(f"prompt {number}")
    driver.drain()
    return opened.session_id


def talk(
    project: Project, driver: Driver, server: LoopbackServer, *answers: Any, turns: int = 3
) -> str:
    """A session whose earlier turns are worth a summary."""
    server.script.add(*[f"Answer {n}. {LONG}" for n in range(turns)], *answers)
    name = project.bundle(
        context=CONTEXT, context_config={"providers": []}, providers=[chat(server)]
    )
    opened = driver.open(name)
    for number in range(turns):
        driver.turn(f"prompt {number}")
    driver.drain()
    return opened.session_id


# --- by rule -----------------------------------------------------------------------------------


@pytest.mark.parametrize("context", ["context-pipeline", "context-simple"])
def test_the_preview_says_what_a_compaction_by_rule_then_does(
    project: Project, driver: Driver, context: str
) -> None:
    session = long_session(project, driver, context=context)
    before = project.rows(session)
    preview = driver.client.compaction().result(5)
    assert preview.possible and preview.before > preview.after >= preview.floor > 0
    assert preview.before == driver.of(BudgetChanged)[-1].total
    saved = [step.before - step.after for step in preview.steps]
    assert saved == sorted(saved, reverse=True) and saved[0] > 0
    assert preview.kept and not preview.reason
    driver.client.compact()
    compacted = driver.wait(Compacted)
    assert (compacted.before_tokens, compacted.after_tokens) == (preview.before, preview.after)
    assert compacted.strategy == "rule"
    assert compacted.rows == sum(step.rows for step in preview.steps)
    assert driver.wait(BudgetChanged).total == preview.after
    assert project.rows(session) == before


def test_a_preview_changes_nothing(project: Project, driver: Driver) -> None:
    long_session(project, driver)
    first = driver.client.compaction().result(5)
    assert driver.client.compaction().result(5) == first
    driver.drain()
    assert not driver.of(Compacted)


def test_the_budget_shows_what_a_compaction_would_do(project: Project, driver: Driver) -> None:
    long_session(project, driver)
    budget = driver.of(BudgetChanged)[-1]
    assert budget.preview and budget.floor and budget.target
    assert sum(source.tokens for source in budget.sources) == budget.total
    assert {"user", "assistant", "tool:echo", "bundle:test"} <= {s.source for s in budget.sources}


def test_the_budget_of_a_new_session_is_that_of_its_own_model(
    project: Project, driver: Driver
) -> None:
    config = {"context_window": 50_000, "max_output_tokens": 2_000}
    name = project.bundle(
        context=CONTEXT,
        context_config={"providers": []},
        providers=[{"module": "provider-mock", "config": config}],
    )
    driver.open(name)
    budget = driver.wait(BudgetChanged)
    assert budget.window == 50_000 and 0 < budget.trigger < 48_000


def test_where_there_is_nothing_to_compact_the_user_is_told_why(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(context=CONTEXT, context_config={"providers": []}))
    driver.turn("hello")
    preview = driver.client.compaction().result(5)
    assert not preview.possible and preview.reason and preview.before == preview.after
    driver.client.compact()
    assert driver.wait(Notice).text == preview.reason
    assert not driver.of(Compacted)


@pytest.mark.parametrize(
    ("biggest", "target", "reason"),
    [
        (
            ("system", 9_000),
            12_500,
            "Nothing to do yet: the conversation takes 12.5k tokens, and a compaction by rule "
            "stops at 12.5k.",
        ),
        (
            ("system", 9_000),
            12_000,
            "Nothing more can be left out: 'system' takes 9k tokens and has to stay.",
        ),
        (("", 0), 12_000, "There is nothing to leave out yet: no old results or answers."),
    ],
)
def test_why_nothing_is_left_out_is_said_with_what_it_would_take(
    biggest: tuple[str, int], target: int, reason: str
) -> None:
    plan: Any = SimpleNamespace(before=12_500, biggest=biggest)
    view: Any = SimpleNamespace(
        budget=lambda _: SimpleNamespace(target=target, key="k"),
        meter=SimpleNamespace(real=lambda tokens, key: tokens),
    )
    assert _why_not(plan, view, None) == reason


def test_a_foreign_context_can_not_be_compacted_and_says_so(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(context="context-slots"))
    driver.turn("hello")
    preview = driver.client.compaction().result(5)
    assert not preview.possible and "context-pipeline" in preview.reason and not preview.model
    driver.client.compact()
    assert driver.wait(Notice, lambda e: e.level == "warning").text == preview.reason


def test_compacting_is_refused_while_a_turn_runs(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    gate = Gate()
    server.script.add(Reply([*reply("Well, ").parts, gate, *reply("yes.").parts]))
    driver.open(project.bundle(context=CONTEXT, providers=[chat(server)]))
    driver.client.submit("hello")
    driver.wait(BlockDelta)
    driver.client.compact("everything")
    assert "A turn is running" in driver.wait(Notice, lambda e: e.level == "warning").text
    gate.open()
    assert driver.wait(TurnEnded).status == "success"


def test_without_a_session_there_is_nothing_to_compact(driver: Driver) -> None:
    assert not driver.client.compaction().result(5).possible
    driver.client.compact()
    assert driver.wait(Notice).level == "warning"


# --- by itself ---------------------------------------------------------------------------------


def test_the_budget_is_that_of_the_request_while_the_model_answers_it(
    project: Project, driver: Driver, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "PAUSE", 0)  # What follows the result is measured before it fits.
    gate = Gate()
    called = reply(ToolUse("echo", {"text": "word ", "times": 100_000}))
    server.script.add(called, Reply([*reply("Well, ").parts, gate, *reply("yes.").parts]))
    model = chat(server, context_window=20_000, max_tokens=1_000)
    config = {"providers": []}
    driver.open(project.bundle(context=CONTEXT, context_config=config, providers=[model]))
    driver.client.submit("hello")
    compacted = driver.wait(Compacted)
    sent = driver.wait(BudgetChanged)
    assert sent.total == compacted.after_tokens < sent.window
    assert not any(measured.warning for measured in driver.of(BudgetChanged))
    assert not driver.of(TurnEnded)
    gate.open()
    assert driver.wait(TurnEnded).status == "success"


# --- with a summary ----------------------------------------------------------------------------


def test_a_summary_takes_the_place_of_earlier_turns_and_is_not_part_of_the_conversation(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    session = talk(project, driver, server, "They talked about words.", "Right.")
    rows = project.rows(session)
    shown = len(driver.of(BlockEnded)), len(driver.of(BlockDelta))
    preview = driver.client.compaction().result(5)
    assert preview.model
    driver.client.compact("keep the numbers")
    compacted = driver.wait(Compacted)
    assert compacted.strategy == "summary" and compacted.rows > 0
    assert compacted.before_tokens > compacted.after_tokens
    assert compacted.summary == "They talked about words."
    assert len(compacted.replaced) == compacted.rows
    assert compacted.replaced[0].startswith("assistant · Answer 0. word")
    # It is said to be written until it is there.
    (told,) = [event for event in driver.of(Notice) if "writes a summary" in event.text]
    assert told.until == "compacted"
    assert driver.wait(BudgetChanged).total < preview.before
    assert "keep the numbers" in str(seen(server, 3))
    assert project.rows(session) == rows
    now = len(driver.of(BlockEnded)), len(driver.of(BlockDelta))
    assert now == shown, "a summary is no answer"
    assert driver.turn("go on").status == "success"
    asked = "\n".join(seen(server, 4))
    assert "They talked about words." in asked and "Answer 0" not in asked
    assert "prompt 0" in asked and "go on" in asked


def test_a_summary_is_there_after_a_resume(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    first = drive()
    session = talk(project, first, server, "They talked about words.", "Right.")
    first.client.compact("")
    compacted = first.wait(Compacted)
    first.close()
    again = drive()
    again.open(resume=session)
    (divider,) = again.of(Compacted)
    assert divider.replayed and divider.strategy == "summary"
    assert divider.summary == "They talked about words."
    assert divider.replaced == compacted.replaced != ()
    again.client.submit("go on")
    again.wait(TurnEnded, lambda event: not event.replayed)
    asked = "\n".join(seen(server, 4))
    assert "They talked about words." in asked and "Answer 0" not in asked


def test_what_a_summary_costs_is_counted(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    talk(project, driver, server, reply("Words.", usage=Usage(input=700, output=70)))
    before = driver.of(UsageChanged)[-1].session
    driver.client.compact("")
    driver.wait(Compacted)
    after = driver.of(UsageChanged)[-1].session
    assert after.input_tokens - before.input_tokens == 700
    assert after.output_tokens - before.output_tokens == 70


@pytest.mark.parametrize("end", ["interrupt", "close"])
def test_a_summary_can_be_stopped(
    project: Project, driver: Driver, server: LoopbackServer, end: str
) -> None:
    session = talk(project, driver, server, Reply([*reply("They ").parts, Gate()]), "Right.")
    driver.client.compact("")
    server.request_blocking(3)
    if end == "close":
        driver.close()
        assert driver.of(SessionClosed) and not driver.of(Compacted)
        return
    driver.client.interrupt()
    assert "stopped" in driver.wait(Notice, lambda e: "stopped" in e.text).text
    server.request_blocking(3).disconnected.wait_blocking(5)
    assert driver.turn("go on").status == "success"
    assert "Answer 0" in "\n".join(seen(server, 4))
    assert len(project.rows(session)) == 8


def test_a_prompt_that_comes_while_the_summary_is_written_waits_for_it(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    gate = Gate()
    talk(project, driver, server, Reply([*reply("Words.").parts, gate]), "Right.")
    driver.client.compact("")
    server.request_blocking(3)
    driver.client.submit("go on")
    queued = driver.wait(QueueChanged)
    assert queued.items == ("go on",) and not queued.held
    gate.open()
    driver.wait(Compacted)
    assert driver.wait(TurnStarted).prompt == "go on"
    assert driver.wait(TurnEnded).status == "success"
    assert "Words." in "\n".join(seen(server, 4))


def test_a_provider_that_fails_leaves_the_conversation_as_it_was(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    talk(project, driver, server, Failure("overloaded"), "Right.")
    driver.client.compact("")
    told = driver.wait(Notice, lambda e: e.level == "error")
    assert "The conversation is as it was" in told.text
    # In the log of events, and in no second line.
    assert [e.event for e in driver.of(HookTraced)].count("provider:error") == 1
    assert driver.turn("go on").status == "success"
    assert [e.text for e in driver.of(Notice) if e.level == "error"] == [told.text]
    assert "Answer 0" in "\n".join(seen(server, 4))


def test_there_is_nothing_to_summarize_in_the_first_turn(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(context=CONTEXT, script=saying("Hello.")))
    driver.turn("hello")
    driver.client.compact("")
    assert "nothing to summarize" in driver.wait(Notice, lambda e: e.level == "warning").text


def test_a_context_that_could_not_keep_a_summary_does_not_pay_for_one(
    project: Project, driver: Driver
) -> None:
    session = long_session(project, driver, context="context-simple")
    assert not driver.client.compaction().result(5).model
    driver.client.compact("")
    assert "by rule" in driver.wait(Notice, lambda e: e.level == "warning").text
    assert "Compacted" not in json.dumps([e.to_json() for e in driver.drain()])
    assert project.rows(session)
