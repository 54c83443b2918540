from decimal import Decimal
from typing import Any

import pytest

from amplifier_tui.host.events import (
    Usage,
)
from amplifier_tui.host.stream.usage import UsageMeter, read_count


def test_an_answer_is_counted_once_however_often_it_is_told() -> None:
    meter = UsageMeter()
    meter.turn_begins()
    meter.step_begins("main")
    usage = {"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": "0.5"}}
    assert meter.request_answered("main", usage)
    assert not meter.step_answered("main", usage)
    assert not meter.step_answered("main", usage)
    meter.step_begins("main")
    assert meter.step_answered("main", usage)
    assert not meter.step_answered("main", usage)
    assert meter.turn.as_usage() == Usage(input_tokens=20, output_tokens=10, cost="1.0")


def test_an_answer_of_two_requests_counts_both() -> None:
    meter = UsageMeter()
    meter.step_begins("main")
    for _ in range(2):
        meter.request_answered("main", {"usage": {"input_tokens": 1, "output_tokens": 2}})
    meter.step_answered("main", {"usage": {"input_tokens": 1, "output_tokens": 2}})
    assert meter.turn.output_tokens == 4 and meter.window == 3


def test_an_attempt_that_failed_counts_and_is_no_answer() -> None:
    meter = UsageMeter()
    meter.turn_begins()
    meter.step_begins("main")
    usage = {"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": "0.5"}}
    assert meter.attempt_failed("main", usage)
    assert not meter.attempt_failed("main", {"usage": None})
    assert meter.window == 0 and "main" not in meter.last
    meter.request_answered("main", usage)
    meter.turn_begins()
    assert meter.session.cost == meter.of("main").cost == Decimal("1.0")


def test_a_provider_that_names_no_model_has_not_that_of_the_one_before() -> None:
    meter = UsageMeter()
    usage = {"usage": {"input_tokens": 1, "output_tokens": 1}}
    meter.request_answered("main", {**usage, "provider": "mock", "model": "scripted"})
    meter.request_answered("main", {**usage, "provider": "parrot"})
    assert (meter.provider, meter.model) == ("parrot", "")
    meter.request_answered("main", {**usage, "model": "echo-1"})
    meter.request_answered("main", usage)
    assert (meter.provider, meter.model) == ("parrot", "echo-1")


def test_turns_and_sub_agents_add_up() -> None:
    meter = UsageMeter()
    for _ in range(2):
        meter.turn_begins()
        for lane in ("main", "child"):
            meter.step_begins(lane)
            meter.request_answered(lane, {"usage": {"input_tokens": 1, "output_tokens": 1}})
    assert (meter.turn.input_tokens, meter.session.input_tokens) == (2, 4)
    meter.restore(Usage(input_tokens=10, cost="0.25"))
    assert meter.session.input_tokens == 14 and meter.session.cost == Decimal("0.25")


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 2},
        {"prompt_tokens": 3, "completion_tokens": 4, "cache_read_tokens": 2},
    ],
)
def test_every_vendor_s_words_are_read(usage: dict[str, int]) -> None:
    count = read_count(usage)
    assert count is not None
    assert (count.input_tokens, count.output_tokens, count.cache_read_tokens) == (3, 4, 2)


@pytest.mark.parametrize("usage", [None, {}, "x", {"input_tokens": -1}, {"input_tokens": True}])
def test_what_is_no_usage_counts_nothing(usage: Any) -> None:
    assert read_count(usage) is None


def test_a_cost_that_makes_no_sense_is_unknown() -> None:
    for cost in ("NaN", "-1", "free", True, None):
        count = read_count({"input_tokens": 1}, cost)
        assert count is not None and count.cost is None
