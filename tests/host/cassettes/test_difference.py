import pytest

from amplifier_tui.host.cassettes.difference import CassetteDifference, difference_of


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("old", "new", "“old” → “new”"),
        ("", {"a": 1}, 'nothing → “{"a": 1}”'),
        ("a\nb\nc", "a\nx\nc", "line 2: “b” → “x”"),
        ("a", "a\n\nmore", "line 3: nothing → “more”"),
        ("same\n" + "x" * 300 + "left", "same\n" + "x" * 300 + "right", "line 2: “…"),
        ("Git: branch a\n  M b\nold", "Git: branch a\nnew", "line 2: “old” → “new”"),
        ("at 10:11:12\nold", "at 00:00:00\nnew", "line 2: “old” → “new”"),
    ],
)
def test_two_texts_are_shown_where_they_part(before: str, after: str, words: str) -> None:
    said = str(difference_of("turn 1", "text", before, after))
    assert said.startswith(f"turn 1: text: {words}")
    assert len(said) < 400


@pytest.mark.parametrize(
    ("times", "words"), [(1, ""), (2, " (and once more)"), (4, " (and 3 more times)")]
)
def test_what_comes_again_is_counted(times: int, words: str) -> None:
    said = str(CassetteDifference("turn 1", "hooks", "a", "b", times))
    assert said == f"turn 1: hooks: a → b{words}"
