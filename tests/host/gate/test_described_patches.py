"""What an approval of a patch shows: what becomes of its files, or the patch as it is."""

from pathlib import Path

import pytest

from amplifier_tui.host.gate.approvals.describe import describe_call


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["*** Update File: a", "-no", "+x"], "a: line 3 of the patch: `no` is not in the file"),
        (["*** Add File: b", "+x"], "b exists already"),
        (["*** Update File: a", "*** Move to: b"], "b exists already"),
        (["*** Delete File: n"], "there is no file n"),
        (["*** Delete File: a", "*** Delete File: a"], "there is no file a"),
    ],
)
def test_a_patch_that_does_not_fit_its_files_is_told(
    tmp_path: Path, lines: list[str], problem: str
) -> None:
    (tmp_path / "a").write_text("1\n")
    (tmp_path / "b").write_text("z\n")
    text = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
    found = describe_call("apply_patch", {"input": text}, tmp_path)
    assert (found.problem, found.diff) == (problem, text)


@pytest.mark.parametrize(
    ("lines", "diff", "action", "risk"),
    [
        (
            ["*** Update File: a", "-1", "+2", "*** Update File: a", "-2", "+3"],
            "--- a\n+++ a\n@@ -1 +1 @@\n-1\n+3\n",
            "change a",
            "medium",
        ),
        (
            ["*** Delete File: a", "*** Add File: a", "+x", "*** Add File: n", "+x"],
            "--- a\n+++ a\n@@ -1 +1 @@\n-1\n+x\n--- /dev/null\n+++ n\n@@ -0,0 +1 @@\n+x\n",
            "change 2 files",
            "medium",
        ),
        (
            ["*** Delete File: a"],
            "--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n",
            "delete a",
            "high",
        ),
        (
            ["*** Add File: n", "+x", "*** Delete File: a", "*** Delete File: b"],
            "--- /dev/null\n+++ n\n@@ -0,0 +1 @@\n+x\n"
            "--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n--- b\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n",
            "change 1 file and delete 2 files",
            "high",
        ),
        (
            ["*** Update File: a", "*** Move to: c", "-1", "+2"],
            "--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n--- /dev/null\n+++ c\n@@ -0,0 +1 @@\n+2\n",
            "change 2 files",
            "medium",
        ),
    ],
)
def test_a_patch_that_fits_is_shown_as_what_becomes_of_its_files(
    tmp_path: Path, lines: list[str], diff: str, action: str, risk: str
) -> None:
    (tmp_path / "a").write_text("1\n")
    (tmp_path / "b").write_text("z\n")
    text = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
    found = describe_call("apply_patch", {"input": text}, tmp_path)
    assert (found.problem, found.diff) == ("", diff)
    assert found.action == f"apply_patch wants to {action}"
    assert found.judgement.risk == risk
    assert ("deletes files" in found.judgement.reasons) is (risk == "high")


def test_a_patch_of_long_files_shows_the_beginning_of_each(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text("line\n" * 60_000)
    text = "*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch"
    found = describe_call("apply_patch", {"input": text}, tmp_path)
    assert found.diff.count("+++ /dev/null") == found.diff.count("are not shown") == 2
    assert "*** Delete File: b" in found.payload


def test_a_patch_is_shown_as_it_is_with_the_files_it_names(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** Add File: ../b.txt\n+z\n"
    found = describe_call("apply_patch", {"patch": patch}, tmp_path)
    assert found.diff == patch and found.action == "apply_patch wants to change 2 files"
    assert [p.shown for p in found.judgement.places] == ["a.txt", str(tmp_path.parent / "b.txt")]
    assert found.judgement.outside and found.judgement.risk == "high"
