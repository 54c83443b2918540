import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.jsonl import StoredRows, encode_row
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.partial_file import PartialFile, recovered_rows
from amplifier_tui.host.store.session_store import SessionStore


class Crash:
    """Rows and notes up to a crash, and what is found afterwards."""

    def __init__(self, folder: Path) -> None:
        self.transcript = folder / "transcript.jsonl"
        self.path = folder / "partial.jsonl"
        self.partial = PartialFile(self.path)
        self.count = 0

    def row(self, **row: Any) -> None:
        with self.transcript.open("ab") as file:
            file.write(encode_row(row))
        self.count += 1
        self.partial.row_added(self.count, row)

    def recovered(self) -> list[tuple[str, str]]:
        rows = recovered_rows(self.path, StoredRows(self.transcript))
        assert all(row["metadata"]["interrupted"] for row in rows)
        return [(row["role"], _text(row["content"])) for row in rows]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n\n".join(b["text"] for b in content)


@pytest.fixture
def crash(tmp_path: Path) -> Crash:
    return Crash(tmp_path)


def test_a_prompt_that_was_shown_comes_back(crash: Crash) -> None:
    crash.partial.prompt("hello")
    assert crash.recovered() == [("user", "hello")]


@pytest.mark.parametrize("count", ["x", -3, 1e999, None, []])
def test_a_prompt_comes_back_whatever_stands_where_the_rows_are_counted(
    crash: Crash, count: Any
) -> None:
    crash.path.write_bytes(encode_row({"k": "prompt", "text": "hello", "row": count}))
    assert crash.recovered() == [("user", "hello")]


def test_a_prompt_whose_row_came_does_not_come_twice(crash: Crash) -> None:
    crash.partial.prompt("hello")
    crash.row(role="user", content="with files: hello", metadata={"prompt": "hello"})
    assert crash.recovered() == []
    assert crash.path.read_bytes() == b"", "there is nothing left to remember"


def test_the_same_prompt_twice_comes_back_once_for_the_second(crash: Crash) -> None:
    crash.row(role="user", content="yes")
    crash.row(role="assistant", content="ok")
    crash.partial.prompt("yes")
    assert crash.recovered() == [("user", "yes")]


def test_words_that_streamed_come_back_as_an_answer(crash: Crash) -> None:
    crash.partial.prompt("hi")
    crash.row(role="user", content="hi")
    crash.partial.delta("b1", "Hel")
    crash.partial.delta("b1", "lo")
    crash.partial.delta("b2", "World")
    assert crash.recovered() == [("assistant", "Hello\n\nWorld")]


def test_the_whole_of_a_block_replaces_its_pieces(crash: Crash) -> None:
    crash.partial.delta("b1", "Hel")
    crash.partial.whole("b1", "Hello there")
    assert crash.recovered() == [("assistant", "Hello there")]


def test_what_was_taken_back_stays_away(crash: Crash) -> None:
    crash.partial.delta("b1", "void")
    crash.partial.delta("b2", "kept")
    crash.partial.void("b1")
    assert crash.recovered() == [("assistant", "kept")]


def test_results_that_were_shown_come_back_beside_those_with_rows(crash: Crash) -> None:
    crash.row(role="assistant", content="", tool_calls=[{"id": "c1"}, {"id": "c2"}])
    crash.partial.result("c1", "echo", "one", True)
    crash.partial.result("c2", "echo", "two", False)
    crash.row(role="tool", tool_call_id="c1", content="one")
    rows = recovered_rows(crash.path, StoredRows(crash.transcript))
    assert [(r["tool_call_id"], r["content"]) for r in rows] == [("c2", "two")]
    assert rows[0]["metadata"]["is_error"] is True


def test_a_torn_note_costs_only_itself(crash: Crash) -> None:
    crash.partial.delta("b1", "Hello")
    with crash.path.open("a") as file:
        file.write('{"k": "delta", "id": "b1", "text": " wor')
    assert crash.recovered() == [("assistant", "Hello")]


def test_the_file_is_empty_once_every_row_is_there(crash: Crash) -> None:
    crash.partial.prompt("hi")
    crash.partial.delta("b1", "x")
    crash.row(role="user", content="hi")
    assert crash.path.read_bytes() != b""
    crash.row(role="assistant", content="x")
    assert crash.path.read_bytes() == b""


def test_the_end_of_a_turn_settles_everything(crash: Crash) -> None:
    crash.partial.prompt("refused by a hook")
    crash.partial.rest()
    assert crash.recovered() == []


def test_an_empty_journal_leaves_no_file_behind(crash: Crash) -> None:
    crash.partial.prompt("x")
    crash.partial.rest()
    crash.partial.close()
    assert not crash.path.exists()


_STEPS = st.lists(
    st.sampled_from(["prompt", "delta", "user", "assistant", "tool", "result", "void", "rest"])
)


@given(steps=_STEPS)
def test_recovering_twice_adds_nothing(
    steps: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("s")
    crash = Crash(folder)
    for number, step in enumerate(steps):
        match step:
            case "prompt":
                crash.partial.prompt("p")
            case "delta":
                crash.partial.delta(f"b{number % 3}", "x")
            case "void":
                crash.partial.void(f"b{number % 3}")
            case "result":
                crash.partial.result("c", "t", "out", True)
            case "rest":
                crash.partial.rest()
            case "tool":
                crash.row(role="tool", tool_call_id="c", content="out")
            case _:
                crash.row(role=step, content="p")
    before = crash.transcript.read_bytes() if crash.transcript.exists() else b""
    for _ in range(2):
        store = SessionStore(folder, Redactor({}), lambda _: None)
        store.open()
        count = store.rows
        store.close()
    assert not crash.path.exists()
    if before:
        assert crash.transcript.read_bytes().startswith(before)
        assert len(crash.transcript.read_bytes().splitlines()) == count
        for line in crash.transcript.read_bytes().splitlines():
            json.loads(line)
