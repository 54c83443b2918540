import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_tui.base.files import AppendFile
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.event_log import EventLogFile
from amplifier_tui.host.store.session_file import SessionFile
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.store.sessions import SessionBusyError, card_of


def test_a_full_disk_keeps_the_lines_and_says_so_once(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.symlink_to("/dev/full")
    told: list[int | None] = []
    file = SessionFile(path, lambda _, error: told.append(error.errno if error else None))
    assert file.append(b"one\n") is None and file.append(b"two\n") is None
    assert told == [errno.ENOSPC] and file.unsaved == 2
    path.unlink()
    file._file.close()
    assert file.append(b"three\n") == 8
    assert path.read_bytes() == b"one\ntwo\nthree\n"
    assert told == [errno.ENOSPC, None]


def test_a_line_that_was_cut_by_a_full_disk_is_written_whole_later(tmp_path: Path) -> None:
    code = f"""
import resource, signal
from pathlib import Path
from amplifier_tui.host.store.session_file import SessionFile
file = SessionFile(Path({str(tmp_path / "f")!r}))
assert file.append(b"a" * 50 + b"\\n") == 0
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (80, hard))
assert file.append(b"b" * 50 + b"\\n") is None
assert file.path.read_bytes() == b"a" * 50 + b"\\n", "half a line was left"
assert file.append(b"c" * 50 + b"\\n") is None
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
assert file.append(b"d\\n") == 153
"""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] in (-1, resource.RLIM_INFINITY)
    subprocess.run([sys.executable, "-B", "-c", code], check=True)
    lines = (tmp_path / "f").read_bytes().split(b"\n")
    assert lines == [b"a" * 50, b"b" * 50, b"c" * 50, b"d", b""]


def test_after_the_end_nothing_is_written(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "f")
    file.append(b"one\n")
    file.close()
    assert file.append(b"two\n") is None
    assert (tmp_path / "f").read_bytes() == b"one\n"


def test_only_one_window_has_a_session_open(tmp_path: Path) -> None:
    one, two = (SessionStore(tmp_path, Redactor({}), lambda _: None) for _ in range(2))
    one.open()
    with pytest.raises(SessionBusyError, match=str(os.getpid())):
        two.open()
    one.close()
    two.open()
    two.close()


def test_a_window_that_finds_a_session_open_touches_none_of_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    one, two = (SessionStore(folder, Redactor({}), lambda _: None) for _ in range(2))
    one.open()
    one.partial.prompt("first")
    one.partial.rest()
    with pytest.raises(SessionBusyError):
        two.open()
    two.discard()
    one.partial.prompt("second")
    found = (folder / "partial.jsonl").read_text()
    one.close()
    assert "second" in found


def test_a_session_is_called_by_the_first_prompt_that_was_not_taken_back(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "new", Redactor({}), lambda _: None)
    store.open()
    for text in ("one", "two"):
        store.prompt_begins(text)
        store.save_metadata()
        assert card_of(store.folder, 0.0).first_prompt == text
        store.partial.rest()
    store.add_row({"role": "user", "content": "two"})
    store.close()
    assert card_of(store.folder, 0.0).first_prompt == "two"


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


def test_a_disk_with_little_room_takes_the_first_of_what_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = 0
    write = AppendFile.append

    def full(file: AppendFile, lines: bytes) -> int:
        nonlocal room
        if room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        room -= 1
        return write(file, lines)

    monkeypatch.setattr(AppendFile, "append", full)
    file = SessionFile(tmp_path / "f")
    for line in (b"one\n", b"two\n", b"three\n"):
        file.append(line)
    assert file.unsaved == 3 and file.trouble is not None
    room = 1
    file.flush()
    assert file.path.read_bytes() == b"one\n" and file.unsaved == 2 and file.trouble is not None
    room = 1
    file.close()
    assert file.path.read_bytes() == b"one\ntwo\n" and file.unsaved == 1
