"""Patches: what is read, where hunks are put, and what is said where they do not fit."""

import contextlib
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.patches import PatchProblem, apply_hunks, patched_paths, read_patch


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def applied(text: str, *lines: str, newline: str = "\n") -> str:
    (change,) = read_patch(patch("*** Update File: f", *lines))
    return apply_hunks(text, change.hunks, newline)


def test_a_patch_names_its_files_in_order() -> None:
    changes = read_patch(
        patch(
            *("*** Add File: new.txt", "+one", "+", "+*** two"),
            *("*** Update File: a b.py", "*** Move to: c.py", "@@", "-x", "+y"),
            *("*** Delete File: gone", ""),
        )
    )
    assert [(each.kind, each.path, each.move_to) for each in changes] == [
        ("add", "new.txt", ""),
        ("update", "a b.py", "c.py"),
        ("delete", "gone", ""),
    ]
    assert changes[0].content == ("one", "", "*** two")


def test_what_models_put_around_a_patch_is_left_out() -> None:
    text = f"apply_patch <<'EOF'\n{patch('*** Delete File: a')}\nEOF\n"
    assert [each.path for each in read_patch(text)] == ["a"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("*** Update File: a", "line 1 of the patch: a patch begins"),
        ("*** Begin Patch\n*** Delete File: a", "line 2 of the patch: a patch ends"),
        (patch(), "changes no file"),
        (patch("hello"), "line 2 of the patch: expected `*** Add File"),
        (patch("*** Add File: a", "text"), "line 3 of the patch: each line of a new file"),
        (patch("*** Update File: a"), "the update of a changes nothing"),
        (patch("*** Update File: a", "@@", " same"), "no line that begins with `+` or `-`"),
        (patch("*** Update File: a", "@@", "-x", "y"), "line 5 of the patch: a line of a hunk"),
        (patch("*** Update File:  ", "-x"), "line 2 of the patch: the path is missing"),
    ],
)
def test_a_patch_that_cannot_be_read_says_the_line(text: str, said: str) -> None:
    with pytest.raises(PatchProblem) as problem:
        read_patch(text)
    assert said in str(problem.value)


def test_the_place_is_found_by_its_lines_below_the_heading() -> None:
    text = "class A:\n    def f():\n        pass\nclass B:\n    def f():\n        pass\n"
    after = applied(text, "@@ class B:", "@@ def f():", "-        pass", "+        return 1")
    assert after == text[: text.rindex("        pass")] + "        return 1\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [("x = 1  \n", "x = 1"), ("\tx = 1\n", "    x = 1"), ("say(“it’s”)\n", 'say("it\'s")')],
)
def test_white_space_and_typography_need_not_be_exact(text: str, written: str) -> None:
    kept = "    kept   \n"
    assert applied(kept + text, " kept", f"-{written}", "+y") == kept + "y\n"


def test_an_exact_place_goes_before_a_loose_one_above_it() -> None:
    assert applied("  x\nx\n", "-x", "+y") == "  x\ny\n"


def test_line_ends_and_a_missing_last_one_stay() -> None:
    assert applied("a\r\nb\r\nc", " b", "+new", newline="\r\n") == "a\r\nb\r\nnew\r\nc"
    assert applied("a\r\nb", " b", "+c", newline="\r\n") == "a\r\nb\r\nc"
    assert applied("a\nb", "-b", "+c") == "a\nc"
    assert applied("a", "-a") == ""


def test_lines_without_a_passage_go_below_the_heading_or_to_the_end() -> None:
    assert applied("a\nb\n", "@@ a", "+x") == "a\nx\nb\n"
    assert applied("a\nb\n", "@@", "+x") == "a\nb\nx\n"
    assert applied("", "+x") == "x\n"


def test_a_passage_that_ends_the_file_is_looked_for_there() -> None:
    assert applied("x\ny\nx\n", "-x", "+z", "*** End of File") == "x\ny\nz\n"


