import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest

from amplifier_tui.base.files.locking import FileLock
from amplifier_tui.base.jsonl import encode_row
from amplifier_tui.host.store.bin import delete_session, restore
from amplifier_tui.host.store.listing.changes import set_tags, set_title
from amplifier_tui.host.store.listing.details import details_of
from amplifier_tui.host.store.listing.filters import condition
from amplifier_tui.host.store.listing.listing import indexed_agents, list_now, list_sessions
from amplifier_tui.host.store.listing.pins import pin, pinned
from amplifier_tui.host.store.listing.scan import Scan, scan
from amplifier_tui.host.store.metadata import read_metadata
from amplifier_tui.host.store.search.database import index_path
from amplifier_tui.host.store.search.finding import search_now
from amplifier_tui.host.store.search.indexing import update_index
from amplifier_tui.host.store.sessions import (
    LOCK_NAME,
    SessionNotFoundError,
    find_session,
    hold,
    key_of,
    stored_at,
)
from amplifier_tui.host.stored_cards import SessionList
from amplifier_tui.paths import sessions_dir

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10 + "AA"
CHILD = "0123456789abcdef-fedcba9876543210_researcher"
GRANDCHILD = "fedcba9876543210-1111111111111111_reader"


def store(
    cwd: Path, session_id: str, age: float = 0, *rows: dict[str, object], **card: object
) -> Path:
    folder = sessions_dir(cwd) / session_id
    folder.mkdir(parents=True, exist_ok=True)
    said = rows or ({"role": "user", "content": f"Prompt of {session_id}"},)
    (folder / "transcript.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said))
    at = 1_700_000_000 - age
    os.utime(folder / "transcript.jsonl", (at, at))
    known = {"session_id": session_id, "project_dir": str(cwd), **card}
    (folder / "metadata.json").write_text(json.dumps(known))
    return folder


def names(typed: str, cwd: Path, *, here: bool = True) -> list[str]:
    found = list_now(typed, cwd, here=here, most=100)
    assert found.problem == ""
    return [card.session_id for card in found.cards]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a folder with three sessions; there is one more in `other` beside it."""
    cwd = tmp_path / "app"
    store(cwd, "aaaa", 1, name="Fix the Größe", bundle="bundle:coding", model="m-one", cost="0.40")
    store(cwd, "bbbb", 2, tags=["bug", "Net work"], branch="fix/retry", cost="3")
    store(cwd, "cccc", 3, bundle="research", first_prompt="Why slow?", cost="no number")
    store(tmp_path / "other", "dddd", 0, name="Elsewhere", tags=["bug"])
    return cwd


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("", ["aaaa", "bbbb", "cccc"]),
        ("GRÖSSE", ["aaaa"]),
        ("fix größe", ["aaaa"]),
        ('"fix größe"', []),
        ("why", ["cccc"]),
        ("bundle:cod", ["aaaa"]),
        ("model:ONE fix", ["aaaa"]),
        ("tag:bug", ["bbbb"]),
        ('tag:"net wo"', ["bbbb"]),
        ("tag:ork", []),
        ("branch:retry", ["bbbb"]),
        ("folder:app", ["aaaa", "bbbb", "cccc"]),
        ("cost:0.4", ["aaaa", "bbbb"]),
        ("cost:>0.4", ["bbbb"]),
        ("cost:<=$1", ["aaaa"]),
        ("before:2023-11-01", []),
        ("before:2023-12-01 after:2023-11-01", ["aaaa", "bbbb", "cccc"]),
        ("after:1d", []),
        ("before:1d tag:bug", ["bbbb"]),
        ("bbb", ["bbbb"]),
    ],
)
def test_sessions_are_found_by_words_and_by_filters(
    home: Path, typed: str, found: list[str]
) -> None:
    assert names(typed, home) == found


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("before:soon", "before: takes a date"),
        ("after:", "after: takes a date"),
        ("before:2026-02-31", "before: takes a date"),
        ("before:0001-01-01", "before: takes a date"),
        ("after:9999y", "after: takes a date"),
        ("cost:cheap", "cost: takes an amount"),
        ("bundel:x", "bundel: is no filter; bundle: is"),
        ("tag:", "tag: takes a tag"),
        ("model:", "model: takes a part"),
    ],
)
def test_a_filter_that_makes_no_sense_is_said_and_left_out(typed: str, said: str) -> None:
    found = condition(f"{typed} word", NOW)
    assert said in found.problem and found.values == ("word",)


def test_whatever_is_typed_is_no_error(home: Path) -> None:
    for typed in (
        '"',
        ":",
        "::",
        "a:b",
        "http://x/y",
        "x' OR 1=1 --",
        "%",
        "\ud800",
        "\0",
        "é" * 9,
    ):
        assert list_now(typed, home, here=True, most=5).matching in (0, 1, 2, 3)
    assert list_now("age:x " * 1_000, home, here=True, most=5).matching >= 0


def test_what_is_hidden_is_counted_and_pinned_sessions_come_first(home: Path) -> None:
    store(home, CHILD, parent_id="aaaa")
    (sessions_dir(home) / "empty").mkdir()
    (sessions_dir(home) / "odd" / "transcript.jsonl").mkdir(parents=True)
    pin("cccc", on=True)
    found = list_now("", home, here=True, most=2)
    assert [card.session_id for card in found.cards] == ["cccc", "aaaa"]
    assert found.cards[0].pinned and found.cards[1].agent_count == 1
    assert (found.matching, found.elsewhere, found.agents, found.broken) == (3, 1, 1, 1)
    assert names("", home, here=False) == ["cccc", "dddd", "aaaa", "bbbb"]
    assert names("tag:bug", home, here=False) == ["dddd", "bbbb"]
    found = list_now("tag:bug", home, here=True, most=9)
    assert (found.matching, found.filtered) == (1, 2)
    pin("cccc", on=False)
    assert names("", home) == ["aaaa", "bbbb", "cccc"]


def test_a_session_that_a_window_has_open_is_marked_until_it_lets_it_go(home: Path) -> None:
    def held() -> list[str]:
        found = list_now("", home, here=True, most=9)
        return [card.session_id for card in found.cards if card.held]

    lock = FileLock(sessions_dir(home) / "bbbb" / LOCK_NAME)
    hold(lock)
    assert held() == ["bbbb"]
    assert details_of(sessions_dir(home) / "bbbb").card.held
    assert {hit.card.held for hit in search_now("bbbb", home, 9).hits} == {True}
    lock.release()
    assert held() == []


def test_the_list_of_all_folders_is_the_same_by_the_index_and_by_what_is_on_disk(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, third = home.parent / "other", home.parent / "third"
    store(other, CHILD, parent_id="dddd")
    (sessions_dir(other) / "odd" / "transcript.jsonl").mkdir(parents=True)
    for number in range(4):
        store(third, f"t{number}", number + 4)
    pin("t3", on=True)
    update_index()
    looked: list[str] = []

    def watched(folders: Sequence[str], known: Mapping[str, float]) -> Scan:
        looked.extend(folders)
        return scan(folders, known)

    monkeypatch.setattr("amplifier_tui.host.store.listing.listing.scan", watched)

    def both() -> tuple[list[str], SessionList]:
        looked.clear()
        indexed = list_sessions("", home, here=False, most=6, look=False)
        into = [*looked]
        assert indexed == list_sessions("", home, here=False, most=6)
        assert list_sessions("tag:bug", home, here=False).filtered == indexed.matching - 2
        return into, indexed

    into, found = both()
    assert into == [str(sessions_dir(home))], "of other folders the index is relied on"
    assert [card.session_id for card in found.cards] == ["t3", "dddd", "aaaa", "bbbb", "cccc", "t0"]
    assert (found.matching, found.agents, found.broken) == (8, 1, 1)
    # What came or went in another window is known before it is indexed.
    store(other, "eeee", -9)
    delete_session(sessions_dir(third) / "t1")
    assert len(list_sessions("", home, here=False, look=False).cards) == 8
    update_index()
    assert both()[0] == [str(sessions_dir(home))]


def test_the_list_without_a_filter_needs_no_index(home: Path) -> None:
    assert [card.session_id for card in list_sessions("", home).cards] == ["aaaa", "bbbb", "cccc"]
    found = list_sessions("fix", home)
    assert found.cards == () and "not been read" in found.problem
    update_index()
    index_path().write_bytes(b"rubbish" * 1_000)
    found = list_sessions("", home)
    assert len(found.cards) == 3 and "can't be read" in found.problem
    assert list_sessions("fix", home).cards == ()


def test_a_changed_card_is_found_by_what_it_says_now_and_a_deleted_one_no_more(home: Path) -> None:
    names("", home)
    folder = sessions_dir(home) / "bbbb"
    set_title(folder, "  Another\nname ", print)
    set_tags(folder, ["new", "new", " "], ["bug"], print)
    assert names("another", home) == ["bbbb"] and names("tag:bug", home) == []
    assert read_metadata(folder).tags == ["Net work", "new"]
    key = key_of(folder)
    delete_session(folder)
    # The index does not know it yet.
    assert list_sessions("another", home).cards == ()
    with pytest.raises(SessionNotFoundError):
        stored_at(key)
    assert restore(key) == folder and names("another", home) == ["bbbb"]


@pytest.mark.parametrize(
    "key", ["", "x", "/x", "x/", "../..", "a/../b", "a/b/c", "..\\x/y", "a/\0"]
)
def test_a_key_names_nothing_outside_of_the_store(key: str) -> None:
    with pytest.raises(SessionNotFoundError):
        stored_at(key)


def test_the_first_turn_counts_before_it_has_ended_and_a_command_is_no_turn(tmp_path: Path) -> None:
    store(tmp_path, "crashed")
    partial = store(tmp_path, "at-once", 1)
    (partial / "transcript.jsonl").write_text("")
    (partial / "partial.jsonl").write_text(json.dumps({"k": "prompt", "text": "Go on"}) + "\n")
    command = store(tmp_path, "command", 2)
    (command / "transcript.jsonl").write_text("")
    event = {"type": "ShellStarted", "command": "ls"}
    (command / "display.jsonl").write_text(json.dumps({"row": 0, "event": event}) + "\n")
    cards = list_now("", tmp_path, here=True, most=9).cards
    assert {card.session_id: (card.called, card.turns) for card in cards} == {
        "crashed": ("Prompt of crashed", 1),
        "at-once": ("Go on", 1),
        "command": ("!ls", 0),
    }


def test_of_a_session_that_is_not_there_it_is_said_which_may_be_meant(tmp_path: Path) -> None:
    here, other = tmp_path / "here", tmp_path / "other"
    for age, session in enumerate(("aaaa1111-1", "bbbb2222-2", "cccc3333-3", "dddd4444-4")):
        store(here, session, age)
    store(other, "eeee5555-5")

    def said(wanted: str) -> str:
        with pytest.raises(SessionNotFoundError) as caught:
            find_session(here, wanted)
        return str(caught.value).removeprefix(f"No session '{wanted}' was stored in {here}")

    assert said("zzz") == (
        "; the newest there: aaaa1111 'Prompt of aaaa1111-1', bbbb2222 'Prompt of bbbb2222-2',"
        " cccc3333 'Prompt of cccc3333-3'"
    )
    assert said("dddd4445") == "; the nearest there: dddd4444 'Prompt of dddd4444-4'"
    take = "/sessions copies it into this one; ctrl+t shows all folders there"
    assert said("eeee") == f", but in {other}, which is gone: {take}"
    other.mkdir()
    assert said("eeee") == f", but in {other}: start it there, or with --cwd"


def test_where_nothing_is_stored_a_session_that_is_not_there_is_all_that_is_said(
    tmp_path: Path,
) -> None:
    with pytest.raises(SessionNotFoundError, match=r"'zzz' was stored in \S+$"):
        find_session(tmp_path, "zzz")


def test_changes_of_two_windows_at_the_same_moment_are_all_kept(home: Path) -> None:
    folder = sessions_dir(home) / "aaaa"

    def tag(first: int) -> None:
        for number in range(first, first + 10):
            set_tags(folder, [f"t{number}"], [], print)
            pin(f"p{number}", on=True)

    windows = [Thread(target=tag, args=(first,)) for first in (0, 10)]
    for window in windows:
        window.start()
    for window in windows:
        window.join()
    assert len(read_metadata(folder).tags) == 20 and len(pinned()) == 20


def test_the_last_exchange_of_a_long_session_is_read_from_its_end(tmp_path: Path) -> None:
    big = {"role": "tool", "tool_call_id": "c", "content": "x" * 5_000_000}
    rows = (
        {"role": "user", "content": "first"},
        big,
        {"role": "user", "content": f"last {KEY}"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "by a hook", "metadata": {"source": "hook"}},
    )
    folder = store(tmp_path, "aaaa", 0, *rows)
    found = details_of(folder)
    assert found.prompt.startswith("last ") and KEY not in found.prompt and found.answer == "Done."
    folder = store(tmp_path, "bbbb", 0, *rows[:2])
    assert details_of(folder).prompt == ""
    (folder / "metadata.json").write_text(
        '{"name": 3, "tags": [1], "cost": "nan", "turn_count": "x"}'
    )
    assert details_of(folder).card.tags == ()


def test_the_words_of_sub_agents_and_results_lead_to_the_call_in_their_session(
    tmp_path: Path,
) -> None:
    store(tmp_path, GRANDCHILD, 0, {"role": "assistant", "content": "deepest"}, parent_id=CHILD)
    store(
        tmp_path,
        CHILD,
        0,
        {"role": "user", "content": "dig into marmots"},
        {"role": "tool", "tool_call_id": "x1", "content": "burrow"},
        parent_id="root-1",
    )
    note = f"[session_id {CHILD}, to ask researcher something more]"
    block = {"type": "tool_result", "tool_use_id": "c8", "content": "in a block"}
    store(
        tmp_path,
        "root-1",
        0,
        {"role": "user", "content": "Ask them"},
        {"role": "tool", "tool_call_id": "c7", "content": f"They sleep.\n{note}"},
        {"role": "user", "content": [block]},
        {
            "role": "tool",
            "tool_call_id": "c9",
            "content": "early " + "y" * 9_000 + " midst " + "y" * 9_000 + " late",
        },
    )
    places = {
        word: [
            (hit.card.session_id, hit.agent, hit.kind, hit.row, hit.call_id)
            for hit in search_now(word).hits
        ]
        for word in ("marmots", "burrow", "deepest", "sleep", "block", "early", "midst", "late")
    }
    assert places == {
        "marmots": [("root-1", "researcher", "prompt", 1, "c7")],
        "burrow": [("root-1", "researcher", "result", 1, "c7")],
        "deepest": [("root-1", "reader", "answer", 1, "c7")],
        "sleep": [("root-1", "", "result", 1, "c7")],
        "block": [("root-1", "", "result", 2, "c8")],
        "early": [("root-1", "", "result", 3, "c9")],
        "midst": [],
        "late": [("root-1", "", "result", 3, "c9")],
    }
    assert CHILD not in search_now("sleep").hits[0].text


def test_what_is_shown_in_a_list_is_indexed_without_secrets(tmp_path: Path) -> None:
    store(tmp_path, "aaaa", 0, name=f"Key {KEY}", tags=[KEY], first_prompt=f"use {KEY}")
    assert names("key", tmp_path) == ["aaaa"]
    assert KEY.encode() not in b"".join(path.read_bytes() for path in index_path().parent.iterdir())


def test_a_folder_whose_name_is_no_text_hides_no_session(home: Path, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff"))
    sessions_dir(odd).mkdir(parents=True)
    every = ["dddd", "aaaa", "bbbb", "cccc"]
    assert names("", home, here=False) == every
    assert update_index()
    store(odd, "eeee", -1)
    assert names("", home, here=False) == ["eeee", *every]
    assert names("", odd) == ["eeee"]
    assert list_sessions("", odd).elsewhere == len(every)
    assert indexed_agents(sessions_dir(odd) / "eeee") == []


def test_the_last_exchange_of_a_crashed_session_is_that_on_the_screen(tmp_path: Path) -> None:
    folder = store(tmp_path, "aaaa", 0, {"role": "user", "content": "first"})
    with (folder / "transcript.jsonl").open("ab") as file:
        file.write(b'{"role": "assi')
    notes = [
        {"k": "prompt", "text": "second", "row": 1},
        {"k": "delta", "id": "b", "text": "Half an ans", "row": 1},
    ]
    (folder / "partial.jsonl").write_bytes(b"".join(map(encode_row, notes)))
    found = details_of(folder)
    assert (found.prompt, found.answer) == ("second", "Half an ans")
    lock = FileLock(folder / "session.lock")
    lock.acquire()
    assert details_of(folder).prompt == "first", "somebody works in it: it comes as rows"
    lock.release()
