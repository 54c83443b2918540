from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.ui.transcript.entries.diff import FileDiff, Row, counts, diff_lines, parse_diff
from tests.ui.transcript.conversation import DIFF


def rows(diff: list[FileDiff]) -> list[Row]:
    return [row for file in diff for row in file.rows]


def counted(files: list[FileDiff]) -> str:
    return "".join(span.text for span in counts(rows(files)))


def texts(diff: list[FileDiff], width: int = 60) -> list[str]:
    return [line.text.rstrip() for line in diff_lines(diff, width)]


def test_rows_are_numbered_as_in_the_file_they_stand_in() -> None:
    diff = parse_diff(DIFF)
    assert [(row.kind, row.number) for row in rows(diff)] == [
        ("context", 12),
        ("removed", 13),
        ("added", 13),
        ("added", 14),
        ("added", 15),
    ]
    assert (counted(diff), diff[0].path) == ("+3 −1", "tests/test_retry.py")


def test_a_diff_reads_number_sign_and_text() -> None:
    assert texts(parse_diff(DIFF)) == [
        "12   async def test_backoff(clock):",
        "13 −     await retry_with_backoff(op)",
        "13 +     task = asyncio.create_task(retry_with_backoff(op))",
        "14 +     await clock.advance(3.0)",
        "15 +     await task",
    ]


def test_lines_that_look_like_headers_are_rows_inside_a_hunk() -> None:
    diff = parse_diff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n context\n")
    assert [(row.kind, row.text) for row in rows(diff)] == [
        ("removed", "-- old"),
        ("added", "++ new"),
        ("context", "context"),
    ]


def test_the_part_of_a_line_that_changed_is_emphasized() -> None:
    diff = parse_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-total = count(1)\n+total = count(22)\n")
    old, new = rows(diff)
    assert old.text[slice(*old.emphasis)] == "1"
    assert new.text[slice(*new.emphasis)] == "22"


def test_lines_that_share_little_are_not_emphasized() -> None:
    diff = parse_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-import os\n+return value\n")
    assert [row.emphasis for row in rows(diff)] == [(0, 0), (0, 0)]


def test_several_files_and_hunks_are_told_apart() -> None:
    diff = parse_diff(
        "diff --git a/a b/a\nindex 1..2\n--- a/a\n+++ b/a\n@@ -1 +1 @@ def f\n-x\n+y\n"
        "@@ -9,0 +10 @@ def g\n+z\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n"
    )
    assert [(file.path, counted([file])) for file in diff] == [
        ("a", "+2 −1"),
        ("new", "+1"),
    ]
    assert texts(diff) == [
        "a  +2 −1",
        " 1 − x",
        " 1 + y",
        " … def g",
        "10 + z",
        "new  +1",
        " 1 + n",
    ]


def test_a_deleted_file_has_the_path_it_had() -> None:
    assert parse_diff("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n")[0].path == "gone"


def test_crlf_and_missing_final_newlines_are_no_text() -> None:
    diff = parse_diff(
        "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n\\ No newline at end of file\r\n+b\r\n"
    )
    assert [row.text for row in rows(diff)] == ["a", "b"]


def test_control_sequences_in_a_diff_are_harmless() -> None:
    diff = parse_diff("--- a/x\n+++ b/\x1b[31mx\n@@ -0,0 +1 @@\n+\x1b]52;c;x\x07safe \u202e\n")
    assert (diff[0].path, rows(diff)[0].text) == ("x", "safe ")


def test_a_huge_diff_says_how_much_is_left_out() -> None:
    body = "".join(f"+line {number}\n" for number in range(1000))
    lines = texts(parse_diff(f"--- a/x\n+++ b/x\n@@ -0,0 +1,1000 @@\n{body}"))
    assert len(lines) == 401
    assert lines[-1] == "… 600 more rows"


@given(st.text(alphabet="@-+ \\,0123ab\n\t/", max_size=200), st.integers(1, 40))
def test_any_text_parses_and_counts_its_rows(text: str, width: int) -> None:
    diff = parse_diff(f"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n{text}")
    kinds = [row.kind for row in rows(diff)]
    added, removed = kinds.count("added"), kinds.count("removed")
    assert counted(diff).split() == [f"+{added}"] * bool(added) + [f"−{removed}"] * bool(removed)
    assert len(texts(diff, width)) >= len(kinds)


def test_what_is_no_diff_has_no_files() -> None:
    assert parse_diff("hello\n+ world\n") == []
    assert parse_diff("") == []
