"""The sessions of the window: what each is called, what it does, and the row they share."""

import pytest

from amplifier_tui.host import events
from amplifier_tui.ui.state.conversation.entries import EntryChange, TextEntry
from amplifier_tui.ui.state.conversation.unseen import UnseenChanges
from amplifier_tui.ui.state.open_sessions import (
    SessionLook,
    name_of,
    status_of,
    strip_row,
    title_of,
)
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.styled import pieces_width
from tests.ui.fake_client import opened
from tests.ui.requests import ask
from tests.ui.state.make import make, turn, turn_ended

FAILED = make(events.Failed, kind="turn", message="no", prompt="go")
HAPPENED: list[tuple[str, list[events.HostEvent]]] = [
    ("works", []),
    ("failed", [make(events.Failed, kind="open", message="no such bundle")]),
    ("idle", [opened()]),
    ("works", [opened(), turn(1, "go")]),
    ("waits", [opened(), turn(1, "go"), ask()]),
    ("failed", [opened(), turn(1, "go"), FAILED, turn_ended(status="error")]),
    ("works", [opened(), turn(1, "go"), FAILED, turn_ended(status="error"), turn(2, "go")]),
    ("done", [opened(), turn(1, "go"), turn_ended()]),
]


@pytest.mark.parametrize(("status", "happened"), HAPPENED)
def test_the_glyph_says_what_a_session_does(status: str, happened: list[events.HostEvent]) -> None:
    state = SessionState()
    state.apply(happened)
    assert status_of(state, ended=status == "done") == status


def test_a_session_is_called_by_its_title_else_its_first_prompt_else_its_bundle() -> None:
    state = SessionState()
    assert name_of(state) == "new session"
    state.apply([opened()])
    assert name_of(state) == "coding"
    state.apply([turn(1, "fix the \x1b[31mparser\nplease, it is broken")])
    assert name_of(state) == "fix the parser please,…"
    state.apply([make(events.TitleChanged, title="Parser")])
    assert name_of(state) == "Parser"


def test_a_session_of_which_only_the_end_is_on_screen_is_called_by_its_first_prompt() -> None:
    state = SessionState()
    state.apply([turn(7, "and now?"), opened(earlier=90, first_prompt="fix the parser")])
    assert name_of(state) == "fix the parser"
    assert title_of(state, 5) == "fix…"


def row(width: int, *names: str) -> str:
    looks = [SessionLook(name, "idle", at == 0) for at, name in enumerate(names)]
    pieces, places = strip_row(looks, width)
    text = "".join(piece for piece, _ in pieces)
    assert pieces_width(pieces) <= width
    assert [text[place] for place in places] == [str(n + 1) for n in range(len(names))]
    return text.rstrip()


def test_short_names_leave_their_room_to_long_ones_and_none_is_cut_to_nothing() -> None:
    assert row(80, "api", "fix the parser") == "▸1 · api  2 · fix the parser"
    assert row(30, "api", "fix the parser of it") == "▸1 · api  2 · fix the parser…"
    assert row(80, *["名前の長い会話"] * 9).count("名") == 0
    assert row(54, *["docs"] * 9) == "▸" + "  ".join(f"{n} ·" for n in range(1, 10))


def test_what_nobody_saw_of_an_entry_is_drawn_once_with_all_its_text() -> None:
    unseen = UnseenChanges()
    first, second = TextEntry(key="a", text="1"), TextEntry(key="b", text="")
    unseen.add([EntryChange(op="add", entry=first), EntryChange(op="update", entry=second)])
    for number in range(1_000):
        second.text += str(number)
        unseen.add([EntryChange(op="stream", entry=second, text=str(number))])
    again = TextEntry(key="a", text="2")
    unseen.add([EntryChange(op="update", entry=again)])
    found = unseen.take()
    assert [(change.op, change.entry) for change in found] == [("add", again), ("update", second)]
    assert not unseen.take()
    unseen.add([EntryChange(op="remove", entry=again), EntryChange(op="add", entry=first)])
    unseen.add([EntryChange(op="update", entry=first)])
    assert [change.op for change in unseen.take()] == ["remove", "add"]
    unseen.add([EntryChange(op="update", entry=first), EntryChange(op="clear")])
    assert [change.op for change in unseen.take()] == ["clear"]
