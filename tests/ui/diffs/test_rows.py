import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.ui.dialogs.approval_words import diff_rows
from amplifier_tui.ui.diffs.lines import DiffLines
from amplifier_tui.ui.diffs.rows import DiffRows
from amplifier_tui.ui.transcript.entries.diff import counts, diff_lines, read_diff
from amplifier_tui.ui.transcript.entries.scene import Column, Scene
from amplifier_tui.ui.widgets.text_lines import LinePair, TextLine
from tests.ui import requests
from tests.ui.transcript.conversation import DIFF


def counted(rows: DiffRows) -> str:
    return "".join(span.text for span in counts(rows))


def texts(rows: DiffRows, width: int = 60) -> list[str]:
    return [line.text.rstrip() for line in diff_lines(rows, width, Scene(Column.fit(width)))]


def shown(rows: DiffRows, split: bool = False) -> list[str]:
    """Return the lines as they are read, both sides of a pair."""
    return [
        "|".join("" if part is None else f"{part.lead}{part.text}" for part in _parts(line))
        for line in DiffLines(rows, split=split)
    ]


def _parts(line: TextLine | LinePair) -> tuple[TextLine | None, ...]:
    return (line,) if isinstance(line, TextLine) else line


# --- in the conversation ---------------------------------------------------------------------


def test_rows_are_numbered_as_in_the_file_they_stand_in() -> None:
    rows = read_diff(DIFF)
    assert [(row.kind, row.number) for row in rows if row.is_line] == [
        ("context", 12),
        ("removed", 13),
        ("added", 13),
        ("added", 14),
        ("added", 15),
    ]
    assert (counted(rows), rows[0].text) == ("+3 −1", "tests/test_retry.py")


def test_a_diff_reads_number_sign_and_text() -> None:
    assert texts(read_diff(DIFF))[-5:] == [
        "12   async def test_backoff(clock):",
        "13 −     await retry_with_backoff(op)",
        "13 +     task = asyncio.create_task(retry_with_backoff(op))",
        "14 +     await clock.advance(3.0)",
        "15 +     await task",
    ]


def test_several_files_and_hunks_are_told_apart() -> None:
    rows = read_diff(
        "diff --git a/a b/a\nindex 1..2\n--- a/a\n+++ b/a\n@@ -1 +1 @@ def f\n-x\n+y\n"
        "@@ -9,0 +10 @@ def g\n+z\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n"
    )
    assert texts(rows) == [
        "a  +2 −1",
        " … def f",
        " 1 − x",
        " 1 + y",
        " … def g",
        "10 + z",
        "new file new  +1",
        " 1 + n",
    ]


def test_crlf_and_missing_final_newlines_are_no_text() -> None:
    rows = read_diff(
        "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n\\ No newline at end of file\r\n+b\r\n"
    )
    assert [row.text for row in rows] == ["x", "a", "b"]


def test_control_sequences_in_a_diff_are_harmless() -> None:
    rows = read_diff("--- a/x\n+++ b/\x1b[31mx\n@@ -0,0 +1 @@\n+\x1b]52;c;x\x07safe \u202e\n")
    assert [row.text for row in rows] == [
        "x → ‹U+001B›[31mx",
        "‹U+001B›]52;c;x‹U+0007›safe ‹U+202E›",
    ]


def test_a_huge_diff_says_how_much_is_left_out() -> None:
    body = "".join(f"+line {number}\n" for number in range(1000))
    lines = texts(read_diff(f"--- a/x\n+++ b/x\n@@ -0,0 +1,1000 @@\n{body}"))
    assert len(lines) == 401
    assert lines[-1] == "… 600 more rows · ctrl+x ;"


def test_what_goes_on_in_the_next_row_is_marked() -> None:
    rows = read_diff(f"--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+{'word ' * 8}\n")
    assert texts(rows, 24) == ["1 + word word word word", "  » word word word word"]


@given(st.text(alphabet="@-+ \\,0123ab\n\t/", max_size=200), st.integers(1, 40))
def test_any_text_parses_and_counts_its_rows(text: str, width: int) -> None:
    rows = read_diff(f"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n{text}")
    kinds = [row.kind for row in rows if row.is_line]
    added, removed = kinds.count("added"), kinds.count("removed")
    assert counted(rows).split() == [f"+{added}"] * bool(added) + [f"−{removed}"] * bool(removed)
    assert len(texts(rows, width)) >= len(kinds)


