from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    LaneEntry,
    NoteEntry,
    TextEntry,
    ToolEntry,
    UserEntry,
)
from amplifier_tui.ui.transcript.entries.scene import Column
from amplifier_tui.ui.transcript.layout.document import Document
from tests.ui.transcript.conversation import ANSWER, DIFF
from tests.ui.transcript.documents import document, measure_all, texts_of


def entry(key: str, kind: int, size: int = 3) -> ConversationEntry:
    match kind % 4:
        case 0:
            return UserEntry(key=key, text=f"prompt {key} " * size)
        case 1:
            return TextEntry(key=key, text=f"answer {key}\n\n" + ANSWER * (size % 3))
        case 2:
            return ToolEntry(key=key, tool="bash", state="ok", diff=DIFF, expanded=bool(size % 2))
        case _:
            return NoteEntry(key=key, text=f"note {key}")


def check(made: Document) -> None:
    measure_all(made)
    lengths = [len(made.renderer.lines(piece)) for piece in made.pieces]
    assert [made.heights[index] for index in range(len(made.pieces))] == lengths
    assert made.total == (sum(lengths) + 1 if made.pieces else 0)
    assert [made.index(piece) for piece in made.pieces] == list(range(len(made.pieces)))
    assert [piece for item in made.items.values() for piece in item.pieces if piece.index < 0] == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "prepend", "remove", "refresh", "open", "measure", "fit"]),
        st.integers(0, 40),
    ),
    max_size=30,
)


@given(STEPS)
def test_heights_are_real_after_measuring_whatever_happened(steps: list[tuple[str, int]]) -> None:
    made = document(60)
    for number, (name, value) in enumerate(steps):
        items = list(made.items.values())
        item = items[value % len(items)] if items else None
        if name == "add":
            made.add(entry(f"a{number}", value, value))
        elif name == "prepend":
            made.prepend([entry(f"p{number}-{part}", value + part) for part in range(3)])
        elif name == "fit":
            made.fit(Column.fit(20 + value * 3))
        elif name == "measure" and made.pieces:
            made.measure(made.pieces[value % len(made.pieces)])
        elif item is not None and name == "remove":
            made.remove(item)
        elif item is not None and name == "refresh":
            made.refresh(item)
        elif item is not None and name == "open":
            item.opened = not item.expanded
            made.refresh(item)
    check(made)


def test_measuring_a_slice_at_a_time_ends_with_real_heights() -> None:
    made = document()
    for number in range(60):
        made.add(entry(str(number), number, number))
    slices = 0
    while made.measure_slice(0.0, 30):
        slices += 1
    assert slices > 10
    assert all(made.is_measured(piece) for piece in made.pieces)
    check(made)


def test_what_is_measured_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made = document()
    for number in range(300):
        made.add(entry(str(number), number, number))
    while made.measure_slice(1.0, 150):
        pass
    looked: list[int] = []
    look = made._measure_and_free
    monkeypatch.setattr(made, "_measure_and_free", lambda i: (looked.append(i), look(i)))
    made.add(entry("new", 1, 1))
    while made.measure_slice(1.0, len(made.pieces) - 1):
        pass
    assert len(looked) < 10
    looked.clear()
    made.redraw(made.items["7"])
    while made.measure_slice(1.0, len(made.pieces) - 1):
        pass
    assert all(made.is_measured(piece) for piece in made.pieces)
    check(made)


def test_rows_far_from_the_window_are_freed_and_their_heights_kept() -> None:
    made = document()
    for number in range(1000):
        made.add(UserEntry(key=str(number), text="x"))
    measure_all(made)
    held = [piece for piece in made.pieces if piece.lines is not None]
    assert len(held) <= 401
    assert made.heights.total == 2000


def test_earlier_entries_go_in_front_in_their_order() -> None:
    made = document()
    made.add(UserEntry(key="3", text="three"))
    made.prepend([UserEntry(key="1", text="one"), UserEntry(key="2", text="two")])
    assert [line.strip() for line in texts_of(made) if line] == ["█ one", "█ two", "█ three"]


def test_taking_an_entry_out_closes_the_gap_it_made() -> None:
    made = document()
    made.add(ToolEntry(key="1", tool="a", state="ok"))
    text = made.add(TextEntry(key="2", text="between"))
    made.add(ToolEntry(key="3", tool="b", state="ok"))
    made.remove(text)
    assert texts_of(made) == ["", "    ✓ a", "    ✓ b"]


def test_an_entry_added_twice_is_drawn_once() -> None:
    made = document()
    made.add(UserEntry(key="1", text="old"))
    made.add(UserEntry(key="1", text="new"))
    assert texts_of(made) == ["", "  █ new"]


def test_a_long_stored_text_is_cut_when_it_is_looked_at() -> None:
    made = document()
    item = made.add(TextEntry(key="1", text=ANSWER * 20))
    assert len(item.pieces) == 1
    made.measure(item.pieces[0])
    assert len(item.pieces) >= 2 and made.is_measured(item.pieces[0])
    measure_all(made)
    assert len(item.pieces) >= 5
    assert max(len(piece.source) for piece in item.pieces) < 5000


@pytest.mark.parametrize("around", [0, 1])
def test_a_long_stored_text_is_cut_a_piece_at_a_time_before_and_behind_what_is_shown(
    around: int,
) -> None:
    made = document()
    item = made.add(TextEntry(key="1", text="\n".join(f"- item {n}" for n in range(2_000))))
    made.add(UserEntry(key="2", text="next"))
    pieces = [len(item.pieces)]
    while made.measure_slice(0.0, around):
        pieces.append(len(item.pieces))
    steps = [after - before for before, after in pairwise(pieces)]
    assert max(steps) <= 2 and len(item.pieces) >= 5
    assert all(made.is_measured(piece) for piece in made.pieces)


def test_a_link_that_is_defined_at_the_end_of_a_long_text_is_known_at_its_beginning() -> None:
    made = document()
    text = "See [the list][a].\n\n" + "\n".join(f"- item {n}" for n in range(2_000))
    item = made.add(TextEntry(key="1", text=f"{text}\n\n[a]: https://example.org"))
    made.measure(item.pieces[0])
    links = {span.link for line in made.lines(item.pieces[0]) for span in line.spans}
    assert "https://example.org" in links


def test_agents_that_called_each_other_are_shown_and_folded() -> None:
    made = Document()
    first = made.add(LaneEntry(key="a", agent="b", lane="a"))
    made.add(LaneEntry(key="b", agent="a", lane="b"))
    said = made.add(TextEntry(key="text", agent="b", text="done"))
    first.opened = False
    made.fold(first)
    assert said.hidden
