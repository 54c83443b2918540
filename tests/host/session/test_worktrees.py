"""A git worktree for a session is made beside the checkout, and never removed with work in it."""

import shutil
from pathlib import Path

import pytest

from amplifier_tui.host.session.places.merging import merge_worktree, worktree_diff
from amplifier_tui.host.session.places.worktrees import (
    WorktreeError,
    find_worktree,
    make_worktree,
    remove_worktree,
)
from tests.host.session.worktree_stage import commit, git, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path)


def test_it_is_made_beside_the_checkout_on_a_branch_of_its_own(repository: Path) -> None:
    (repository / "draft.txt").write_text("not committed")
    card = make_worktree(repository / "docs", " fix the/login ")
    path = repository.with_name("site-fix-the-login")
    assert (card.path, card.cwd) == (str(path), str(path / "docs"))
    assert (card.branch, card.original) == ("amplifier/fix-the-login", str(repository))
    assert git(path, "branch", "--show-current").strip() == card.branch
    assert (path / "docs/one.txt").exists() and not (path / "draft.txt").exists()
    assert (repository / "draft.txt").exists() and git(repository, "branch", "--show-current") == (
        "main\n"
    )
    assert find_worktree(path / "docs").work == ""
    second = make_worktree(path, "more")
    assert second.path == str(repository.with_name("site-more")), "not beside the worktree"


def test_one_that_is_still_there_is_found_by_its_name(repository: Path) -> None:
    made = make_worktree(repository, "fix")
    commit(Path(made.path))
    commit(repository, "later.md")
    found = make_worktree(repository / "docs", "fix", repository / "later.md")
    assert (found.found, made.found) == (True, False)
    assert (found.path, found.branch) == (made.path, made.branch)
    assert found.cwd == str(Path(made.path) / "docs")
    assert make_worktree(Path(made.path), "fix").path == made.path
    git(Path(made.path), "switch", "-qc", "another")
    with pytest.raises(WorktreeError, match="is on the branch another, not on amplifier/fix"):
        make_worktree(repository, "fix")


def test_what_came_to_the_place_of_a_removed_one_is_not_taken_for_it(repository: Path) -> None:
    path = Path(make_worktree(repository, "fix").path)
    shutil.rmtree(path)
    path.mkdir()
    git(path, "init", "-qb", "amplifier/fix")
    with pytest.raises(WorktreeError, match="is there already: choose another name"):
        make_worktree(repository, "fix")


def test_none_is_made_without_the_file_of_the_bundle_that_would_be_opened(
    repository: Path, tmp_path: Path
) -> None:
    bundle = repository / ".amplifier" / "bundles" / "mine.md"
    bundle.parent.mkdir(parents=True)
    bundle.write_text("---\n---\n")
    with pytest.raises(WorktreeError, match=r"commit \.amplifier"):
        make_worktree(repository, "fix", bundle)
    assert not repository.with_name("site-fix").exists()
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "bundle")
    assert make_worktree(repository, "fix", bundle).branch == "amplifier/fix"
    assert make_worktree(repository, "more", tmp_path / "elsewhere.md").branch == "amplifier/more"


def test_it_is_removed_with_its_branch_where_nothing_is_lost(repository: Path) -> None:
    card = make_worktree(repository, "fix")
    path = Path(card.path)
    commit(path)
    git(repository, "merge", "-q", card.branch)
    (path / "run.log").write_text("ignored")
    assert find_worktree(path).ignored == 1
    assert remove_worktree(path).branch == card.branch
    assert not path.exists() and "amplifier" not in git(repository, "branch")
    assert (repository / "one.txt").exists()


