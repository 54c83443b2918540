import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.store.event_log import EventLogFile
from amplifier_tui.host.store.files import AppendFile
from amplifier_tui.host.store.lock import SessionBusyError, SessionLock
from amplifier_tui.host.store.metadata import Metadata, read_metadata, write_metadata
from amplifier_tui.host.store.rows import StoredRows, decode_row, encode_row, mend


def test_a_line_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    path = tmp_path / "new" / "f.jsonl"
    file = AppendFile(path)
    assert file.append(b"one") and file.append(b"two")
    assert path.read_bytes() == b"one\ntwo\n"
    assert path.stat().st_mode & 0o077 == 0, "a conversation is private"


def test_half_a_line_of_before_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"half")
    AppendFile(path).append(b"whole")
    assert path.read_bytes() == b"half\nwhole\n"


def test_a_full_disk_keeps_the_lines_and_says_so_once(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.symlink_to("/dev/full")
    told: list[int | None] = []
    file = AppendFile(path, lambda _, error: told.append(error.errno if error else None))
    assert not file.append(b"one") and not file.append(b"two")
    assert told == [errno.ENOSPC] and file.unsaved == 2
    path.unlink()
    file._handle = None
    assert file.append(b"three")
    assert path.read_bytes() == b"one\ntwo\nthree\n"
    assert told == [errno.ENOSPC, None]


def test_a_line_that_was_cut_by_a_full_disk_is_written_whole_later(tmp_path: Path) -> None:
    code = f"""
import resource, signal
from pathlib import Path
from amplifier_tui.host.store.files import AppendFile
file = AppendFile(Path({str(tmp_path / "f")!r}))
assert file.append(b"a" * 50)
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (80, hard))
assert not file.append(b"b" * 50)
assert file.path.read_bytes() == b"a" * 50 + b"\\n", "half a line was left"
assert not file.append(b"c" * 50)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
assert file.append(b"d")
"""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] in (-1, resource.RLIM_INFINITY)
    subprocess.run([sys.executable, "-c", code], check=True)
    lines = (tmp_path / "f").read_bytes().split(b"\n")
    assert lines == [b"a" * 50, b"b" * 50, b"c" * 50, b"d", b""]


def test_after_the_end_nothing_is_written(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "f")
    file.append(b"one")
    file.close()
    assert not file.append(b"two")
    assert (tmp_path / "f").read_bytes() == b"one\n"


_ROWS = st.lists(
    st.dictionaries(st.text(max_size=5), st.text(max_size=9) | st.integers(), max_size=3)
)


@given(_ROWS)
def test_rows_come_back_as_they_were(rows: list[dict[str, object]]) -> None:
    for row in rows:
        line = encode_row(row)
        assert b"\n" not in line
        assert decode_row(line) == row


def test_half_a_character_is_stored_and_comes_back() -> None:
    row = {"role": "user", "content": "\ud83d half", "z": "\x00\u2028"}
    assert decode_row(encode_row(row)) == row


@given(rows=_ROWS, torn=st.binary(max_size=40).filter(lambda b: b.strip()))
def test_a_torn_end_never_costs_a_whole_row(
    rows: list[dict[str, object]], torn: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    path = folder / "f"
    whole = b"".join(encode_row(row) + b"\n" for row in rows)
    path.write_bytes(whole + torn)
    aside = mend(path)
    kept = [row for _, row in StoredRows(path).read()]
    if aside is not None:
        assert whole + torn == path.read_bytes() + aside.read_bytes()
    assert kept[: len(rows)] == rows
    assert mend(path) is None, "mending twice changes nothing"


def test_a_row_without_its_line_end_is_a_whole_row(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b'{"a": 1}\n{"b": 2}')
    assert mend(path) is None
    assert path.read_bytes() == b'{"a": 1}\n{"b": 2}\n'


def test_several_torn_lines_and_zeros_are_moved_aside_together(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b'{"a": 1}\n{"b"\n\0\0\0\0')
    aside = mend(path)
    assert aside is not None and aside.read_bytes() == b'{"b"\n\0\0\0\0'
    assert path.read_bytes() == b'{"a": 1}\n'


def test_a_file_that_is_all_torn_becomes_empty(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"garbage")
    assert mend(path) is not None and path.read_bytes() == b""
    assert mend(tmp_path / "none") is None


def test_a_broken_row_in_the_middle_is_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b'{"a": 1}\nbroken\n\n[1]\n{"b": 2}\n')
    stored = StoredRows(path)
    assert len(stored) == 4
    assert list(stored.read()) == [(0, {"a": 1}), (3, {"b": 2})]
    assert list(stored.read(1, 3)) == []


def test_only_one_writer_holds_a_session(tmp_path: Path) -> None:
    one, two = SessionLock(tmp_path), SessionLock(tmp_path)
    one.acquire()
    with pytest.raises(SessionBusyError, match=str(os.getpid())):
        two.acquire()
    one.release()
    two.acquire()
    two.release()
    two.release()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path;"
        "from amplifier_tui.host.store.lock import SessionLock;"
        "SessionLock(Path(sys.argv[1])).acquire(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    SessionLock(tmp_path).acquire()


def test_the_card_keeps_what_other_programs_wrote(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text(
        json.dumps({"name": "T", "turn_count": "many", "incognito": True, "session_id": "x"})
    )
    card = read_metadata(tmp_path)
    assert (card.session_id, card.name, card.turn_count) == (tmp_path.name, "T", 0)
    card.model = "m"
    write_metadata(tmp_path, card)
    written = json.loads((tmp_path / "metadata.json").read_text())
    assert written["incognito"] is True and written["model"] == "m"
    assert [p.name for p in tmp_path.iterdir()] == ["metadata.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "\0"])
def test_a_broken_card_is_an_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "metadata.json").write_text(text)
    assert read_metadata(tmp_path) == Metadata(session_id=tmp_path.name)


def test_rows_of_the_event_log_are_found_again(tmp_path: Path) -> None:
    log = EventLogFile(tmp_path / "events.jsonl")
    numbers = [log.append({"event": f"e{n}"}, json.dumps({"n": n})) for n in range(5)]
    assert numbers == [1, 2, 3, 4, 5]
    assert json.loads(log.payload(3)) == {"n": 2}
    with pytest.raises(KeyError):
        log.payload(6)


def test_the_event_log_counts_on_after_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    first = EventLogFile(path)
    for n in range(3):
        first.append({"event": "e"}, json.dumps({"n": n}))
    first.close()
    with path.open("a") as file:
        file.write('{"seq": 4, "half')
    again = EventLogFile(path)
    assert again.append({"event": "e"}, '{"n": "new"}') == 5
    assert json.loads(again.payload(5)) == {"n": "new"}
    assert json.loads(again.payload(2)) == {"n": 1}


def test_the_number_of_the_last_row_is_found_behind_a_long_one(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLogFile(path)
    log.append({"event": "short"}, "{}")
    log.append({"event": "long"}, json.dumps("x" * 300_000))
    log.close()
    assert EventLogFile(path).append({"event": "next"}, "{}") == 3
