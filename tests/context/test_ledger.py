import json
from pathlib import Path

import pytest

from amplifier_tui.context.ledger import Ledger
from tests.context.support import assistant, calling, long_session, result, system, user


def test_rows_are_kept_as_they_come_and_nobody_can_change_them() -> None:
    ledger = Ledger()
    row = {"role": "assistant", "content": [{"type": "text", "text": "fine"}]}
    ledger.append(row)
    row["content"][0]["text"] = "changed"
    ledger.messages()[0]["content"].clear()
    assert ledger.messages() == [
        {"role": "assistant", "content": [{"type": "text", "text": "fine"}]}
    ]


def test_two_equal_messages_are_two_messages() -> None:
    ledger = Ledger()
    for _ in range(2):
        ledger.append(user("yes"))
        ledger.append(assistant("ok"))
    assert len(ledger) == 4


def test_rows_know_their_place_their_turn_and_their_source() -> None:
    ledger = Ledger()
    ledger.replace([system(), user(), calling("a", tool="grep"), result("a", tool=None), user()])
    assert [entry.seq for entry in ledger.entries] == [0, 1, 2, 3, 4]
    assert [entry.turn for entry in ledger.entries] == [0, 1, 1, 1, 2]
    assert ledger.entries[3].source == "tool:grep"
    assert ledger.system_rows


@pytest.mark.parametrize("wrong", [{}, {"content": "x"}, {"role": ""}, "text", None])
def test_what_has_no_role_is_no_message(wrong: object) -> None:
    ledger = Ledger()
    ledger.append(user())
    with pytest.raises(ValueError, match="Message must have 'role' field"):
        ledger.append(wrong)
    with pytest.raises(ValueError, match="role"):
        ledger.replace([user(), wrong])
    assert len(ledger) == 1


def test_a_ledger_is_read_back_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    rows = [{**row, "timestamp": "2026-01-01T00:00:00+00:00"} for row in long_session(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ledger, report = Ledger.load(path)
    assert ledger.messages() == rows
    assert (report.skipped, report.torn) == ([], None)
    assert ledger.entries[2].calls == ("c0",)


def test_rows_without_a_role_are_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text('{"role": "user", "content": "x"}\n{"kind": "note"}\n')
    ledger, report = Ledger.load(path)
    assert (len(ledger), report.skipped) == (1, [1])


def test_a_file_that_is_not_there_has_no_rows(tmp_path: Path) -> None:
    ledger, _ = Ledger.load(tmp_path / "none.jsonl")
    assert len(ledger) == 0
