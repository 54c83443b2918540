import asyncio
import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from amplifier_tui.base.files import FileLock
from amplifier_tui.host.messages import STEER_HOOK
from amplifier_tui.host.store.bin import delete_session, restore_session
from amplifier_tui.host.store.search import indexing
from amplifier_tui.host.store.search.background import SessionSearch
from amplifier_tui.host.store.search.database import index_path, reading
from amplifier_tui.host.store.search.finding import find, search_now
from amplifier_tui.host.stored_cards import SearchFound
from amplifier_tui.paths import sessions_dir
from tests.waiting import within

KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10 + "AA"


def say(cwd: Path, session_id: str, *rows: dict[str, object], **card: object) -> Path:
    folder = sessions_dir(cwd) / session_id
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "transcript.jsonl").open("a") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if card:
        (folder / "metadata.json").write_text(json.dumps({"session_id": session_id, **card}))
    return folder


def prompt(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def answer(text: str, *calls: tuple[str, str, object]) -> dict[str, object]:
    listed = [{"id": i, "name": name, "arguments": given} for i, name, given in calls]
    return {"role": "assistant", "content": text, "tool_calls": listed}


def ids(found: SearchFound) -> list[str]:
    return [hit.card.session_id for hit in found.hits]


def texts(typed: str, cwd: Path | None = None) -> list[str]:
    return [hit.text for hit in search_now(typed, cwd).hits]


def test_titles_prompts_answers_and_calls_are_found_and_tell_where_they_are(tmp_path: Path) -> None:
    say(
        tmp_path,
        "aaaa-1",
        prompt("Why is the parser slow?"),
        answer("It allocates."),
        {"role": "tool", "tool_call_id": "c0", "content": "haystack"},
        prompt("Mend it"),
        answer("", ("c1", "edit_file", {"path": "src/lexer.py"})),
        name="Quick fix",
        tags=["tuning"],
        project_dir=str(tmp_path),
    )
    places = {
        word: [(hit.kind, hit.row, hit.turn, hit.call_id) for hit in search_now(word).hits]
        for word in ("quick", "tuning", "parser slow", "alloc", "lexer", "haystack")
    }
    assert places == {
        "quick": [("title", -1, 0, "")],
        "tuning": [("title", -1, 0, "")],
        "parser slow": [("prompt", 0, 1, "")],
        "alloc": [("answer", 1, 1, "")],
        "lexer": [("call", 4, 2, "c1")],
        "haystack": [("result", 2, 1, "c0")],
    }
    hit = search_now("allocates").hits[0]
    assert hit.card.cwd == str(tmp_path) and hit.card.title == "Quick fix"
    assert [hit.text[start:stop] for start, stop in hit.marks] == ["allocates"]


def test_chinese_japanese_korean_and_thai_words_are_found_inside_of_sentences(
    tmp_path: Path,
) -> None:
    said = ["我们明天讨论会议记录", "昨日の決定を確認する", "회의에서 결정했다", "การประชุมวันนี้"]
    say(tmp_path, "aaaa-1", *map(prompt, said))
    for word, whole in zip(("会议", "決定", "결정", "ประชุม"), said, strict=True):
        found = search_now(word).hits
        assert [hit.text for hit in found] == [whole]
        assert [whole[start:stop] for start, stop in found[0].marks] == [word]
    assert texts("议会") == []


def test_words_must_all_be_there_and_quoted_ones_together(tmp_path: Path) -> None:
    say(tmp_path, "aaaa-1", prompt("red green blue"), prompt("green red"), prompt("red"))
    assert texts("green red") == ["green red", "red green blue"]
    assert texts('"red green"') == ["red green blue"]
    assert texts("gre") == ["green red", "red green blue"]
    assert texts("gre ") == []


@pytest.mark.parametrize(
    "typed", ["", "  ", '"', '""', "*", "a:b", "NEAR(a b)", "-x", "a OR", "^", "\x00a", "\ud800a"]
)
def test_whatever_is_typed_is_no_error(tmp_path: Path, typed: str) -> None:
    say(tmp_path, "aaaa-1", prompt("nothing of it"))
    assert search_now(typed).problem == ""


def test_of_a_long_text_the_place_is_shown_where_the_words_stand_together(tmp_path: Path) -> None:
    pasted = " ".join(f"pasted line {n} with content" for n in range(200))
    say(tmp_path, "s1", prompt(pasted))
    (shown,) = texts("pasted line 77")
    assert shown.startswith("…") and "pasted line 77 with" in shown[:40]
    (shown,) = texts("content pasted")
    assert "content pasted line 1" in shown[:50]


def test_only_what_was_added_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    reading = indexing.SessionReader.row

    def row(self: indexing.SessionReader, line: bytes, row: int, turn: int) -> object:
        read.append(row)
        return reading(self, line, row, turn)

    monkeypatch.setattr(indexing.SessionReader, "row", row)
    folder = say(tmp_path, "aaaa-1", prompt("first"))
    assert texts("first") == ["first"]
    with (folder / "transcript.jsonl").open("a") as file:
        file.write("\n" + json.dumps(prompt("second"))[:-5])
    assert texts("second") == []
    with (folder / "transcript.jsonl").open("a") as file:
        file.write(json.dumps(prompt("second"))[-5:] + "\n")
    hits = search_now("second").hits
    assert [(hit.row, hit.turn) for hit in hits] == [(1, 2)]
    assert read == [0, 1]


def test_what_was_taken_back_renamed_or_deleted_is_not_found_and_a_restored_session_is(
    tmp_path: Path,
) -> None:
    folder = say(tmp_path, "aaaa-1", prompt("keep"), prompt("mistake"), name="Old name")
    assert texts("mistake") == ["mistake"]
    other = folder / "new"
    other.write_text(json.dumps(prompt("keep")) + "\n" + json.dumps(prompt("better")) + "\n")
    other.rename(folder / "transcript.jsonl")
    say(tmp_path, "aaaa-1", name="New name")
    assert (texts("mistake"), texts("better"), texts("old")) == ([], ["better"], [])
    assert ids(search_now("new name")) == ["aaaa-1"]
    delete_session(folder)
    # At once, before anything is indexed again.
    assert find("better").hits == ()
    assert texts("better") == []
    with sqlite3.connect(index_path()) as connection:
        assert connection.execute("SELECT count(*) FROM said").fetchone() == (0,)
    restore_session(tmp_path, "aaaa-1")
    assert texts("better") == ["better"]


def test_secrets_are_not_in_the_index(tmp_path: Path) -> None:
    say(
        tmp_path,
        "aaaa-1",
        prompt(f"use {KEY} for it"),
        answer("", ("c1", "web", {"password": "hunter2hunter2", "url": "https://example.com"})),
        name=f"About {KEY}",
    )
    assert texts("example") and texts("for it")
    stored = b"".join(path.read_bytes() for path in index_path().parent.iterdir())
    assert KEY.encode() not in stored and b"hunter2" not in stored
    assert stat.S_IMODE(index_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(index_path().parent.stat().st_mode) == 0o700


def test_what_stands_at_the_end_of_a_long_output_is_found_and_no_half_of_a_secret(
    tmp_path: Path,
) -> None:
    rows = [f"line {n} of the log" for n in range(3_000)]
    # The cut goes through it, wherever in the output it is.
    secrets = [f"{KEY} {word}" for word in rows]
    long = "\n".join(["begin heron", *rows, "3 failed quagga"])
    say(
        tmp_path,
        "aaaa-1",
        {"role": "tool", "tool_call_id": "c0", "content": long},
        {"role": "tool", "tool_call_id": "c1", "content": "\n".join(secrets)},
    )
    assert texts("heron") and texts("failed quagga") and not texts('"1500 of the log"')
    stored = b"".join(path.read_bytes() for path in index_path().parent.iterdir())
    assert KEY[-20:].encode() not in stored and KEY[:20].encode() not in stored


def test_what_was_said_while_the_agent_worked_is_found_and_begins_no_turn(tmp_path: Path) -> None:
    hook = {"source": "hook", "hook_name": STEER_HOOK}
    say(
        tmp_path,
        "aaaa-1",
        prompt("Begin"),
        {"role": "user", "content": "use the redkite", "metadata": hook},
        answer("Yes."),
    )
    assert [(hit.kind, hit.row, hit.turn) for hit in search_now("redkite").hits] == [
        ("prompt", 1, 1)
    ]
    assert search_now("yes").hits[0].turn == 1


def test_what_the_users_own_commands_printed_is_found_in_the_prompt_it_went_along_with(
    tmp_path: Path,
) -> None:
    noted = {"prompt": "why?", "user_commands": ["k1"]}
    sent = "$ make\nERROR quagga\n\nwhy?"
    say(tmp_path, "aaaa-1", {"role": "user", "content": sent, "metadata": noted})
    assert [hit.kind for hit in search_now("quagga").hits] == ["prompt"]


@pytest.mark.parametrize("damage", ["rubbish", "version", "page"])
def test_a_broken_index_and_one_of_another_version_are_made_anew(
    tmp_path: Path, damage: str
) -> None:
    say(tmp_path, "aaaa-1", *(prompt(f"word {number} " + "text " * 200) for number in range(50)))
    assert texts('"word 7"')
    path = index_path()
    if damage == "rubbish":
        path.write_bytes(b"no database " * 1000)
    elif damage == "version":
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
    else:
        data = bytearray(path.read_bytes())
        data[4096:] = b"\xff" * (len(data) - 4096)
        path.write_bytes(data)
    found = search_now('"word 7"')
    assert len(found.hits) == 1 and found.problem == ""


def test_rows_that_are_none_and_rows_too_long_leave_the_others_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "_LONGEST_LINE", 4096)
    folder = say(tmp_path, "aaaa-1", prompt("one"))
    with (folder / "transcript.jsonl").open("a") as file:
        file.write("{torn\n[1]\n" + json.dumps({"role": "later", "blocks": 7}) + "\n")
    say(tmp_path, "aaaa-1", prompt("x" * 9000), prompt("two"))
    assert [(hit.row, hit.turn) for hit in search_now("two").hits] == [(5, 2)]


def test_a_session_with_many_hits_does_not_hide_the_others_and_a_folder_can_be_searched_alone(
    tmp_path: Path,
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    say(elsewhere, "aaaa-1", prompt("needle"))
    say(tmp_path, "bbbb-2", *[prompt("needle")] * 30)
    os.utime(sessions_dir(elsewhere) / "aaaa-1" / "transcript.jsonl", (1, 1))
    found = search_now("needle")
    assert found.more
    assert ids(found) == ["bbbb-2"] * 5 + ["aaaa-1"]
    assert ids(search_now("needle", elsewhere)) == ["aaaa-1"]
    assert search_now("needle", most=2).more


def test_texts_that_others_said_between_those_of_a_long_session_are_found(tmp_path: Path) -> None:
    said = [prompt("needle")] * 6
    for rows in (1, 2):
        say(tmp_path, "bbbb-2", *said * rows)
        assert search_now("needle").more
        say(tmp_path, f"cccc-{rows}", prompt("needle"))
    assert ids(search_now("needle")) == ["cccc-2", *["bbbb-2"] * 5, "cccc-1"]


def test_what_a_long_session_said_is_passed_over_without_a_look_at_each_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(tmp_path, "aaaa-1", prompt("needle"))
    search_now("needle")
    say(tmp_path, "bbbb-2", *[prompt("needle")] * 300)
    search_now("needle")
    asked: list[str] = []

    @contextmanager
    def watched(path: Path) -> Iterator[sqlite3.Connection | None]:
        with reading(path) as connection:
            assert connection is not None
            connection.set_trace_callback(asked.append)
            yield connection

    monkeypatch.setattr("amplifier_tui.host.store.search.finding.reading", watched)
    assert ids(find("needle")) == ["bbbb-2"] * 5 + ["aaaa-1"]
    assert len(asked) < 30


def test_while_another_window_indexes_the_rest_is_found_and_it_is_said(tmp_path: Path) -> None:
    say(tmp_path, "aaaa-1", prompt("early"))
    assert texts("early") == ["early"]
    say(tmp_path, "aaaa-1", prompt("late"))
    lock = FileLock(index_path().with_suffix(".lock"))
    lock.acquire()
    try:
        found = search_now("early")
        assert ids(found) == ["aaaa-1"] and "Another window is indexing" in found.problem
    finally:
        lock.release()
    assert texts("late") == ["late"]


def test_a_full_disk_is_said_and_leaves_the_index_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(tmp_path, "aaaa-1", prompt("early"))
    assert texts("early") == ["early"]
    say(tmp_path, "aaaa-1", *(prompt(f"late {number} " + "x " * 5000) for number in range(20)))
    opening = indexing.writing

    @contextmanager
    def small(path: Path) -> Iterator[sqlite3.Connection]:
        with opening(path) as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}")
            yield connection

    with monkeypatch.context() as patch:
        patch.setattr(indexing, "writing", small)
        found = search_now("early")
        assert ids(found) == ["aaaa-1"] and "full" in found.problem
        assert find("late").hits == ()
    assert len(search_now('"late 7"').hits) == 1


async def test_the_window_has_a_process_index_while_it_searches(tmp_path: Path) -> None:
    say(tmp_path, "aaaa-1", prompt("needle"))
    search = SessionSearch()
    try:
        async with within(20):
            while not (found := await search.search("needle", None)).hits or found.indexing:
                assert not found.problem
                await asyncio.sleep(0.02)
        assert (found.done, found.changed) == (1, 1)
        index_path().write_bytes(b"rubbish" * 1000)
        async with within(20):
            while not (found := await search.search("needle", None)).hits:
                await asyncio.sleep(0.02)
    finally:
        await search.close()


def test_the_indexing_process_runs_nothing_of_the_folder_it_starts_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('read')\n")
    (tmp_path / "amplifier_tui").mkdir()
    (tmp_path / "amplifier_tui" / "__init__.py").write_text("raise SystemExit('read')\n")
    monkeypatch.chdir(tmp_path)
    say(tmp_path, "aaaa-1", prompt("needle"))

    async def indexed() -> SearchFound:
        search = SessionSearch()
        async with within(20):
            while (found := await search.search("needle", None)).indexing or not found.changed:
                await asyncio.sleep(0.02)
        await search.close()
        return found

    found = asyncio.run(indexed())
    assert not found.problem and ids(find("needle")) == ["aaaa-1"]


def test_a_call_whose_arguments_are_nested_too_deeply_costs_no_other_text(tmp_path: Path) -> None:
    deep: object = "parser"
    for _ in range(700):
        deep = {"a": deep}
    say(tmp_path, "deep-1", prompt("First prompt"), answer("First answer", ("c1", "made", deep)))
    say(tmp_path, "next-1", prompt("Second prompt"))
    assert sorted(ids(search_now("prompt"))) == ["deep-1", "next-1"]
    assert [hit.call_id for hit in search_now("made").hits] == ["c1"]
