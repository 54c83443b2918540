from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import TurnEnded
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.session_file import SessionFile
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.store.turns.outcomes import DISPLAY, read_outcomes
from amplifier_tui.host.store.turns.rewinds import REWINDS

Open = Callable[[], SessionStore]


@pytest.fixture
def reopen(tmp_path: Path) -> Open:
    def reopen() -> SessionStore:
        store = SessionStore(tmp_path / "s1", Redactor(), lambda error: None)
        store.open()
        return store

    return reopen


def fill(store: SessionStore, turns: int = 3) -> None:
    for turn in range(1, turns + 1):
        store.add_row({"role": "user", "content": f"prompt {turn}"})
        store.add_row({"role": "assistant", "content": f"answer {turn}"})
        store.note(TurnEnded(session_id="s1", turn=turn, status="success"))


def said(store: SessionStore) -> list[Any]:
    return [row["content"] for _, row in store.stored().read()]


def ended(store: SessionStore) -> list[int]:
    others = read_outcomes(store.folder / DISPLAY).others
    return [event.turn for _, event in others if isinstance(event, TurnEnded)]


WHOLE = ["prompt 1", "answer 1", "prompt 2", "answer 2", "prompt 3", "answer 3"]


def test_rows_and_what_is_known_of_them_go_and_come_back(reopen: Open) -> None:
    store = reopen()
    fill(store)
    store.go_back(2, 2, "", 2)
    assert (said(store), store.rows, ended(store)) == (WHOLE[:2], 2, [1])
    store.add_row({"role": "user", "content": "another 2"})
    assert said(store) == [*WHOLE[:2], "another 2"]
    store.go_back(2, 2, "", 1)
    taken = store.rewinds.last
    assert taken is not None
    store.go_forward(taken)
    assert said(store) == [*WHOLE[:2], "another 2"]
    assert len(read_outcomes(store.folder / DISPLAY).spent) == 3, "what was spent stays spent"
    store.close()


@pytest.mark.parametrize("undone", [False, True])
def test_a_crash_in_between_is_made_good(
    reopen: Open, undone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = reopen()
    fill(store)
    if undone:
        store.go_back(2, 2, "", 2)
    with monkeypatch.context() as patched:
        patched.setattr(SessionFile, "replace", lambda self, data: (_ for _ in ()).throw(Killed()))
        with pytest.raises(Killed):
            if undone:
                taken = store.rewinds.last
                assert taken is not None
                store.go_forward(taken)
            else:
                store.go_back(2, 2, "", 2)
    store.close()
    again = reopen()
    assert said(again) == (WHOLE if undone else WHOLE[:2])
    assert ended(again) == ([1, 2, 3] if undone else [1])
    assert (again.rewinds.last is None) is undone
    again.close()


class Killed(BaseException):
    """The process ended there."""


def test_a_disk_that_refuses_leaves_everything_as_it_was(
    reopen: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: SessionFile, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    store = reopen()
    fill(store)
    with monkeypatch.context() as patched:
        patched.setattr(SessionFile, "replace", full)
        with pytest.raises(OSError, match="No space"):
            store.go_back(2, 2, "", 2)
    assert (said(store), store.rows, ended(store)) == (WHOLE, 6, [1, 2, 3])
    assert store.rewinds.last is None
    store.close()
    again = reopen()
    assert said(again) == WHOLE
    again.close()


@pytest.mark.parametrize("noted", [True, False], ids=["noted", "not even noted"])
def test_what_a_disk_refuses_to_bring_back_can_be_brought_back_later(
    reopen: Open, monkeypatch: pytest.MonkeyPatch, noted: bool
) -> None:
    def full(*_: object, **__: object) -> None:
        if not noted:
            monkeypatch.setattr("amplifier_tui.host.store.turns.rewinds.write_atomic", refuse)
        refuse()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    store = reopen()
    fill(store)
    store.go_back(2, 2, "", 2)
    taken = store.rewinds.last
    assert taken is not None
    with monkeypatch.context() as patched:
        patched.setattr(SessionFile, "replace", full)
        with pytest.raises(OSError, match="No space"):
            store.go_forward(taken)
    monkeypatch.undo()
    assert (said(store), store.rows, ended(store)) == (WHOLE[:2], 2, [1])
    assert store.rewinds.last == taken
    if noted:
        store.close()
        store = reopen()
        assert said(store) == WHOLE[:2]
    taken = store.rewinds.last
    assert taken is not None
    store.go_forward(taken)
    assert (said(store), ended(store)) == (WHOLE, [1, 2, 3])
    store.close()


def test_a_session_that_went_back_to_its_beginning_is_kept(reopen: Open) -> None:
    store = reopen()
    fill(store)
    store.go_back(0, 1, "", 3)
    assert store.metadata.first_prompt == ""
    store.close()
    again = reopen()
    taken = again.rewinds.last
    assert taken is not None
    again.go_forward(taken)
    assert said(again) == WHOLE and again.metadata.first_prompt == "prompt 1"
    again.close()


@pytest.mark.parametrize(
    "line", ["null", "{}", '{"kind": "undo"}', '{"kind": "rewind", "rows": "x"}']
)
def test_a_line_that_makes_no_sense_takes_nothing_away(reopen: Open, line: str) -> None:
    store = reopen()
    fill(store)
    store.close()
    (store.folder / "rewinds.jsonl").write_text(f"{line}\n")
    again = reopen()
    assert said(again) == WHOLE
    again.close()


def test_a_line_of_the_record_that_cannot_be_read_stays_and_hinders_nothing(reopen: Open) -> None:
    store = reopen()
    fill(store)
    store.close()
    odd = (
        b'{"kind":"rewind","id":"1","rows":0,"lines":["precious"]}half\n'
        b'{"kind":"rewind","id":"2","rows":-3,"lines":["a"]}\n'
        b'{"kind":"rewind","id":"3","rows":0,"lines":["\\ud800"]}\n'
        b'{"kind":"undo","id":[]}\n'
    )
    record = store.folder / REWINDS
    record.write_bytes(odd)
    store = reopen()
    assert said(store) == WHOLE
    store.go_back(2, 2, "", 2)
    assert record.read_bytes().startswith(odd)
    taken = store.rewinds.last
    assert taken is not None and taken.id == "5"
    store.go_forward(taken)
    assert said(store) == WHOLE
