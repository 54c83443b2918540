"""What a change would do to a file, and what is wrong with it."""

import time
from pathlib import Path

import pytest

from amplifier_tui.host.gate.edits import TextReplacement, overwriting, replacing
from amplifier_tui.host.gate.explain import read_call
from amplifier_tui.host.gate.seen import SeenFiles
from amplifier_tui.host.stream.diffs import changes, snapshot, snapshot_of
from amplifier_tui.modules._shared.changes import compare
from amplifier_tui.ui.dialogs.approval_words import diff_rows
from amplifier_tui.ui.transcript.entries.diff import read_diff


def problem(path: Path, old: str) -> str:
    return replacing("f", path, [TextReplacement(old, "new")], SeenFiles()).problem


@pytest.mark.parametrize(
    ("old", "line"),
    [("if  a:\n\tb\n", 2), ("\n    b", 3), ("first ", 1), ("last\t", 4)],
)
def test_a_text_that_differs_in_its_white_space_is_named_by_its_line(
    tmp_path: Path, old: str, line: int
) -> None:
    path = tmp_path / "f"
    path.write_text("first\nif a:\n  b\nlast\n")
    assert problem(path, old).endswith(f": line {line} differs in its white space")


def test_many_lines_that_are_all_alike_are_looked_through_at_once(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x\n" * 100_000)
    began = time.thread_time()
    assert problem(path, "x\n" * 50_000 + "y") == "the text to be replaced is not in f"
    assert time.thread_time() - began < 1


def test_a_call_that_is_nested_without_end_is_said_to_be_none() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        read_call('x({"a": ' + "[" * 100_000 + ")")


@pytest.mark.parametrize("numbered", [True, False])
async def test_the_dialog_the_tool_and_the_conversation_tell_the_same_of_far_apart_changes(
    tmp_path: Path, numbered: bool
) -> None:
    lines = [f"value_{n} = {n} * 1234567890" if numbered else "}" for n in range(3_000)]
    lines[4] = lines[2_990] = "TOKEN"
    before = "\n".join(lines) + "\n"
    path = tmp_path / "f"
    path.write_text(before)
    asked = replacing("f", path, [TextReplacement("TOKEN", "NEW", True)], SeenFiles()).diff
    after = before.replace("TOKEN", "NEW")
    made = changes("f", snapshot(path), snapshot_of(after.encode()))
    told = compare(before, after, "f")
    assert diff_rows(asked).changed == read_diff(made).changed == (told.added, told.removed)
    assert (told.added, told.removed) == (2, 2) and asked.count("\n@@ ") == 2


async def test_they_tell_the_same_of_a_change_whose_diff_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "f"
    before = "".join(f"value_{n} = {n} * 12345678901234567890\n" for n in range(3_000))
    after = "".join(
        f"{line}x\n" if n % 3 == 0 else f"{line}\n"
        for n, line in enumerate(before.split("\n")[:-1])
    )
    path.write_text(before)
    asked = overwriting("f", path, after, SeenFiles()).diff
    made = changes("f", snapshot(path), snapshot_of(after.encode()))
    told = compare(before, after, "f")
    assert "are not shown" in made
    assert diff_rows(asked).changed == read_diff(made).changed == (told.added, told.removed)
    assert str(told) == " (+1000 −1000 lines)"
