import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.events import BudgetChanged, SourceUsage
from amplifier_tui.ui.state.instruments.budget import Pressure, share_cells, source_groups
from tests.ui.state.make import make, new_state, turn


def budget(total: int = 62_000, **fields: object) -> BudgetChanged:
    return make(BudgetChanged, **{"total": total, "window": 200_000, "trigger": 170_000, **fields})


def usage(**tokens: int) -> tuple[SourceUsage, ...]:
    return tuple(
        SourceUsage(source=name.replace("__", ":"), tokens=count, messages=1)
        for name, count in tokens.items()
    )


@pytest.mark.parametrize(
    ("total", "percent", "pressure"),
    [
        (0, 0, "calm"),
        (62_000, 31, "calm"),
        (139_000, 70, "calm"),
        (140_000, 70, "rising"),
        (150_000, 75, "near"),
        (170_000, 85, "over"),
        (199_500, 99, "over"),
        (200_000, 100, "over"),
        (300_000, 150, "over"),
    ],
)
def test_pressure_rises_towards_the_trigger(total: int, percent: int, pressure: Pressure) -> None:
    state = new_state(budget(total))
    assert (state.budget.percent, state.budget.pressure) == (percent, pressure)


def test_an_unknown_window_has_no_percentage() -> None:
    state = new_state(budget(window=0))
    assert (state.budget.percent, state.budget.pressure) == (None, "calm")


def test_a_sub_agents_budget_is_not_the_sessions() -> None:
    state = new_state(budget(1_000), budget(9_000, agent="lane1"))
    assert state.budget.report is not None
    assert state.budget.report.total == 1_000


def test_the_turn_knows_what_it_added() -> None:
    state = new_state(budget(10_000), turn(), budget(16_200))
    assert state.budget.turn_delta == 6_200


def test_an_estimate_is_not_compared_with_a_count() -> None:
    state = new_state(budget(3_300), turn(), budget(3_000, kind="usage"))
    assert state.budget.turn_delta is None
    state.apply([turn(), budget(3_400, kind="usage")])
    assert state.budget.turn_delta == 400


def test_the_same_report_twice_is_no_change() -> None:
    state = new_state(budget())
    version = state.budget.version
    state.apply([budget()])
    assert state.budget.version == version


def test_groups_come_in_the_order_of_a_request() -> None:
    sources = usage(
        tool__read=31, bundle__coding=10, tools__a=4, tools__b=5, user=1, assistant=10, memory=2
    )
    assert [(g.label, g.tokens, g.messages) for g in source_groups(sources, 9)] == [
        ("bundle:coding", 10, 1),
        ("tool schemas", 9, 2),
        ("tool:read", 31, 1),
        ("memory", 2, 1),
        ("conversation", 11, 2),
    ]


def test_the_smallest_are_put_together_at_the_end() -> None:
    groups = source_groups(usage(a=1, b=2, c=3, d=40, e=50), 3)
    assert [(g.label, g.tokens, g.members) for g in groups] == [
        ("e", 50, 1),
        ("d", 40, 1),
        ("3 more", 6, 3),
    ]


def test_sources_without_tokens_are_not_listed() -> None:
    assert source_groups(usage(a=0, b=-3), 3) == []


@given(
    st.lists(st.integers(0, 10**9), max_size=12),
    st.integers(0, 10**9),
    st.integers(0, 200),
)
def test_a_bar_is_divided_fairly(amounts: list[int], whole: int, cells: int) -> None:
    given_cells = share_cells(amounts, whole, cells)
    assert len(given_cells) == len(amounts)
    assert sum(given_cells) <= cells
    assert all(count >= 0 for count in given_cells)
    present = sum(amount > 0 for amount in amounts)
    if present <= cells:
        assert all((count > 0) == (n > 0) for count, n in zip(given_cells, amounts, strict=True))
    total = max(whole, sum(amounts), 1)
    for count, amount in zip(given_cells, amounts, strict=True):
        assert abs(count - amount * cells / total) <= present + 1


def test_a_full_window_fills_the_bar() -> None:
    assert share_cells([50, 50], 100, 10) == [5, 5]
    assert share_cells([80, 80], 100, 10) == [5, 5]
