import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.files import write_atomic
from amplifier_tui.base.jsonl import append_rows, read_rows, write_rows
from amplifier_tui.context.ledger import fork

ROWS = [{"role": "user", "content": f"row {n}"} for n in range(4)]


def stored(path: Path, rows: list[dict] = ROWS, tail: bytes = b"") -> Path:
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows) + tail)
    return path


def test_a_torn_last_line_is_moved_aside_and_the_next_row_gets_its_own(tmp_path: Path) -> None:
    path = stored(tmp_path / "t.jsonl", tail=b'{"role": "assistant", "cont')
    rows, report = read_rows(path)
    assert rows == ROWS
    assert report.torn is not None
    assert report.torn.read_bytes() == b'{"role": "assistant", "cont'
    append_rows(path, [{"role": "user", "content": "next"}])
    assert read_rows(path)[0] == [*ROWS, {"role": "user", "content": "next"}]


def test_a_last_row_that_only_lacks_its_end_is_kept(tmp_path: Path) -> None:
    path = stored(tmp_path / "t.jsonl", ROWS[:1], json.dumps(ROWS[1]).encode())
    assert read_rows(path)[0] == ROWS[:2]
    append_rows(path, ROWS[2:])
    assert read_rows(path)[0] == ROWS


def test_a_spoiled_line_in_the_middle_is_left_out_with_its_number(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"role":"user"}\n\n\xff\xfe broken\n[1, 2]\n{"role":"tool"}\n')
    rows, report = read_rows(path)
    assert rows == [{"role": "user"}, {"role": "tool"}]
    assert report.skipped == [1, 2]
    assert "Row 1" in caplog.text


def test_looking_only_changes_nothing(tmp_path: Path) -> None:
    path = stored(tmp_path / "t.jsonl", tail=b'{"torn')
    before = path.read_bytes()
    assert read_rows(path, repair=False)[0] == ROWS
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_windows_line_ends_are_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"role": "user", "content": "a\\r\\nb"}\r\n{"role": "tool"}\r\n')
    assert read_rows(path)[0] == [{"role": "user", "content": "a\r\nb"}, {"role": "tool"}]


@given(st.lists(st.dictionaries(st.text(), st.text() | st.floats(allow_nan=False) | st.none())))
def test_any_row_comes_back_as_it_was(tmp_path_factory: object, rows: list[dict]) -> None:
    path = tmp_path_factory.mktemp("rows") / "t.jsonl"
    append_rows(path, rows)
    assert read_rows(path)[0] == rows


def test_lone_surrogates_do_not_stop_a_row(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append_rows(path, [{"role": "tool", "content": "half \ud83d of a pair"}])
    assert read_rows(path)[0][0]["content"] == "half \ud83d of a pair"


def test_a_fork_copies_rows_and_nothing_torn(tmp_path: Path) -> None:
    path = stored(tmp_path / "t.jsonl", tail=b"\n{torn")
    assert fork(path, 2, tmp_path / "new" / "t.jsonl") == 2
    assert read_rows(tmp_path / "new" / "t.jsonl")[0] == ROWS[:2]
    assert fork(path, 100, tmp_path / "all.jsonl") == 4
    assert path.read_bytes().endswith(b"{torn")


def test_a_fork_never_overwrites(tmp_path: Path) -> None:
    path = stored(tmp_path / "t.jsonl")
    with pytest.raises(FileExistsError, match="file of its own"):
        fork(path, 1, path)
    assert read_rows(path)[0] == ROWS


def test_rows_that_have_no_json_are_not_half_written(tmp_path: Path) -> None:
    path = stored(tmp_path / "t.jsonl")
    with pytest.raises(TypeError):
        append_rows(path, [{"role": "user"}, {"role": object()}])
    with pytest.raises(TypeError):
        write_rows(path, [{"role": object()}])
    assert read_rows(path)[0] == ROWS


def test_a_disk_that_gets_full_in_the_middle_of_a_row_leaves_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    append_rows(path, [{"n": 1}])
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from amplifier_tui.base.jsonl import append_rows\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))\n"
        "path = Path(sys.argv[1])\n"
        "try: append_rows(path, [{'text': 'x' * 500}])\n"
        "except OSError as error: print(path.stat().st_size)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))\n"
        "append_rows(path, [{'n': 2}])\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "9\n"
    assert path.read_text() == '{"n": 1}\n{"n": 2}\n'


def test_half_a_row_somebody_left_does_not_spoil_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"n": 1}\n{"n": 2, "te')
    append_rows(path, [{"n": 3}])
    rows, report = read_rows(path)
    assert rows == [{"n": 1}, {"n": 3}]
    assert report.skipped == [1]


def test_a_replacement_that_fails_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stored(tmp_path / "t.jsonl")

    def fail(source: object, target: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, b"new")
    assert read_rows(path)[0] == ROWS
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_said_is_for_its_owner_only(tmp_path: Path) -> None:
    append_rows(tmp_path / "new" / "t.jsonl", ROWS)
    assert (tmp_path / "new" / "t.jsonl").stat().st_mode & 0o077 == 0
    _, report = read_rows(stored(tmp_path / "torn.jsonl", tail=b'{"half'))
    assert report.torn is not None
    assert report.torn.stat().st_mode & 0o077 == 0
