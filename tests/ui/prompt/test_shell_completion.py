import time
from pathlib import Path

import pytest

from amplifier_tui.ui.prompt.shell_completion import TypedWord, complete_word, typed_word


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("!gi", TypedWord("gi", 1, True)),
        ("!!gi", TypedWord("gi", 2, True)),
        ("!git sta", TypedWord("sta", 5, False)),
        ("!a | gr", TypedWord("gr", 5, True)),
        ("!a; b && c", TypedWord("c", 9, True)),
        ("!./run", TypedWord("./run", 1, False)),
        ("!cat my\\ no", TypedWord("my no", 5, False)),
        ("!cat 'my", TypedWord("my", 6, False)),
        ("!X=a", TypedWord("a", 3, False)),
        ("!", TypedWord("", 1, True)),
    ],
)
def test_the_word_before_the_cursor_is_found(line: str, word: TypedWord) -> None:
    assert typed_word(line, len(line), first=True) == word


def test_paths_are_completed_below_folders_and_odd_names_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("one two", "on$x", ".hidden", "on\x1b[2J"):
        (tmp_path / "a" / name).touch()
    assert complete_word(TypedWord("a/on", 0, False), tmp_path) == [
        ("a/on$x", "a/on\\$x "),
        ("a/one two", "a/one\\ two "),
    ]
    assert complete_word(TypedWord("a/.h", 0, False), tmp_path)[0][0] == "a/.hidden"
    assert complete_word(TypedWord("nowhere/x", 0, False), tmp_path) == []
    assert complete_word(TypedWord("~nobody-here/x", 0, False), tmp_path) == []


@pytest.mark.parametrize("end", ["=", "'"])
def test_the_word_of_a_very_long_line_is_found_at_once(end: str) -> None:
    line = "!" + "a" * 50_000 + end
    began = time.thread_time()
    assert typed_word(line, len(line), first=True).word == ""
    assert time.thread_time() - began < 1
