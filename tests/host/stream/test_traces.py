"""Rows of a stored event log, also of rows nobody of ours wrote."""

from typing import Any

import pytest

from amplifier_tui.host.stream.traces import replayed


@pytest.mark.parametrize(
    "odd",
    [
        {"count": float("inf")},
        {"count": float("nan"), "ms": -float("inf")},
        {"count": 10**400},
        {"ts": "9999-12-31T23:59:59-14:00"},
        {"ts": "0001-01-01T00:00:00+14:00"},
        {"handlers": [{"name": 3, "error": {"a": 1}, "reason": ["x"], "ms": "1"}, 4]},
        {"data": 5, "lane": None, "verdict": None},
    ],
)
def test_a_row_that_makes_no_sense_is_shown_as_far_as_it_goes(odd: dict[str, Any]) -> None:
    trace = replayed({"seq": 1, "event": "tool:pre", "data": {}, **odd}, "s")
    assert trace.event == "tool:pre" and trace.count == 1
    assert all(each.error is None and each.reason is None for each in trace.handlers)
    assert type(trace).from_json(trace.to_json()) == trace
