"""What was done in a worktree is shown, and merged back whole or not at all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.host.session.places.merging import merge_worktree, worktree_diff
from amplifier_tui.host.session.places.worktrees import WorktreeError, make_worktree
from amplifier_tui.ui.transcript.entries.diff import read_diff
from tests.host.session.worktree_stage import commit, git, make_repository


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
    return make_repository(tmp_path)


def everything(*folders: Path) -> list[object]:
    """All that a merge could have changed: files, what is staged, and where every branch is."""
    files = {
        path: path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    return [files, *(git(folder, "status", "--porcelain", "--branch") for folder in folders),
            git(folders[0], "for-each-ref")]  # fmt: skip


def refused(path: Path, repository: Path, why: str) -> None:
    before = everything(repository, path)
    with pytest.raises(WorktreeError, match=why):
        merge_worktree(path)
    assert everything(repository, path) == before


def test_the_diff_begins_where_the_worktree_did_and_has_what_is_not_committed(
    repository: Path,
) -> None:
    path = Path(make_worktree(repository, "fix").path)
    assert worktree_diff(path) == ""
    commit(path, "committed.txt")
    (path / "docs/one.txt").write_text("changed\n")
    (path / "ü.txt").write_text("new\n")
    (path / "run.log").write_text("ignored")
    (path / "link").symlink_to("/etc/passwd")
    commit(repository, "elsewhere.txt")
    diff = worktree_diff(path / "docs")
    for line in ("+++ committed.txt", "-docs/one.txt", "+changed", "+++ ü.txt", "+new"):
        assert f"{line}\n" in diff
    assert "+++ link\n@@ a link: changed @@" in diff
    assert diff.startswith("--- /dev/null\n+++ committed.txt\n")
    assert "elsewhere" not in diff and "ignored" not in diff and "root:" not in diff


def test_files_are_shown_by_their_names_without_gits_marks(repository: Path) -> None:
    (repository / "b").mkdir()
    (repository / "b/gone.txt").write_text("gone\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "one more")
    path = Path(make_worktree(repository, "fix").path)
    commit(path, "committed.txt")
    git(path, "rm", "-q", "b/gone.txt")
    (path / "docs/one.txt").write_text("changed\n")
    (path / "b").mkdir()
    (path / "b/new.txt").write_text("new\n")
    rows = read_diff(worktree_diff(path))
    assert [row.text for row in rows if row.kind == "file"] == [
        "deleted file b/gone.txt",
        "new file committed.txt",
        "docs/one.txt",
        "new file b/new.txt",
    ]


def test_the_name_of_a_new_file_passes_for_no_line_of_the_diff(repository: Path) -> None:
    path = Path(make_worktree(repository, "fix").path)
    (path / "a\n@@ -0,0 +1 @@\n+harmless").write_text("harmful\n")
    lines = worktree_diff(path).splitlines()
    assert lines[:2] == ["--- /dev/null", "+++ a @@ -0,0 +1 @@ +harmless"]
    assert "+harmless" not in lines and "+harmful" in lines


def test_a_diff_that_is_too_long_says_what_is_cut(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_tui.host.session.places.merging._MOST_DIFF", 300)
    path = Path(make_worktree(repository, "fix").path)
    (path / "docs/one.txt").write_text("line\n" * 500)
    for name in "abc":
        (path / name).write_text("new\n" * 80)
    diff = worktree_diff(path)
    assert "\n\\ The rest of this diff is not shown\n--- /dev/null\n+++ a\n" in diff
    assert diff.endswith("\\ 2 more new files are not shown\n")


def test_a_branch_goes_forward_where_nothing_else_was_committed(repository: Path) -> None:
    path = Path(make_worktree(repository / "docs", "fix").path)
    commit(path)
    commit(path, "two.txt")
    (repository / "note.txt").write_text("mine, and not in git")
    done = merge_worktree(path / "docs")
    assert (done.branch, done.into, done.commits) == ("amplifier/fix", "main", 2)
    assert (done.original, done.commit) == (str(repository), "")
    assert (
        git(repository, "rev-parse", "main", "amplifier/fix").split()[0]
        == git(path, "rev-parse", "HEAD").strip()
    )
    assert (repository / "two.txt").exists() and git(repository, "status", "-s") == "?? note.txt\n"
    assert worktree_diff(path) == "", "a merge is where the next diff begins"
    refused(path, repository, "All commits of amplifier/fix are in main already")


def test_a_merge_commit_is_the_users(repository: Path) -> None:
    path = Path(make_worktree(repository, "fix").path)
    commit(path)
    commit(repository, "two.txt")
    ours = git(repository, "rev-parse", "HEAD").strip()
    done = merge_worktree(path)
    said = git(repository, "log", "-1", "--format=%H|%P|%an <%ae>|%cn|%s").strip().split("|")
    assert said == [
        done.commit,
        f"{ours} {git(path, 'rev-parse', 'HEAD').strip()}",
        "Ada <ada@example.org>",
        "Ada",
        "Merge branch 'amplifier/fix' into main",
    ]
    assert (repository / "one.txt").exists() and (repository / "two.txt").exists()
    assert git(repository, "status", "-s") == ""


def test_a_conflict_is_named_and_changes_nothing(repository: Path) -> None:
    path = Path(make_worktree(repository, "fix").path)
    for folder in (path, repository):
        (folder / "docs/one.txt").write_text(str(folder))
        commit(folder, "same.txt" if folder == path else "other.txt")
    refused(path, repository, "Conflict in docs/one.txt: merge main into amplifier/fix")


Step = Callable[[Path, Path], object]


@pytest.mark.parametrize(
    ("doing", "why"),
    [
        (
            lambda path, _: (path / "new.txt").write_text("x"),
            "Commit first, or have the agent do it: new.txt is not committed in .*site-fix",
        ),
        (
            lambda path, _: [(path / name).write_text("x") for name in "abcde"],
            "the agent do it: a, b, c and 2 more are not committed in .*site-fix",
        ),
        (
            lambda _, root: (root / "docs/one.txt").write_text("x"),
            "Commit, stash or discard first: docs/one.txt is not committed in .*site",
        ),
        (
            lambda _, root: git(root, "rm", "-q", "docs/one.txt"),
            "Commit, stash or discard first: docs/one.txt is not committed in .*site",
        ),
        (lambda _, root: git(root, "switch", "-q", "--detach"), "No branch is checked out in"),
        (lambda _, root: (root / "one.txt").write_text("mine"), "untracked .* overwritten"),
        (lambda _, root: (root / "fix.log").write_text("mine"), "untracked .* overwritten"),
        (lambda _, root: (root / ".git/index.lock").touch(), r"can't be merged: .*index\.lock"),
    ],
)
def test_nothing_that_is_not_committed_is_lost(repository: Path, doing: Step, why: str) -> None:
    path = Path(make_worktree(repository, "fix").path)
    (path / "fix.log").write_text("ignored elsewhere")
    git(path, "add", "-f", "fix.log")
    commit(path)
    doing(path, repository)
    refused(path, repository, why)


def test_a_merge_commit_that_would_have_to_be_signed_is_left_to_the_user(repository: Path) -> None:
    path = Path(make_worktree(repository, "fix").path)
    commit(path)
    git(repository, "config", "commit.gpgSign", "yes")
    assert merge_worktree(path).commit == "", "going forward makes no commit"
    git(path, "commit", "-q", "--no-gpg-sign", "--allow-empty", "-m", "x")
    git(repository, "commit", "-q", "--no-gpg-sign", "--allow-empty", "-m", "y")
    refused(path, repository, "commit.gpgSign is set")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("merge.x.driver", "touch {ran}"),
        ("filter.x.smudge", "touch {ran}; cat"),
        ("filter.x.clean", "touch {ran}; cat"),
        ("branch.main.mergeOptions", "--squash"),
    ],
)
@pytest.mark.parametrize("includes", [False, True], ids=["plain", "for-the-checkout-alone"])
def test_programs_that_the_repository_names_do_not_run(
    repository: Path, tmp_path: Path, setting: str, value: str, includes: bool
) -> None:
    ran = tmp_path / "ran"
    (repository / ".gitattributes").write_text("*.txt merge=x filter=x\n")
    commit(repository, "base.txt")
    path = Path(make_worktree(repository, "fix").path)
    for folder in (path, repository):
        commit(folder, f"{folder.name}.txt")
    config = repository / ".git/config"
    if includes:
        # Not of the worktree's own git folder, which is .git/worktrees/site-fix.
        git(repository, "config", "includeIf.gitdir:**/site/.git.path", "evil")
        config = repository / ".git/evil"
    git(repository, "config", "-f", str(config), setting, value.format(ran=ran))
    with pytest.raises(WorktreeError, match=f"names filters|sets (?i:{setting})"):
        merge_worktree(path)
    assert not ran.exists()
    assert git(repository, "log", "-1", "--format=%s") == "site.txt\n"


def test_hooks_signatures_and_other_programs_of_the_repository_stay_off(
    repository: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    path = Path(make_worktree(repository, "fix").path)
    commit(path)
    commit(repository, "two.txt")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 $@ >> {ran}\n")
    program.chmod(0o755)
    hooks = repository / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("pre-merge-commit", "post-merge", "commit-msg", "reference-transaction"):
        (hooks / hook).symlink_to(program)
    for setting in (
        *("core.fsmonitor", "gpg.program", "diff.external", "core.editor", "core.pager"),
        *("diff.x.command", "diff.x.textconv", "sequence.editor", "core.sshCommand"),
    ):
        git(repository, "config", setting, str(program))
    for setting in ("merge.verifySignatures", "log.showSignature", "merge.autoStash"):
        git(repository, "config", setting, "true")
    assert "+one.txt" in worktree_diff(path)
    assert merge_worktree(path).commit
    assert not ran.exists(), ran.read_text()
