import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.jsonl import (
    StoredRows,
    append_rows,
    decode_row,
    encode_row,
    mend,
    read_object,
    read_rows,
    write_object,
    write_rows,
)

_ROWS = st.lists(
    st.dictionaries(
        st.text(max_size=5),
        st.text(max_size=9) | st.integers() | st.floats(allow_nan=False) | st.none(),
        max_size=3,
    )
)


@given(rows=_ROWS)
def test_rows_come_back_as_they_were(
    rows: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("rows") / "f.jsonl"
    append_rows(path, rows)
    assert path.read_bytes().count(b"\n") == len(rows)
    assert read_rows(path)[0] == rows
    write_rows(path, rows)
    assert read_rows(path)[0] == rows


def test_half_a_character_is_stored_and_comes_back() -> None:
    row = {"role": "user", "content": "\ud83d half", "z": "\x00\u2028"}
    assert decode_row(encode_row(row)) == row


@pytest.mark.parametrize("line", [b"", b"{", b"[1]", b"\xff", b"[" * 100_000])
def test_what_is_no_row_is_none(line: bytes) -> None:
    assert decode_row(line) is None


def test_rows_that_json_has_no_form_for_are_not_half_written(tmp_path: Path) -> None:
    path = tmp_path / "f"
    append_rows(path, [{"n": 1}])
    for write in (append_rows, write_rows):
        with pytest.raises(TypeError):
            write(path, [{"n": 2}, {"n": object()}])
    assert read_rows(path)[0] == [{"n": 1}]


def test_rows_are_for_their_owner_only(tmp_path: Path) -> None:
    append_rows(tmp_path / "appended", [{}])
    write_rows(tmp_path / "written", [{}])
    assert [path.stat().st_mode & 0o077 for path in tmp_path.iterdir()] == [0, 0]


@given(rows=_ROWS, torn=st.binary(max_size=40).filter(lambda b: b.strip()))
def test_a_torn_end_never_costs_a_whole_row(
    rows: list[dict[str, object]], torn: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("torn") / "f"
    whole = b"".join(map(encode_row, rows))
    path.write_bytes(whole + torn)
    aside = mend(path)
    kept = [row for _, row in StoredRows(path).read()]
    if aside is not None:
        assert whole + torn == path.read_bytes() + aside.read_bytes()
    assert kept[: len(rows)] == rows
    assert mend(path) is None, "mending twice changes nothing"


@pytest.mark.parametrize("size", [10, 300_000, 3_000_000])
def test_the_last_whole_row_is_found_however_long_the_lines_are(tmp_path: Path, size: int) -> None:
    path = tmp_path / "f"
    rows = [{"n": 1, "text": "x" * size}, {"n": 2, "text": '{"a": 1}' * (size // 8)}]
    append_rows(path, rows)
    with path.open("ab") as file:
        file.write(b'{"torn": "' + b"y" * size)
    found, report = read_rows(path)
    assert found == rows
    assert report.skipped == []
    assert report.torn is not None and report.torn.stat().st_size == size + 10
    append_rows(path, [{"n": 3}])
    assert read_rows(path)[0] == [*rows, {"n": 3}]


def test_the_rest_of_a_long_torn_line_is_not_taken_for_a_row(tmp_path: Path) -> None:
    path = tmp_path / "f"
    rest = b'{"a": "' + b"x" * (256 * 1024 - 9) + b'"}'
    path.write_bytes(b'{"a": 1}\nnoise' + rest)
    assert mend(path) is not None
    assert path.read_bytes() == b'{"a": 1}\n'


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
    assert aside.stat().st_mode & 0o077 == 0
    assert path.read_bytes() == b'{"a": 1}\n'


def test_a_file_that_is_all_torn_becomes_empty(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"garbage")
    assert mend(path) is not None and path.read_bytes() == b""
    assert mend(tmp_path / "none") is None


def test_looking_only_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b'{"a": 1}\n{"torn')
    assert read_rows(path, repair=False)[0] == [{"a": 1}]
    assert path.read_bytes() == b'{"a": 1}\n{"torn'
    assert list(tmp_path.iterdir()) == [path]


def test_a_broken_row_in_the_middle_is_left_out_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b'{"a": 1}\r\nbroken\n\n[1]\n \n{"b": 2}\n')
    stored = StoredRows(path)
    assert len(stored) == 4
    assert list(stored.read()) == [(0, {"a": 1}), (3, {"b": 2})]
    assert list(stored.read(1, 3)) == []
    rows, report = read_rows(path)
    assert (rows, report.skipped, report.torn) == ([{"a": 1}, {"b": 2}], [1, 2], None)
    assert "Row 1" in caplog.text


def test_an_object_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    assert read_object(path) == {}
    write_object(path, {"ä": ["\ud83d"]}, mode=0o600)
    assert read_object(path) == {"ä": ["\ud83d"]}
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "\0", "[" * 100_000])
def test_a_file_that_holds_no_object_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "f").write_text(text)
    with pytest.raises(ValueError):
        read_object(tmp_path / "f")


def test_objects_are_written_for_people(tmp_path: Path) -> None:
    write_object(tmp_path / "f", {"a": "ä"})
    text = (tmp_path / "f").read_text("utf-8")
    assert text == json.dumps({"a": "ä"}, ensure_ascii=False, indent=2) + "\n"


@pytest.mark.parametrize("end", ["", "\n", '\n{"torn', "\n\0\0\0"])
def test_rows_may_come_behind_those_of_a_file_in_place_of_its_torn_end(
    tmp_path: Path, end: str
) -> None:
    path = tmp_path / "rows"
    path.write_text('{"a": 1}' + end)
    stored = StoredRows(path, [{"b": 2}])
    assert dict(stored.read()) == {0: {"a": 1}, 1: {"b": 2}} and len(stored) == 2
    assert path.read_text() == '{"a": 1}' + end
    assert dict(StoredRows(tmp_path / "none", [{"b": 2}]).read()) == {0: {"b": 2}}
