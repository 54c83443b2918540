import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.modules._shared.text_file import TextFile, decode, save
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules.tool_filesystem.editing import replace_passage
from tests.modules.tool_filesystem.support import Files, kind


async def test_a_passage_is_replaced(files: Files):
    file = files.put("a.py", "def f():\n    return 1\n")
    file.chmod(0o755)
    result = await files.edit("a.py", "    return 1", "    return 2")
    assert result.output == "Edited a.py: line 2 (+1 −1 lines)."
    assert file.read_text() == "def f():\n    return 2\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o755


async def test_a_passage_that_occurs_more_than_once_is_not_guessed(files: Files):
    file = files.put("a", "x = 1\ny = 2\nx = 1\n")
    result = await files.edit("a", "x = 1", "x = 3")
    assert kind(result) == "many_matches"
    assert "2 times (lines 1, 3)" in result.output and "replace_all" in result.output
    assert file.read_text() == "x = 1\ny = 2\nx = 1\n"


async def test_every_occurrence_is_replaced_when_asked_for(files: Files):
    file = files.put("a", "x x x")
    result = await files.edit("a", "x", "yy", replace_all=True)
    assert "3 places" in result.output
    assert file.read_text() == "yy yy yy"


async def test_a_passage_that_differs_in_white_space_is_pointed_at(files: Files):
    files.put("a", "one\n\tif x:\n\t\tpass\n")
    result = await files.edit("a", "    if x:\n        pass", "…")
    assert kind(result) == "no_match"
    assert "line 2 differs in its white space" in result.output


async def test_line_numbers_in_the_passage_are_recognised(files: Files):
    files.put("a", "one\n")
    result = await files.edit("a", "     1\tone", "uno")
    assert "without the line numbers" in result.output


async def test_a_passage_that_is_not_there_says_what_to_do(files: Files):
    files.put("a", "one\n")
    result = await files.edit("a", "two", "three")
    assert "Read the file again" in result.output


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("x", "x"), (None, "x"), ("x", 3)])
async def test_an_edit_that_changes_nothing_is_refused(files: Files, old: object, new: object):
    files.put("a", "x")
    assert kind(await files.edit("a", old, new)) == "invalid_arguments"


async def test_a_missing_file_is_said_to_be_missing(files: Files):
    assert kind(await files.edit("nope", "a", "b")) == "not_found"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a\r\nb\r\nc\r\n", b"a\r\nX\r\nY\r\nc\r\n"),
        (b"\xef\xbb\xbfa\nb\nc\n", b"\xef\xbb\xbfa\nX\nY\nc\n"),
        (b"\xff\xfea\x00\n\x00b\x00\n\x00c\x00", b"\xff\xfea\x00\n\x00X\x00\n\x00Y\x00\n\x00c\x00"),
        (b"\xe9 a\nb\nc \xff", b"\xe9 a\nX\nY\nc \xff"),
        (b"a\r\nb\nc\r\n", b"a\r\nX\r\nY\nc\r\n"),
        (b"a\nb\nc", b"a\nX\nY\nc"),
    ],
)
async def test_encoding_and_line_ends_survive_an_edit(
    files: Files, content: bytes, expected: bytes
):
    file = files.put("a", content)
    assert (await files.edit("a", "b", "X\nY")).success
    assert file.read_bytes() == expected


async def test_a_binary_file_is_not_edited(files: Files):
    files.put("a", b"\x00abc")
    assert kind(await files.edit("a", "abc", "x")) == "binary"


async def test_a_file_that_lies_about_its_encoding_is_left_alone(files: Files):
    file = files.put("a", b"\xff\xfea\x00\x00\xd8")
    assert kind(await files.edit("a", "a", "b")) == "encoding"
    assert file.read_bytes() == b"\xff\xfea\x00\x00\xd8"


async def test_a_file_that_is_too_large_is_left_alone(files: Files):
    path = files.root / "big"
    with path.open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert kind(await files.edit("big", "a", "b")) == "too_large"


lines = st.text(st.sampled_from("ab c\t{}$\\.*漢"), max_size=6)
texts = st.lists(lines, max_size=8).map("\n".join)


@given(texts, texts.filter(bool), texts)
def test_with_one_kind_of_line_end_an_edit_is_a_plain_replacement(text: str, old: str, new: str):
    for newline in ("\n", "\r\n"):
        file = TextFile(text.replace("\n", newline))
        try:
            outcome = replace_passage(file, old, new, everywhere=True)
        except ToolProblem as problem:
            assert old not in text or problem.kind == "invalid_arguments"
            continue
        if newline == file.newline or "\n" not in new or "\r\n" in file.text:
            assert outcome.text.replace("\r\n", "\n") == text.replace(old, new)
        assert outcome.count == text.count(old)


@given(st.text(st.sampled_from("ab\r\n "), max_size=30), st.sampled_from(["a", "b ", "a\nb", "\n"]))
def test_what_is_outside_of_the_passage_stays_as_it_is(text: str, old: str):
    try:
        outcome = replace_passage(TextFile(text), old, "<new>", everywhere=False)
    except ToolProblem:
        return
    before, _, after = outcome.text.partition("<new>")
    assert text.startswith(before)
    assert text.endswith(after)
    removed = text[len(before) : len(text) - len(after)]
    assert removed.replace("\r\n", "\n") == old


@given(st.binary(max_size=200))
def test_any_content_that_is_loaded_is_written_back_as_it_was(data: bytes):
    try:
        file = decode(data)
    except ToolProblem:
        return
    assert file.to_bytes() == data


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(monkeypatch: pytest.MonkeyPatch):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "a")
        file.write_bytes(b"old")

        def broken(*_: object, **folders: int) -> None:
            raise OSError(28, "full")

        monkeypatch.setattr(os, "replace", broken)
        with pytest.raises(ToolProblem, match="no space"):
            save(file, b"new")
        assert os.listdir(folder) == ["a"]
        assert file.read_bytes() == b"old"
