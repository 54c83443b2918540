from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.events import HookTraced
from amplifier_tui.ui.state.instruments.event_ring import EventRing
from tests.ui.state.make import traced

DELTA = "llm:stream_block_delta"


def seqs(log: EventRing) -> list[int]:
    return [row.seq for _, row in log.slice(0, log.end)]


def filled(*rows: HookTraced, capacity: int = 100, **arguments: int) -> EventRing:
    log = EventRing(capacity, **arguments)
    for row in rows:
        log.append(row)
    return log


def test_rows_keep_their_index_when_older_ones_leave() -> None:
    log = filled(*(traced(n) for n in range(1000)), capacity=10)
    assert (log.first, log.end, len(log)) == (990, 1000, 10)
    assert seqs(log) == list(range(990, 1000))
    row = log.get(995)
    assert row is not None
    assert row.seq == 995
    assert log.get(989) is None
    assert log.get(1000) is None
    assert log.total == 1000


def test_a_run_of_deltas_is_one_row() -> None:
    log = filled(
        traced(1),
        *(traced(n, DELTA, source="x") for n in range(2, 414)),
        traced(414),
        traced(415, DELTA, source="x"),
    )
    assert seqs(log) == [1, 2, 414, 415]
    assert [log.count(index) for index in range(4)] == [1, 412, 1, 1]
    assert log.total == 415


def test_runs_that_come_counted_are_added_up() -> None:
    log = filled(traced(1, DELTA, count=30), traced(31, DELTA, count=12))
    assert log.count(0) == 42


def test_runs_of_two_lanes_do_not_break_each_other() -> None:
    rows = [traced(n, DELTA, agent=agent) for n in range(5) for agent in ("main", "lane1")]
    log = filled(*rows)
    assert [log.count(0), log.count(1), len(log)] == [5, 5, 2]


def test_a_delta_with_another_verdict_stands_alone() -> None:
    log = filled(traced(1, DELTA), traced(2, DELTA, verdict="deny"), traced(3, DELTA))
    assert len(log) == 3


def test_a_run_whose_row_has_left_begins_a_new_row() -> None:
    log = filled(traced(1, DELTA, agent="lane1"), capacity=5)
    for n in range(2, 100):
        log.append(traced(n))
    log.append(traced(100, DELTA, agent="lane1"))
    assert seqs(log)[-1] == 100


def test_payloads_of_old_rows_go_before_memory_does() -> None:
    rows = [traced(n, data="x" * 1000, size=1000) for n in range(100)]
    log = filled(*rows, capacity=1000, payload_limit=20_000)
    held = [len(row.data) for _, row in log.slice(0, log.end)]
    assert sum(held) <= 20_000
    assert held[-1] == 1000
    assert held[0] == 0
    assert [row.size for _, row in log.slice(0, 1)] == [1000]


def test_a_cleared_log_goes_on_counting_indices() -> None:
    log = filled(traced(1), traced(2), capacity=10)
    version = log.version
    log.clear()
    assert (len(log), log.total, log.first, log.end) == (0, 0, 2, 2)
    assert log.version > version
    log.append(traced(1))
    assert log.find(1) is not None
    assert log.get(2) is not None


def test_clearing_an_empty_log_is_no_change() -> None:
    log = EventRing()
    log.clear()
    assert log.version == 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["tool:pre", DELTA]),
            st.sampled_from(["main", "lane1"]),
            st.integers(0, 600),
        ),
        max_size=200,
    ),
    st.integers(1, 20),
)
def test_the_ring_holds_the_newest_rows_and_counts_everything(
    rows: list[tuple[str, str, int]], capacity: int
) -> None:
    log = EventRing(capacity, payload_limit=5_000)
    for seq, (event, agent, size) in enumerate(rows):
        log.append(traced(seq, event, agent=agent, data="x" * size))
    assert log.total == len(rows)
    assert len(log) <= capacity
    assert log.end - log.first == len(log)
    assert seqs(log) == sorted(seqs(log))
    assert all(log.get(index) is not None for index in range(log.first, log.end))
    if rows and rows[-1][0] == "tool:pre":
        assert seqs(log)[-1] == len(rows) - 1
    if log.first == 0:
        assert sum(log.count(index) for index in range(log.end)) == len(rows)