def test_hunks_with_line_numbers_of_a_unified_diff_are_read() -> None:
    assert applied("a\nb\nb\n", "@@ -7,2 +7,2 @@ a", "-b", "+c") == "a\nc\nb\n"


def test_a_passage_that_is_not_there_is_named_with_the_nearest_place() -> None:
    with pytest.raises(PatchProblem, match="line 6 of the patch: `three` does not follow") as seen:
        applied("zero\none\ntwo\n3\n", "@@", " one", " two", "-three", "+4")
    assert "line 3 of the file fits, then the file has `3`" in str(seen.value)
    with pytest.raises(PatchProblem, match="line 4 of the patch: `missing` is not in the file"):
        applied("a\n", "@@", "-missing", "+b")
    with pytest.raises(PatchProblem, match="line 3 of the patch: `class C` is not in the file"):
        applied("a\n", "@@ class C", "-a", "+b")


LINES = st.lists(st.sampled_from(["", "a", "b", "  a", "c", "d e"]), max_size=12)


@given(LINES, LINES, st.booleans())
def test_a_patch_of_all_lines_makes_one_text_the_other(
    old: list[str], new: list[str], ended: bool
) -> None:
    before = "\n".join(old) + ("\n" if ended and old else "")
    shown = before.removesuffix("\n").split("\n") if before else []
    if before == "\n":
        shown = [""]
    if not new:
        return
    after = applied(before, "@@", *(f"-{line}" for line in shown), *(f"+{line}" for line in new))
    whole = "\n".join(new)
    assert after == (whole if before and not before.endswith("\n") else f"{whole}\n")


@given(LINES.filter(bool), st.integers(0, 11), st.integers(0, 3), LINES)
def test_a_unique_passage_is_replaced_and_nothing_else(
    old: list[str], at: int, size: int, new: list[str]
) -> None:
    old = [f"{number}{line}" for number, line in enumerate(old)]
    at = min(at, len(old) - 1)
    passage = old[at : at + size]
    if not passage or passage == new:
        return
    hunk = [*(f"-{line}" for line in passage), *(f"+{line}" for line in new)]
    expected = [*old[:at], *new, *old[at + len(passage) :]]
    assert applied("".join(f"{line}\n" for line in old), "@@", *hunk) == "".join(
        f"{line}\n" for line in expected
    )


PARTS = st.sampled_from(
    [
        *("*** Begin Patch", "*** End Patch", "*** Update File: ", "*** Add File: ", "\n", "\r"),
        *("*** Delete File: ", "*** Move to: ", "@@", "+", "-", " ", "\t", "a", "/etc/x", "\x85"),
        *("\u2028", "*** End of File", "--- ", "+++ b/"),
    ]
)


@given(st.lists(PARTS, max_size=40).map("".join))
def test_no_file_is_changed_that_the_heads_do_not_name(text: str) -> None:
    text = f"*** Begin Patch\n{text}\n*** End Patch"
    with contextlib.suppress(PatchProblem):
        for change in read_patch(text):
            assert {change.path, change.move_to} - {""} <= set(patched_paths(text))


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("--- a/x.py\n+++ b/x.py\n@@\n", ["x.py"]),
        ("--- /dev/null\n+++ b/new.py\t2026\n", ["new.py"]),
        ("*** Add File: a b.txt\r\n*** Move to: c\n", ["a b.txt", "c"]),
        ("no patch at all", []),
    ],
)
def test_the_files_of_a_patch_are_read_from_its_heads(text: str, paths: list[str]) -> None:
    assert list(patched_paths(text)) == paths


@pytest.mark.parametrize("last", ["-y", "-x"])
def test_a_long_passage_of_like_lines_takes_time_in_proportion(last: str) -> None:
    text, passage = "x\n" * 40_000 + "end\n", [" x"] * 10_000
    began = thread_time()
    if last == "-y":
        with pytest.raises(PatchProblem, match="line 10000 of the file fits"):
            applied(text, "@@", *passage, last, "+z")
    else:
        assert applied(text, "@@", *passage, last, " end", "+z").endswith("x\nend\nz\n")
    assert thread_time() - began < 1
