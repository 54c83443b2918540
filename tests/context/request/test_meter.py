import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.request.meter import Meter


def anchored(estimate: int, usage: int, model: str = "m") -> Meter:
    meter = Meter()
    meter.sent(estimate, model)
    assert meter.counted({"input_tokens": usage})
    return meter


def test_without_a_count_the_estimate_is_all_there_is() -> None:
    meter = Meter()
    assert (meter.real(100, "m"), meter.estimate(100, "m")) == (100, 100)
    assert meter.kind("m") == "estimated"


def test_what_came_since_is_added_to_the_count() -> None:
    meter = anchored(1_000, 1_500)
    assert meter.kind("m") == "usage"
    assert meter.real(1_000, "m") == 1_500
    assert meter.real(1_200, "m") == 1_700


def test_what_went_since_is_taken_in_proportion() -> None:
    meter = anchored(1_000, 500)
    assert meter.real(500, "m") == 250
    assert meter.real(0, "m") == 0


@given(st.integers(1, 10**6), st.floats(0.3, 3.9), st.integers(0, 10**6))
def test_both_directions_agree(estimate: int, ratio: float, real: int) -> None:
    usage = max(1, round(estimate * ratio))
    meter = Meter()
    meter.sent(estimate, "m")
    if not meter.counted({"input_tokens": usage}):
        return
    back = meter.real(meter.estimate(real, "m"), "m")
    assert abs(back - real) <= max(2, usage / estimate + 1)


def test_a_count_holds_for_its_model_only() -> None:
    meter = anchored(1_000, 1_500, "a")
    assert meter.real(1_000, "b") == 1_000
    assert meter.kind("b") == "estimated"


@pytest.mark.parametrize(
    "usage", [None, {}, {"input_tokens": 0}, {"input_tokens": "9"}, {"input_tokens": -3}, "x"]
)
def test_a_usage_that_says_nothing_is_no_count(usage: object) -> None:
    meter = Meter()
    meter.sent(1_000, "m")
    assert not meter.counted(usage)


def test_the_count_of_another_request_is_not_taken() -> None:
    meter = Meter()
    assert not meter.counted({"input_tokens": 900})
    meter.sent(10_000, "m")
    assert not meter.counted({"input_tokens": 200})
    assert not meter.counted({"input_tokens": 90_000})
    meter.settled()
    assert not meter.counted({"input_tokens": 10_000})


def test_the_count_survives_saving() -> None:
    meter = Meter()
    meter.restore(anchored(1_000, 1_500).to_dict())
    assert meter.real(1_000, "m") == 1_500
    meter.restore({"usage": "many"})
    assert meter.anchor is None
    assert meter.to_dict() is None
