"""Syntax colours of passages of files."""

import pytest

from amplifier_tui.ui.dialogs.approval_words import diff_rows
from amplifier_tui.ui.diffs.syntax import diff_syntax, line_syntax


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


def test_colours_that_nobody_waits_for_any_more_are_not_looked_for() -> None:
    rows = diff_rows("--- a/x.py\n+++ b/x.py\n@@ -0,0 +1 @@\n+import os\n")
    assert diff_syntax(rows) and not diff_syntax(rows, wanted=lambda: False)
