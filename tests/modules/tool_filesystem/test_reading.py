import os
from pathlib import Path

import pytest

from tests.modules.tool_filesystem.support import Files, kind
from tests.pixels import plain

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels" * 20


async def test_text_comes_with_line_numbers(files: Files):
    files.put("a.py", "one\ntwo\n")
    assert (await files.read("a.py")).output == "     1\tone\n     2\ttwo"


async def test_line_numbers_can_be_left_out_by_the_call_and_by_the_config(tmp_path: Path):
    plain = await Files(tmp_path).mount(line_numbers=False)
    plain.put("a", "one\n")
    assert (await plain.read("a")).output == "one"
    assert (await plain.read("a", line_numbers=True)).output == "     1\tone"


async def test_a_part_is_read_by_offset_and_limit(files: Files):
    files.put("a", "".join(f"line {n}\n" for n in range(1, 101)))
    output = (await files.read("a", offset=10, limit=2)).output
    assert output == (
        "    10\tline 10\n    11\tline 11\n[Lines 10–11 of 100; continue with offset=12]"
    )
    assert (await files.read("a", offset=100)).output.endswith("[Lines 100–100 of 100]")


@pytest.mark.parametrize("given", ["7", 7.0, 7])
async def test_numbers_may_come_as_models_write_them(files: Files, given: object):
    files.put("a", "x\n" * 20)
    assert (await files.read("a", offset=given, limit=1)).output.startswith("     7\t")


@pytest.mark.parametrize("given", [0, -1, "many", 1.5, True, [1]])
async def test_numbers_that_make_no_sense_are_explained(files: Files, given: object):
    files.put("a", "x\n")
    result = await files.read("a", offset=given)
    assert kind(result) == "invalid_arguments"
    assert "`offset`" in result.output


async def test_an_offset_past_the_end_says_how_long_the_file_is(files: Files):
    files.put("a", "one\ntwo")
    result = await files.read("a", offset=5)
    assert "only 2 lines" in result.output


async def test_an_empty_file_is_said_to_be_empty(files: Files):
    files.put("a", "")
    result = await files.read("a")
    assert (result.success, result.output) == (True, "(The file is empty.)")


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"one\r\ntwo\r\n", "one\ntwo"),
        (b"\xef\xbb\xbfone\n", "one"),
        ("wörld 漢字 👍🏽\n".encode(), "wörld 漢字 👍🏽"),
        ("einß\n".encode("utf-16"), "einß"),
        (b"caf\xe9\n", "caf�"),
        (b"no newline at the end", "no newline at the end"),
        (b"a\x0bb\x0cc\xe2\x80\xa8d\n", "a\x0bb\x0cc\u2028d"),
    ],
)
async def test_many_kinds_of_text_can_be_read(files: Files, content: bytes, shown: str):
    files.put("a", content)
    assert (await files.read("a", line_numbers=False)).output == shown


async def test_a_binary_file_is_refused_in_words(files: Files):
    files.put("a.bin", b"\x00\x01\x02" * 100)
    result = await files.read("a.bin")
    assert kind(result) == "binary"
    assert "binary" in result.output


@pytest.mark.parametrize(
    ("data", "media_type"), [(PNG, "image/png"), (b"%PDF-1.7\n", "application/pdf")]
)
async def test_an_image_or_a_pdf_is_shown(files: Files, data: bytes, media_type: str):
    files.put("a", data)
    result = await files.read("a")
    assert result.success
    assert result.content[1].source["media_type"] == media_type
    assert media_type in result.output


async def test_an_image_can_be_refused_by_config_and_by_size(files: Files, tmp_path: Path):
    blind = await Files(files.root).mount(images=False)
    files.put("a.png", PNG)
    files.put("b.png", PNG + bytes(4_000_000))
    files.put("c.png", plain(9_000, 1))
    assert kind(await blind.read("a.png")) == "binary"
    assert kind(await files.read("b.png")) == "too_large"
    assert kind(await files.read("c.png")) == "too_large"


async def test_a_long_line_is_cut_and_says_how_much_is_missing(files: Files):
    files.put("a", "x" * 100_000 + "\nshort\n")
    first, second = (await files.read("a", line_numbers=False)).output.split("\n")
    assert len(first) < 2_100
    assert first.endswith("… (98000 more bytes in this line)")
    assert second == "short"


async def test_a_huge_file_is_read_in_pages(files: Files):
    path = files.root / "huge.log"
    with path.open("wb") as file:
        file.write(b"first\n" * 2_000)
        file.seek(3 * 1024**3)
        file.write(b"\nlast\n")
    output = (await files.read("huge.log", limit=3)).output
    assert output.startswith("     1\tfirst")
    assert output.endswith("[Lines 1–3 of many; continue with offset=4]")


async def test_a_page_holds_only_so_many_bytes(tmp_path: Path):
    files = await Files(tmp_path).mount(max_read_bytes=2048)
    files.put("a", "y" * 99 + "\n" + "y" * 99 + "\n" + "z" * 99 + "\n" * 1 + ("w" * 99 + "\n") * 97)
    output = (await files.read("a", line_numbers=False)).output
    assert output.endswith("[Lines 1–20 of 100; continue with offset=21]")


async def test_a_folder_is_listed_with_folders_first(files: Files):
    files.put("b.txt", "123")
    files.put("sub/x", "")
    (files.root / "link").symlink_to("b.txt")
    assert (await files.read(".")).output == "sub/\nb.txt  3 bytes\nlink (link)"


async def test_a_listing_survives_strange_names(files: Files):
    os.mkdir(os.fsencode(files.root) + b"/bad\xffname")
    files.put("two\nlines", "")
    output = (await files.read(".")).output
    assert "two?lines" in output
    assert output.encode()


async def test_an_empty_folder_is_said_to_be_empty(files: Files):
    assert (await files.read(".")).output == "(The folder is empty.)"


async def test_a_missing_file_comes_with_names_that_are_close(files: Files):
    files.put("settings.py", "")
    result = await files.read("setings.py")
    assert kind(result) == "not_found"
    assert result.output == "There is no file setings.py. Did you mean settings.py?"


async def test_a_pipe_does_not_hang(files: Files):
    os.mkfifo(files.root / "pipe")
    assert kind(await files.read("pipe")) == "not_a_file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_a_file_without_permission_is_explained(files: Files):
    files.put("a", "x").chmod(0)
    assert "permission denied" in (await files.read("a")).output


async def test_reading_is_told_to_the_hooks(files: Files):
    file = files.put("sub/a", "one\n")
    await files.read("sub/a", line_numbers=False)
    ((event, data),) = files.events
    assert event == "artifact:read"
    assert data["path"] == str(file)
    assert (data["relative_path"], data["bytes"], data["lines"]) == ("sub/a", 3, 1)


async def test_the_argument_may_be_called_path(files: Files):
    files.put("a", "x")
    assert (await files.call("read_file", path="a")).success
