from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.stream.diffs import unified
from amplifier_tui.host.stream.whole_files import whole_files

OLD = "".join(f"line {n}\n" for n in range(1, 31))
NEW = OLD.replace("line 10\n", "line ten\n").replace("line 20\n", "")


def masked(text: str) -> str:
    return text.replace("s3cret", "•••")


def whole(diff: str, folder: Path, made: bool = False) -> list[str]:
    return whole_files(diff, folder, masked, made=made).splitlines()


@pytest.mark.parametrize("on_disk", [OLD, NEW], ids=["before", "after"])
def test_all_lines_of_the_file_stand_around_its_changes(tmp_path: Path, on_disk: str) -> None:
    (tmp_path / "a.txt").write_text(on_disk)
    lines = whole(unified("a.txt", OLD, NEW), tmp_path)
    assert lines[:4] == ["--- a.txt", "+++ a.txt", "@@ -1,30 +1,29 @@", " line 1"]
    body = lines[3:]
    assert [line[1:] for line in body if line[0] != "+"] == OLD.splitlines()
    assert [line[1:] for line in body if line[0] != "-"] == NEW.splitlines()


@given(*[st.lists(st.sampled_from("abc"), max_size=12)] * 2, st.booleans())
def test_whatever_changed_both_files_are_in_it(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str], after: bool
) -> None:
    folder = tmp_path_factory.mktemp("files")
    before, then = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    diff = unified("x", before, then)
    if diff:
        (folder / "x").write_text(then if after else before)
        body = whole(diff, folder, after)[3:]
        sides = [[line[1:] for line in body if line[0] != other] for other in "+-"]
        assert sides == [old, new]


def test_secrets_of_the_file_stay_masked(tmp_path: Path) -> None:
    before = "key = s3cret\nother\nmore\n\n\n\n\nx\n"
    (tmp_path / "a").write_text(before)
    lines = whole(masked(unified("a", before, before.replace("x", "y"))), tmp_path)
    assert " key = •••" in lines and "s3cret" not in "".join(lines)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a", "other\n", "a has changed since"),
        ("a", None, "it is not there"),
        ("../a", "line\n", "not part of the project"),
        ("/etc/hostname", None, "not part of the project"),
        (".env", "line\n", "not part of the project"),
    ],
)
def test_it_is_said_why_a_file_is_not_shown(
    tmp_path: Path, name: str, content: str | None, why: str
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    if content is not None:
        (folder / name).write_text(content)
    with pytest.raises(ValueError, match=why):
        whole(unified(name, "line\n", "changed\n"), folder)


@pytest.mark.parametrize("diff", ["", "hello", "--- a\n+++ a\n@@ -1,9 +1,9 @@\n x\n"])
def test_what_is_no_whole_diff_is_said_to_be_none(tmp_path: Path, diff: str) -> None:
    with pytest.raises(ValueError, match="This"):
        whole(diff, tmp_path)


def test_a_short_diff_can_not_repeat_a_long_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n" * 2_000)
    back_and_forth = "@@ -1,0 +1,0 @@\n@@ -2000,0 +2000,0 @@\n" * 50
    with pytest.raises(ValueError, match="not in the order"):
        whole(f"--- a\n+++ a\n{back_and_forth}", tmp_path)
