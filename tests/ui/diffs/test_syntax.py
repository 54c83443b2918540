"""Syntax colours of passages of files."""

import pytest

from amplifier_tui.ui.diffs.syntax import line_syntax


def kinds(text: str, language: str) -> list[set[str]]:
    lines = line_syntax(text.split("\n"), language, lambda name: name)
    return [{style for _, _, style in line if style.startswith("syn-")} for line in lines]


@pytest.mark.parametrize(
    ("text", "language", "first", "last"),
    [
        ('ends a text.\n"""\nfor a in b:', "python", {"syn-string"}, {"syn-keyword"}),
        ('if a:\n    x = """begins\na text', "python", {"syn-keyword"}, {"syn-string"}),
        ("a comment\n*/\nreturn 1;", "c", {"syn-comment"}, {"syn-keyword", "syn-number"}),
        ('a = "**/*.py"\nif a:\n    pass', "python", {"syn-string"}, {"syn-keyword"}),
    ],
)
def test_a_passage_may_begin_or_end_inside_a_text_or_a_comment(
    text: str, language: str, first: set[str], last: set[str]
) -> None:
    found = kinds(text, language)
    assert (found[0], found[-1]) == (first, last)