def test_a_program_that_was_started_in_it_is_in_the_checkout_afterwards(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = make_worktree(repository, "fix")
    monkeypatch.chdir(Path(card.path) / "docs")
    remove_worktree(Path(card.path))
    assert Path.cwd() == repository


@pytest.mark.parametrize(
    ("doing", "work"),
    [
        ("new", "1 file that is not committed"),
        ("changed", "1 file that is not committed"),
        ("staged", "1 file that is not committed"),
        ("commits", "2 commits that no other branch has"),
        ("hidden", "1 file that is not committed"),
    ],
)
def test_work_in_it_keeps_it(repository: Path, doing: str, work: str) -> None:
    path = Path(make_worktree(repository, "fix").path)
    if doing == "commits":
        commit(path)
        commit(path, "two.txt")
    else:
        (path / ("docs/one.txt" if doing == "changed" else "a.txt")).write_text("mine")
    if doing == "staged":
        git(path, "add", "-A")
    if doing == "hidden":
        git(path, "config", "status.showUntrackedFiles", "no")
    with pytest.raises(WorktreeError, match=f"has {work}: it stays"):
        remove_worktree(path)
    assert path.exists() and "amplifier/fix" in git(repository, "branch")


@pytest.mark.parametrize(
    ("leaving", "now"),
    [
        (("switch", "-q", "-c", "mine"), "the branch mine"),
        (("checkout", "-q", "--detach"), "no branch"),
    ],
)
def test_a_worktree_that_left_its_branch_is_told_how_to_come_back_to_it(
    repository: Path, leaving: tuple[str, ...], now: str
) -> None:
    path = Path(make_worktree(repository, "fix").path)
    commit(path)
    git(path, *leaving)
    said = f"site-fix is on {now}, not on amplifier/fix, .* git switch amplifier/fix$"
    for act in (worktree_diff, merge_worktree, remove_worktree):
        with pytest.raises(WorktreeError, match=said):
            act(path)
    with pytest.raises(WorktreeError, match=said):
        make_worktree(repository, "fix")
    assert path.exists()


def test_what_is_no_worktree_made_here_is_never_removed(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(WorktreeError, match="no worktree of its own"):
        remove_worktree(repository)
    by_hand = tmp_path / "by-hand"
    git(repository, "worktree", "add", "-q", "-b", "mine", str(by_hand))
    with pytest.raises(WorktreeError, match="no worktree of its own"):
        remove_worktree(by_hand)
    locked = Path(make_worktree(repository, "fix").path)
    git(repository, "worktree", "lock", str(locked))
    with pytest.raises(WorktreeError, match=r"can't be removed: .*lock"):
        remove_worktree(locked)
    assert by_hand.exists() and locked.exists()


def test_where_none_can_be_made_it_is_said_and_nothing_is_left(
    repository: Path, tmp_path: Path
) -> None:
    def refused(folder: Path, name: str, why: str) -> None:
        before = sorted(tmp_path.iterdir())
        with pytest.raises(WorktreeError, match=why):
            make_worktree(folder, name)
        assert sorted(tmp_path.iterdir()) == before

    plain, empty = tmp_path / "plain", tmp_path / "empty"
    plain.mkdir()
    refused(plain, "fix", "needs a git repository")
    empty.mkdir()
    git(empty, "init", "-q")
    refused(empty, "fix", "no commit yet")
    refused(repository, "../..", "needs a name")
    refused(repository, "fix.lock", r"can't be made: .*not a valid branch name")
    repository.with_name("site-taken").mkdir()
    refused(repository, "taken", "is there already")
    git(repository, "branch", "amplifier/kept")
    refused(repository, "kept", "branch amplifier/kept is there already")
    assert "amplifier/kept" in git(repository, "branch")


def test_no_program_of_the_repository_runs(repository: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for hook in ("post-checkout", "reference-transaction"):
        script = repository / ".git/hooks" / hook
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\ntouch {ran}\n")
        script.chmod(0o755)
    remove_worktree(Path(make_worktree(repository, "fix").path))
    assert not ran.exists()
    (repository / ".gitattributes").write_text("*.txt filter=x\n")
    git(repository, "add", "-A")
    git(repository, "-c", "core.hooksPath=/dev/null", "commit", "-qm", "x")
    path = Path(make_worktree(repository, "fix").path)
    git(repository, "config", "filter.x.smudge", f"touch {ran}; cat")
    with pytest.raises(WorktreeError, match="names filters"):
        make_worktree(repository, "again")
    with pytest.raises(WorktreeError, match="names filters"):
        remove_worktree(path)
    assert not ran.exists() and path.exists()


def test_a_repository_whose_files_are_elsewhere_is_refused(
    repository: Path, tmp_path: Path
) -> None:
    made = Path(make_worktree(repository, "made").path)
    commit(made)
    (tmp_path / "home").mkdir()
    git(repository, "config", "core.worktree", str(tmp_path / "home"))
    for attempt in (lambda: make_worktree(repository, "fix"), lambda: merge_worktree(made)):
        with pytest.raises(WorktreeError, match=r"core\.worktree puts the files"):
            attempt()
    assert not list((tmp_path / "home").iterdir())


@pytest.mark.parametrize("where", ["gitdir:**/worktrees/**", "onbranch:amplifier/**"])
def test_filters_that_only_a_worktree_has_do_not_run_when_it_is_made(
    repository: Path, tmp_path: Path, where: str
) -> None:
    (repository / ".gitattributes").write_text("*.txt filter=x\n")
    commit(repository)
    git(repository, "config", f"includeIf.{where}.path", "evil")
    git(repository, "config", "-f", ".git/evil", "filter.x.smudge", f"touch {tmp_path}/ran; cat")
    with pytest.raises(WorktreeError, match="names filters"):
        make_worktree(repository, "fix")
    assert not (tmp_path / "ran").exists()
    assert not repository.with_name("site-fix").exists()
    assert "amplifier" not in git(repository, "branch")
