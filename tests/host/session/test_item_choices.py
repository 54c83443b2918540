"""Single items of the context: pinned, dropped or shortened, the same after a resume and a fork."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from amplifier_tui.host.client import ItemCard
from amplifier_tui.host.events import BudgetChanged, ItemChosen, Notice, SessionOpened
from tests.host.driving import Driver, Project

STEPS = {"look": {"call": [{"echo": {"text": "needle " * 400}}]}, "tell": {"say": "Found it."}}
SCRIPT: dict[str, Any] = {"name": "any", "steps": STEPS}


def items(driver: Driver) -> dict[str, ItemCard]:
    found = driver.client.items().result(10)
    return {item.source: item for item in found}


def rows(project: Project, session_id: str) -> list[dict[str, Any]]:
    text = (project.folder_of(session_id) / "transcript.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("context", ["context-pipeline", "context-simple"])
def test_an_item_is_dropped_and_a_resume_and_a_fork_agree_on_it(
    project: Project, drive: Callable[..., Driver], context: str
) -> None:
    first = drive()
    opened = first.open(project.bundle(script=SCRIPT, context=context))
    first.turn("look")
    before = rows(project, opened.session_id)
    result = items(first)["tool:echo"]
    assert result.whole > 500 and result.state == "whole" and result.call_id
    weight = first.of(BudgetChanged)[-1].total
    first.client.choose_item(result.key, "drop")
    said = first.wait(ItemChosen)
    assert (said.choice, said.item[:17]) == ("drop", "tool:echo: needle")
    assert first.wait(BudgetChanged).total < weight - 400, "what it weighs now is told at once"
    assert rows(project, opened.session_id) == before, "the ledger keeps it"
    dropped = items(first)["tool:echo"]
    assert (dropped.state, dropped.whole) == ("dropped", result.whole)
    first.client.fork()
    first.wait(SessionOpened)
    assert items(first)["tool:echo"] == dropped
    first.client.undo_item()
    assert first.wait(ItemChosen).choice == ""
    assert items(first)["tool:echo"].state == "whole"
    first.close()
    second = drive()
    second.open(resume=opened.session_id)
    assert items(second)["tool:echo"] == dropped, "the session itself has it as it was left"
    assert [event.item for event in second.of(ItemChosen)] == [said.item]


def test_what_cannot_be_left_out_is_refused_with_the_reason(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(script=SCRIPT, context="context-pipeline"))
    driver.turn("look")
    driver.client.undo_item()
    assert "nothing to undo" in driver.wait(Notice, lambda e: e.source == "context").text
    asked = next(item for item in driver.client.items().result(10) if item.role == "user")
    driver.client.choose_item(asked.key, "drop")
    assert "asked right now" in driver.wait(Notice, lambda e: e.source == "context").text
    fixed = [item for item in driver.client.items().result(10) if item.fixed]
    assert any("instructions always go along" in item.fixed for item in fixed)
    assert all(not item.key for item in fixed if "described" in item.fixed)


def test_a_foreign_context_says_what_can_be_done_instead(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=SCRIPT, context="context-slots"))
    with pytest.raises(RuntimeError, match="context-pipeline, context-simple"):
        driver.client.items().result(10)
    driver.client.choose_item("1", "drop")
    assert "forked before a prompt" in driver.wait(Notice, lambda e: e.source == "context").text
