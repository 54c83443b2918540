import os
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.stream.diffs import SIZE_LIMIT, changes, snapshot, unified


def patched(before: str, diff: str) -> str:
    lines = [line for line in re.split(r"(?<=\n)", before) if line]
    out: list[str] = []
    at = 0
    body = diff.split("\n")
    for number, line in enumerate(body):
        hunk = re.match(r"@@ -(\d+)(?:,(\d+))? \+", line)
        if hunk:
            start = int(hunk[1]) - (0 if hunk[2] == "0" else 1)
            out += lines[at:start]
            at = start
        elif number > 1 and line[:1] in (" ", "-", "+"):
            text = line[1:] + ("" if body[number + 1].startswith("\\") else "\n")
            if line[0] != "+":
                assert lines[at] == text
                at += 1
            if line[0] != "-":
                out.append(text)
    return "".join(out + lines[at:])


_TEXT = st.lists(st.sampled_from(["a", "b", "c", "-- x", "++ y", "é\r", ""])).map("\n".join)


@given(_TEXT, _TEXT)
def test_a_diff_turns_the_one_text_into_the_other(before: str, after: str) -> None:
    diff = unified("f", before, after)
    assert (diff == "") == (before == after)
    if diff:
        assert patched(before, diff) == after


def test_a_huge_change_takes_no_time_and_is_cut() -> None:
    before = "\n".join(f"old {n}" for n in range(30_000))
    after = "\n".join(f"new {n}" for n in range(30_000))
    diff = unified("f", before, after)
    assert len(diff) < 70_000 and re.search(r"are not shown: \+\d+ −\d+\n$", diff)


def test_one_line_in_a_large_file_is_one_hunk() -> None:
    before = "\n".join(str(n) for n in range(50_000))
    diff = unified("f", before, before.replace("\n25000\n", "\nchanged\n"))
    assert diff.count("@@ -") == 1 and "\n-25000\n+changed\n" in diff


def test_a_file_before_and_after(tmp_path: Path) -> None:
    path = tmp_path / "f"
    nothing = snapshot(path)
    path.write_text("one\n")
    made = snapshot(path)
    assert changes("f", nothing, made).startswith("--- /dev/null\n+++ f\n")
    path.unlink()
    assert "+++ /dev/null" in changes("f", made, snapshot(path))
    assert changes("f", made, made) == ""


def test_what_cannot_be_compared_is_said_to_have_changed(tmp_path: Path) -> None:
    binary, large = tmp_path / "b", tmp_path / "l"
    binary.write_bytes(b"\0")
    large.write_bytes(b"x" * (SIZE_LIMIT + 1))
    before = snapshot(binary), snapshot(large)
    assert (before[0].note, before[1].note) == ("binary", "too large")
    assert changes("b", before[0], snapshot(binary)) == ""
    binary.write_bytes(b"\0\0")
    assert "binary: changed" in changes("b", before[0], snapshot(binary))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert snapshot(path).note == "not a file"
    assert snapshot(tmp_path).note == "not a file"
    assert not snapshot(Path("\0")).exists