def test_what_is_no_diff_has_no_rows() -> None:
    assert not read_diff("hello\n+ world\n")
    assert not read_diff("")


# --- to be approved --------------------------------------------------------------------------


def test_a_diff_has_numbers_and_says_where_changes_begin() -> None:
    laid = DiffLines(diff_rows(requests.DIFF))
    assert shown(diff_rows(requests.DIFF)) == [
        "src/app.py",
        "   1   import os",
        "   2 − x = 1",
        "   2 + x = 2",
        "   3 + y = 3",
        "   4   print(x)",
        "⋯",
        "  40 − old = True",
        "  41 + new = True",
    ]
    assert laid.changes == (2, 7)


def test_side_by_side_puts_what_was_added_beside_what_was_removed() -> None:
    assert shown(diff_rows(requests.DIFF), split=True) == [
        "src/app.py",
        "   1   import os|   1   import os",
        "   2 − x = 1|   2 + x = 2",
        "|   3 + y = 3",
        "   3   print(x)|   4   print(x)",
        "⋯",
        "  40 − old = True|  41 + new = True",
    ]


def test_lines_that_look_like_headers_inside_a_hunk_are_lines() -> None:
    rows = diff_rows("--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n--- gone\n+++ came\n-also\n")
    assert [(row.kind, row.text) for row in rows if row.is_line] == [
        ("removed", "-- gone"),
        ("added", "++ came"),
        ("removed", "also"),
    ]


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("diff --git a/new.py b/new.py\n--- /dev/null\n+++ b/new.py\n", "new file new.py"),
        ("--- /dev/null\n+++ b/new.py\n", "new file b/new.py"),
        ("--- b/same.py\n+++ b/same.py\n", "b/same.py"),
        ("--- a/b/same.py\n+++ a/b/same.py\n", "a/b/same.py"),
        ("--- a/old.py\n+++ b/new.py\n", "old.py → new.py"),
        ("diff --git a/gone.py b/gone.py\n--- a/gone.py\n+++ /dev/null\n", "deleted file gone.py"),
        ("--- a/gone.py\n+++ /dev/null\n", "deleted file a/gone.py"),
        ("--- a/same.py\n+++ b/same.py\n", "same.py"),
        ("*** Begin Patch\n*** Add File: new.py\n", "new file new.py"),
        ("*** Update File: same.py\n", "same.py"),
        ("*** Delete File: gone.py\n", "deleted file gone.py"),
    ],
)
def test_the_file_of_a_diff_is_named_once(head: str, words: str) -> None:
    rows = diff_rows(head + "@@ -0,0 +1 @@\n+x\n")
    assert [row.text for row in rows if row.kind == "file"] == [words]


def test_a_patch_without_numbers_is_read_line_by_line() -> None:
    rows = diff_rows(
        "*** Begin Patch\n*** Update File: a.py\n@@ def f\n keep\n-old\n+new\n*** End Patch\n"
    )
    assert shown(rows) == [
        "*** Begin Patch",
        "a.py",
        "⋯ def f",
        "       keep",
        "     − old",
        "     + new",
        "*** End Patch",
    ]


def test_the_part_of_a_line_that_changed_is_emphasized() -> None:
    rows = diff_rows("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-total = count(1)\n+total = count(22)\n")
    assert [row.text[slice(*row.emphasis)] for row in rows[1:]] == ["1", "22"]
    rows = diff_rows("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-import os\n+return value\n")
    assert [row.emphasis for row in rows[1:]] == [(0, 0), (0, 0)]


@given(st.text(st.sampled_from("+-@ \\*,0123456789abc\n\x1b\t"), max_size=200), st.booleans())
def test_no_text_that_calls_itself_a_diff_loses_a_word(text: str, split: bool) -> None:
    rows = diff_rows(text)
    words = "".join(row.text for row in rows)
    if not rows.is_diff:
        assert [row.text.replace("→   ", "\t") for row in rows] == [
            line.replace("\x1b", "‹U+001B›") for line in text.removesuffix("\n").split("\n")
        ] or not text
    for character in "abc":
        if "@@ -" not in text and "+++ " not in text:
            assert words.count(character) >= text.count(character)
    assert len(shown(rows, split)) <= len(rows)
