"""What a change would do to a file, and what is wrong with it."""

import time
from pathlib import Path

import pytest

from amplifier_tui.host.gate.edits import TextReplacement, replacing
from amplifier_tui.host.gate.explain import read_call
from amplifier_tui.host.gate.seen import SeenFiles


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
