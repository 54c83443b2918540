"""The window of the model in use: learned where its provider's defaults do not tell it."""

from collections.abc import Callable
from typing import Any

import pytest

from amplifier_tui.host.events import BudgetChanged, ModelChanged, Notice
from tests.host.asking import CONTEXT
from tests.host.driving import Driver, Project


def shy(project: Project, *, context: str = CONTEXT, **config: Any) -> str:
    provider = {"module": "provider-shy", "config": config}
    return project.bundle(providers=[provider], context=context)


@pytest.mark.parametrize("context", [CONTEXT, "context-simple"])
def test_the_window_is_learned_from_the_list_of_models_for_the_budget_and_compaction(
    project: Project, driver: Driver, context: str
) -> None:
    driver.open(shy(project, context=context))
    changed = driver.wait(ModelChanged, lambda e: e.context_window == 8_000)
    assert (changed.model, changed.max_output_tokens, changed.chosen) == ("shy-1", 1_000, "")
    told = driver.wait(BudgetChanged, lambda e: not e.assumed)
    assert told.window == 8_000 and 0 < told.trigger < 8_000
    preview = driver.client.compaction().result(10)
    assert (preview.window, preview.trigger) == (8_000, told.trigger)
    driver.turn("go")
    assert driver.answers() == ["listed 1"]
    assert driver.of(BudgetChanged)[-1].window == 8_000


@pytest.mark.parametrize("lists", ["raises", "hangs"])
def test_a_provider_that_does_not_list_its_models_costs_nothing_and_its_window_is_assumed(
    project: Project, driver: Driver, lists: str
) -> None:
    driver.open(shy(project, lists=lists))
    assert driver.turn("go").status == "success"
    last = driver.wait(BudgetChanged)
    assert last.assumed and last.trigger > 100_000
    assert not [each for each in driver.of(Notice) if each.level != "info"]


def test_a_provider_that_tells_its_window_is_not_asked_for_its_models(
    project: Project, driver: Driver
) -> None:
    driver.open(shy(project, context_window=9_000))
    driver.turn("go")
    assert driver.answers() == ["listed 0"]
    assert driver.of(BudgetChanged)[-1].window == 9_000


def test_a_window_that_is_set_while_the_session_runs_counts_at_once(
    project: Project, driver: Driver
) -> None:
    driver.open(shy(project, context_window=9_000))
    driver.turn("go")
    driver.client.configure("provider-shy", "context_window", "6000")
    assert driver.wait(ModelChanged).context_window == 6_000
    told = driver.wait(BudgetChanged, lambda e: e.window == 6_000)
    assert 0 < told.trigger < 6_000
    # Chosen, it is the same model: its settings count all the same.
    driver.client.switch_model("shy-1", "shy")
    driver.wait(ModelChanged, lambda e: e.chosen != "")
    driver.client.configure("provider-shy", "context_window", "7000")
    assert driver.wait(ModelChanged).context_window == 7_000


def test_a_stored_choice_of_a_provider_s_own_model_follows_a_window_that_was_changed_since(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive()
    opened = driver.open(shy(project, context_window=9_000))
    driver.client.switch_model("shy-1", "shy")
    driver.turn("go")
    driver.close()
    shy(project, context_window=6_000)
    again = drive()
    assert again.open(resume=opened.session_id).context_window == 6_000
