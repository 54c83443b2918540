from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amplifier_tui.host.events import HookTraced
from amplifier_tui.ui.panes.events.rows import (
    EventLayout,
    clock_time,
    event_role,
    event_row,
    handler_row,
)
from tests.ui.state.make import handler, traced

PRE = traced(
    1,
    "tool:pre",
    source="bash",
    verdict="ask_user",
    duration_ms=2.0,
    at=7.340,
    handlers=(handler("hooks-logging"), handler("hooks-approval", "ask_user", reason="no rule")),
)
DELTAS = traced(2, "llm:stream_block_delta", source="anthropic", duration_ms=0.2, at=8.0)


def said(row: HookTraced, width: int, count: int = 1, previous: float | None = None) -> str:
    return "".join(text for text, _ in event_row(row, count, EventLayout(width), previous))


def test_the_rail_shows_time_event_source_and_duration() -> None:
    assert said(PRE, 32) == "07.340 tool:pre    bash ?   2 ms"


def test_the_source_goes_before_the_name_is_cut_and_a_mark_says_the_verdict() -> None:
    assert said(PRE, 27) == "07.340 tool:pre    ?   2 ms"
    assert said(PRE, 26) == "07.340 tool:pre   ?   2 ms"


def test_less_than_a_millisecond_is_not_told_in_a_row() -> None:
    assert said(replace(PRE, duration_ms=0.94), 32) == "07.340 tool:pre    bash ?       "


def test_the_length_of_a_run_is_never_cut() -> None:
    assert said(DELTAS, 32, 412) == "08.000 llm:stream_block_de… ×412"
    assert "×412" in said(DELTAS, 46, 412)


def test_a_name_is_cut_only_where_something_stands_beside_it() -> None:
    assert said(DELTAS, 29) == "08.000 llm:stream_block_delta"
    assert said(replace(DELTAS, duration_ms=5.0), 34) == "08.000 llm:stream_block_delta 5 ms"
    assert said(replace(DELTAS, duration_ms=5.0), 33) == "08.000 llm:stream_block_del… 5 ms"
    assert "llm:stream_block_delta ×17  " in said(replace(DELTAS, source=""), 96, 17)
    ended = traced(3, "orchestrator:complete", source="loop-streaming")
    assert "orchestrator:complete   loop-streaming" in said(ended, 96)


def test_the_rail_names_the_module_that_did_not_load() -> None:
    row = traced(4, "module:load_failed", source="tool-weather", at=7.0)
    assert said(row, 48).split() == ["07.000", "module:load_failed", "tool-weather"]
    assert said(row, 32) == "07.000 load_failed  tool-weather"
    assert said(row, 28) == "07.000 load_failed tool-wea…"


def test_a_handler_that_spoke_has_a_line_of_its_own_in_the_rail() -> None:
    row = handler_row(PRE.handlers[1], EventLayout(32))
    assert "".join(text for text, _ in row) == "       └ hooks-approval ask_user"


def test_a_wide_line_holds_every_column() -> None:
    line = said(PRE, 140, previous=7.311)
    assert line.split()[1:] == [
        "+0.029",
        "tool:pre",
        "bash",
        "ask_user",
        "2",
        "ms",
        "hooks-approval",
        "ask_user",
        "no",
        "rule,",
        "hooks-logging",
    ]


def test_the_lane_has_a_column_when_there_are_several() -> None:
    row = traced(1, "tool:pre", agent="researcher")
    with_lane = "".join(t for t, _ in event_row(row, 1, EventLayout(118, lanes=True), None))
    without = "".join(t for t, _ in event_row(row, 1, EventLayout(118), None))
    assert "research" in with_lane
    assert "research" not in without


def test_the_columns_of_wide_lines_stand_below_each_other() -> None:
    lines = [said(row, 118, previous=7.0) for row in (PRE, DELTAS)]
    assert lines[0].index("bash") == lines[1].index("anthropic")
    assert lines[0].index("ask_user") == lines[1].index("continue")


@pytest.mark.parametrize(
    ("event", "verdict", "role"),
    [
        ("tool:pre", "continue", "text"),
        ("tool:pre", "ask_user", "text"),
        ("tool:pre", "deny", "error"),
        ("tool:error", "continue", "error"),
        ("module:load_failed", "continue", "error"),
        ("approval:required", "continue", "warning"),
        ("approval:granted", "continue", "success"),
        ("cancel:requested", "continue", "warning"),
    ],
)
def test_only_what_wants_attention_is_coloured(event: str, verdict: str, role: str) -> None:
    assert event_role(traced(1, event, verdict=verdict)) == role


@pytest.mark.parametrize("at", [1e20, -1e20, float("nan"), float("inf")])
def test_an_impossible_time_is_no_time(at: float) -> None:
    assert clock_time(at) == "--:--:--.---"


TEXT = st.text(max_size=40)


@given(
    TEXT,
    TEXT,
    TEXT,
    st.integers(1, 10**7),
    st.floats(0, 1e9),
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(1, 220),
    st.booleans(),
)
def test_no_text_makes_a_line_too_long_or_harmful(
    event: str, source: str, name: str, count: int, ms: float, at: float, width: int, lanes: bool
) -> None:
    row = traced(
        1,
        event,
        source=source,
        agent=name,
        duration_ms=ms,
        at=at,
        handlers=(handler(name, source, reason=event),),
    )
    layout = EventLayout(width, lanes)
    for pieces in (
        event_row(row, count, layout, 0.0),
        handler_row(row.handlers[0], layout),
    ):
        line = "".join(text for text, _ in pieces)
        assert cell_len(line) <= width
        assert all(
            character.isprintable() or character == " " for character in line if character < "\x80"
        )
