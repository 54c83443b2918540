import asyncio
import os
import stat

import pytest

from tests.modules.tool_filesystem.support import Files, kind


async def test_a_file_is_created_with_its_folders(files: Files):
    result = await files.write("new/deep/a.txt", "hello\n")
    assert result.output == "Created new/deep/a.txt: 6 bytes (+1 −0 lines)."
    assert (files.root / "new/deep/a.txt").read_text() == "hello\n"


async def test_a_file_is_replaced_and_keeps_its_mode(files: Files):
    file = files.put("run.sh", "old\n")
    file.chmod(0o750)
    assert (await files.write("run.sh", "new\n")).output.startswith("Replaced run.sh")
    assert file.read_text() == "new\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750


async def test_the_content_that_a_file_has_already_is_no_change(files: Files):
    files.put("a.txt", b"one\r\ntwo\r\n")
    for content in ("one\ntwo\n", "one\r\ntwo\r\n"):
        said = (await files.write("a.txt", content)).output
        assert said == "a.txt has this content already: nothing changed."
    assert (await files.write("a.txt", "one\n")).output.startswith("Replaced a.txt")
    files.put("b.bin", b"\0\1")
    assert (await files.write("b.bin", "")).output.startswith("Replaced b.bin")


async def test_a_new_file_gets_the_mode_the_umask_leaves(files: Files):
    await files.write("a", "x")
    (files.root / "b").write_text("x")
    assert (files.root / "a").stat().st_mode == (files.root / "b").stat().st_mode


async def test_nothing_is_left_beside_the_file(files: Files):
    await files.write("a", "x")
    await files.write("a", "y")
    assert os.listdir(files.root) == ["a"]


async def test_line_ends_and_byte_order_mark_of_the_file_stay(files: Files):
    file = files.put("a.bat", b"\xef\xbb\xbfone\r\ntwo\r\n")
    await files.write("a.bat", "uno\ndos\n")
    assert file.read_bytes() == b"\xef\xbb\xbfuno\r\ndos\r\n"


async def test_line_ends_the_model_writes_itself_are_taken_as_they_are(files: Files):
    file = files.put("a", b"one\r\n")
    await files.write("a", "1\r\n2\n")
    assert file.read_bytes() == b"1\r\n2\n"


async def test_a_binary_file_can_be_replaced(files: Files):
    file = files.put("a", b"\x00\x01")
    assert (await files.write("a", "text")).success
    assert file.read_bytes() == b"text"


@pytest.mark.parametrize("content", [None, 3, ["x"]])
async def test_content_must_be_text(files: Files, content: object):
    result = await files.write("a", content)
    assert kind(result) == "invalid_arguments"
    assert not (files.root / "a").exists()


async def test_text_that_cannot_be_encoded_is_explained(files: Files):
    file = files.put("a", "keep")
    assert kind(await files.write("a", "bad \ud800")) == "encoding"
    assert file.read_text() == "keep"


async def test_a_folder_is_not_overwritten(files: Files):
    (files.root / "sub").mkdir()
    assert kind(await files.write("sub", "x")) == "is_folder"
    assert kind(await files.write(".", "x")) == "is_folder"


async def test_a_file_in_the_place_of_a_folder_is_explained(files: Files):
    files.put("a", "x")
    result = await files.write("a/b", "y")
    assert kind(result) == "os_error"
    assert os.listdir(files.root) == ["a"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
async def test_a_write_protected_file_is_left_alone(files: Files):
    file = files.put("a", "x")
    file.chmod(0o444)
    assert "write-protected" in (await files.write("a", "y")).output
    assert file.read_text() == "x"


async def test_a_name_that_is_too_long_is_explained(files: Files):
    assert "too long" in (await files.write("n" * 300, "x")).output


async def test_writing_is_told_to_the_hooks_with_the_diff(files: Files):
    files.put("a", "one\ntwo\n")
    await files.write("a", "one\n2\n")
    ((event, data),) = files.events
    assert event == "artifact:write"
    assert (data["bytes"], data["created"]) == (6, False)
    assert (data["lines_added"], data["lines_removed"]) == (1, 1)
    assert "-two\n+2" in data["diff"]
    assert data["tool_name"] == "write_file"


async def test_parallel_changes_of_one_file_do_not_get_lost(files: Files):
    file = files.put("a", "".join(f"<{n}>\n" for n in range(30)))
    results = await asyncio.gather(*(files.edit("a", f"<{n}>", f"[{n}]") for n in range(30)))
    assert all(result.success for result in results)
    assert file.read_text() == "".join(f"[{n}]\n" for n in range(30))
