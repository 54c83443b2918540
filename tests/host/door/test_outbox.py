import threading

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.door.outbox import PROGRESS_LIMIT, Outbox
from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    BlockStarted,
    BudgetChanged,
    HookTraced,
    HostEvent,
    Notice,
    ToolEnded,
    ToolProgress,
)


def delta(text: str, block: str = "b1", agent: str = "main") -> BlockDelta:
    return BlockDelta(session_id="s", agent=agent, block_id=block, text=text)


def ended(block: str = "b1") -> BlockEnded:
    return BlockEnded(session_id="s", block_id=block, kind="text", text="whole")


def trace(seq: int, event: str = "tool:pre", count: int = 1) -> HookTraced:
    return HookTraced(session_id="s", seq=seq, event=event, count=count)


def test_events_come_out_as_they_went_in() -> None:
    box = Outbox()
    events = [Notice(session_id="s", level="info", text=str(n)) for n in range(5)]
    for event in events:
        box.put(event)
    assert box.drain() == events
    assert box.drain() == []


def test_waiting_text_of_a_block_is_one_event() -> None:
    box = Outbox()
    for text in "abc":
        box.put(delta(text))
        box.put(trace(1))
    box.put(delta("x", agent="lane"))
    out = [e for e in box.drain() if isinstance(e, BlockDelta)]
    assert [(e.agent, e.text) for e in out] == [("main", "abc"), ("lane", "x")]


def test_a_part_can_be_taken_and_the_rest_goes_on_where_it_was() -> None:
    box = Outbox()
    for event in (trace(1), delta("a"), trace(2), delta("b", block="b2")):
        box.put(event)
    assert box.drain(2) == [trace(1), delta("a")]
    box.put(delta("c"))
    box.put(delta("d", block="b2"))
    assert box.drain(2) == [trace(2), delta("bd", block="b2")]
    assert box.drain(2) == [delta("c")]
    assert box.drain(2) == []


def test_text_after_the_end_of_a_block_stays_after_it() -> None:
    box = Outbox()
    for event in (delta("a"), ended(), delta("b")):
        box.put(event)
    assert [type(e).__name__ for e in box.drain()] == ["BlockDelta", "BlockEnded", "BlockDelta"]


def test_progress_keeps_its_end_and_says_what_is_missing() -> None:
    box = Outbox()
    for number in range(400):
        box.put(ToolProgress(session_id="s", call_id="c", text=f"{number:>1000}"))
    box.put(ToolEnded(session_id="s", call_id="c", tool="t", ok=True))
    progress, _ = box.drain()
    assert isinstance(progress, ToolProgress)
    head, _, text = progress.text.partition("\n")
    assert "left out" in head and len(text) == PROGRESS_LIMIT and text.endswith("399")
    assert int(head.split()[1].replace(",", "")) == 400_000 - PROGRESS_LIMIT


def test_the_front_end_is_woken_once_per_batch() -> None:
    box, woken = Outbox(), []
    box.set_waker(lambda: woken.append(1))
    for _ in range(3):
        box.put(trace(1))
    assert len(woken) == 1
    box.drain()
    box.put(trace(2))
    assert len(woken) == 2
    box.set_waker(None)
    box.drain()
    box.put(trace(3))
    assert len(woken) == 2


def test_a_waker_that_comes_late_is_told_of_what_waits() -> None:
    box, woken = Outbox(), []
    box.put(trace(1))
    box.set_waker(lambda: woken.append(1))
    assert woken == [1]


def test_a_waker_may_drain() -> None:
    box = Outbox()
    out: list[HostEvent] = []
    box.set_waker(lambda: out.extend(box.drain()))
    box.put(trace(1))
    box.put(trace(2))
    assert len(out) == 2


def test_without_anybody_reading_the_log_is_counted_and_the_text_is_kept() -> None:
    box = Outbox(soft_limit=10, hard_limit=20)
    for number in range(1_000):
        box.put(delta("x"))
        box.put(trace(number, event=f"event:{number % 40}"))
        box.put(BudgetChanged(session_id="s", total=number))
    out = box.drain()
    assert len(out) < 60
    assert "".join(e.text for e in out if isinstance(e, BlockDelta)) == "x" * 1_000
    rows = sum(e.count for e in out if isinstance(e, HookTraced))
    (notice,) = [e for e in out if isinstance(e, Notice)]
    assert rows + int(notice.text.split()[0]) == 1_000
    assert [e for e in out if isinstance(e, BudgetChanged)][-1].total == 999


def test_everything_that_is_no_instrument_is_kept_whatever_waits() -> None:
    box = Outbox(soft_limit=2, hard_limit=3)
    events = [BlockStarted(session_id="s", block_id=f"b{n}", kind="text") for n in range(50)]
    for event in events:
        box.put(event)
    assert box.drain() == events


def test_nothing_is_lost_between_two_threads() -> None:
    box = Outbox()
    news = threading.Event()
    box.set_waker(news.set)

    def produce() -> None:
        for number in range(5_000):
            box.put(delta(f"{number},", block=f"b{number % 7}"))

    thread = threading.Thread(target=produce)
    thread.start()
    texts: dict[str, str] = {}
    while thread.is_alive() or news.is_set():
        news.wait(0.05)
        news.clear()
        for event in box.drain():
            assert isinstance(event, BlockDelta)
            texts[event.block_id] = texts.get(event.block_id, "") + event.text
    thread.join()
    for block in range(7):
        expected = "".join(f"{n}," for n in range(5_000) if n % 7 == block)
        assert texts[f"b{block}"] == expected


_EVENTS = st.one_of(
    st.builds(delta, st.text("ab", min_size=1, max_size=3), st.sampled_from(["b1", "b2"])),
    st.builds(ended, st.sampled_from(["b1", "b2"])),
    st.builds(trace, st.integers(1, 9), st.sampled_from(["a", "b"]), st.integers(1, 3)),
)


@given(st.lists(st.tuples(_EVENTS, st.booleans()), max_size=40))
def test_text_is_complete_and_in_order_however_often_it_is_drained(
    steps: list[tuple[HostEvent, bool]],
) -> None:
    box = Outbox(soft_limit=3, hard_limit=6)
    out: list[HostEvent] = []
    for event, drain in steps:
        box.put(event)
        if drain:
            out += box.drain()
    out += box.drain()

    def story(events: list[HostEvent], block: str) -> str:
        text = ""
        for event in events:
            if isinstance(event, BlockDelta) and event.block_id == block:
                text += event.text
            elif isinstance(event, BlockEnded) and event.block_id == block:
                text += "|"
        return text

    given_events = [event for event, _ in steps]
    for block in ("b1", "b2"):
        assert story(out, block) == story(given_events, block)
