from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.ui.state.conversation.entries import (
    ReportEntry,
    TextEntry,
    UserEntry,
    WelcomeEntry,
)
from amplifier_tui.ui.transcript.entries.scene import Column
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.pager import Pager
from tests.ui.transcript.conversation import ANSWER
from tests.ui.transcript.documents import document, measure_all


def filled(count: int, width: int = 80) -> tuple[Document, Pager]:
    made = document(width)
    for number in range(count):
        text = f"unique {number} " + "words " * (number * 7 % 90)
        made.add(TextEntry(key=str(number), text=text + (ANSWER if number % 5 == 0 else "")))
    pager = Pager(made)
    pager.height = 20
    pager.settle()
    return made, pager


def visible(made: Document, pager: Pager) -> list[str]:
    rows = []
    for row in range(pager.row, min(pager.row + pager.height, made.heights.total)):
        found = made.line_at(row)
        assert found is not None and made.is_measured(found[0])
        rows.append(made.lines(found[0])[found[1]].text.rstrip())
    return rows


def test_a_new_window_is_at_the_end() -> None:
    made, pager = filled(50)
    assert pager.row == made.total - 20
    assert "unique 49" in "\n".join(visible(made, pager))


@given(st.lists(st.integers(-15, 15), min_size=1, max_size=40))
def test_scrolling_over_unmeasured_text_moves_by_exactly_the_rows_asked_for(
    steps: list[int],
) -> None:
    made, pager = filled(60)
    pager.scrolled(made.total // 2)
    for step in steps:
        before = visible(made, pager)
        row = pager.row + step
        if not 0 < row < pager.end:
            continue
        pager.scrolled(row)
        after = visible(made, pager)
        if step >= 0:
            assert after[: 20 - step] == before[step:]
        else:
            assert after[-step:] == before[: 20 + step]


@given(st.integers(0, 100), st.sampled_from([40, 60, 100, 120, 200]))
def test_a_resize_keeps_the_entry_at_the_top(percent: int, width: int) -> None:
    made, pager = filled(40)
    pager.scrolled(pager.end * percent // 100)
    if pager.follow:
        return
    found = made.line_at(pager.row)
    assert found is not None
    top = found[0].item
    pager.refit(Column.fit(width))
    after = made.line_at(pager.row)
    assert after is not None and (after[0].item is top or pager.row == pager.end)


def test_text_stays_when_heights_above_it_turn_out_different() -> None:
    made, pager = filled(60)
    pager.scrolled(pager.end - 30)
    before, row = visible(made, pager), pager.row
    total = made.total
    measure_all(made)
    assert made.total != total
    pager.settle()
    assert visible(made, pager) == before
    assert pager.row - row == pager.moved != 0


def test_text_stays_when_earlier_entries_come_in_front() -> None:
    made, pager = filled(30)
    pager.scrolled(10)
    before = visible(made, pager)
    made.prepend([UserEntry(key=f"e{n}", text="earlier " * 30) for n in range(20)])
    pager.settle()
    assert visible(made, pager)[1:] == before[1:]


def test_what_comes_below_is_counted_until_it_has_been_seen() -> None:
    made, pager = filled(30)
    pager.scrolled(pager.end - 10)
    assert pager.unseen == 0
    made.add(UserEntry(key="new", text="one\ntwo"))
    measure_all(made)
    pager.settle()
    assert pager.unseen == 3
    pager.scrolled(pager.row + 10)
    assert pager.unseen == 2
    pager.scrolled(pager.row - 5)
    assert pager.unseen == 2
    pager.scrolled(pager.end)
    assert (pager.unseen, pager.follow) == (0, True)


def test_scrolling_up_stops_following_and_reaching_the_end_resumes() -> None:
    _, pager = filled(30)
    assert pager.follow
    pager.scrolled(pager.row - 1)
    assert not pager.follow
    pager.scrolled(pager.end)
    assert pager.follow


def test_a_short_conversation_stands_at_the_top() -> None:
    made = document()
    made.add(UserEntry(key="u", text="hello"))
    pager = Pager(made)
    pager.height = 20
    assert pager.settle() == 0
    assert visible(made, pager) == ["", "  █ hello"]


def test_an_empty_window_is_no_trouble() -> None:
    made = document()
    pager = Pager(made)
    assert (pager.settle(), pager.scrolled(5), pager.unseen, pager.end) == (0, 0, 0, 0)


def test_an_empty_session_begins_at_its_top_and_its_first_prompt_at_the_end() -> None:
    made = document(36)
    made.add(ReportEntry(key="r", ready=20, items=()))
    made.add(WelcomeEntry(key="w", bundle="coding", examples=("many words " * 9,) * 3))
    pager = Pager(made)
    pager.height = 6
    assert pager.settle() == 0 and pager.end > 0
    pager.scrolled(pager.end)
    assert pager.settle() == pager.end, "who goes on reads on"
    pager.reset()
    assert pager.settle() == 0
    made.add(UserEntry(key="u", text="hello"))
    assert pager.settle() == pager.end and pager.follow
