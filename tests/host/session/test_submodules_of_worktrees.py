"""A worktree with submodules is removed where nothing in them is lost, and merged with them."""

from pathlib import Path

import pytest

from amplifier_tui.host.session.places.merging import merge_worktree
from amplifier_tui.host.session.places.worktrees import (
    WorktreeError,
    find_worktree,
    make_worktree,
    remove_worktree,
)
from tests.host.session.worktree_stage import commit, git, make_repository

LOCAL = ("-c", "protocol.file.allow=always")
DEP = "vendor/dep"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
    for name in ("inner", "lib"):
        origin = tmp_path / name
        origin.mkdir()
        git(origin, "init", "-qb", "main")
        (origin / ".gitignore").write_text("*.log\n")
        commit(origin, f"{name}.txt")
    git(tmp_path / "lib", *LOCAL, "submodule", "--quiet", "add", str(tmp_path / "inner"), "inner")
    commit(tmp_path / "lib", "more.txt")
    root = make_repository(tmp_path)
    git(root, *LOCAL, "submodule", "--quiet", "add", str(tmp_path / "lib"), DEP)
    git(root, *LOCAL, "submodule", "--quiet", "update", "--init", "--recursive")
    git(root, "commit", "-qm", "dep")
    return root


def with_submodules(repository: Path) -> Path:
    path = Path(make_worktree(repository, "fix").path)
    git(path, *LOCAL, "submodule", "--quiet", "update", "--init", "--recursive")
    return path


@pytest.mark.parametrize("without", ["", "files", "anything"])
def test_it_is_removed_where_its_submodules_hold_nothing(repository: Path, without: str) -> None:
    path = Path(make_worktree(repository, "fix").path)
    if without != "anything":
        path = with_submodules(repository)
        (path / DEP / "run.log").write_text("ignored")
        git(path / DEP, "tag", "mine")
    if without == "files":
        git(path, "submodule", "--quiet", "deinit", "-f", DEP)
    assert find_worktree(path).ignored == (0 if without else 1)
    remove_worktree(path)
    assert not path.exists() and "amplifier" not in git(repository, "branch")
    assert (repository / DEP / "lib.txt").exists()


def changes(path: Path) -> str:
    (path / DEP / "lib.txt").write_text("mine")
    (path / DEP / "new.txt").write_text("mine")
    return f"2 files that are not committed in the submodule {DEP}"


def commits(path: Path) -> str:
    commit(path / DEP, "mine.txt")
    git(path, "commit", "-qam", "up")
    git(path, "push", "-q", ".", "HEAD:refs/heads/other")
    return f"1 commit that no other repository has in the submodule {DEP}"


def commits_elsewhere(path: Path) -> str:
    git(path / DEP, "switch", "-qc", "aside")
    commit(path / DEP, "mine.txt")
    git(path / DEP, "switch", "-q", "--detach", "@{-1}")
    return f"1 commit that no other repository has in the submodule {DEP}"


def commits_without_files(path: Path) -> str:
    commits_elsewhere(path)
    git(path, "submodule", "--quiet", "deinit", "-f", DEP)
    return f"1 commit that no other repository has in the submodule {DEP}"


def stashes(path: Path) -> str:
    (path / DEP / "lib.txt").write_text("mine")
    git(path / DEP, "stash")
    return f"2 commits that no other repository has in the submodule {DEP}"


def deeper(path: Path) -> str:
    (path / DEP / "inner" / "new.txt").write_text("mine")
    return f"1 file that is not committed in the submodule {DEP}/inner"


def filters(path: Path) -> str:
    (path / DEP / ".gitattributes").write_text("*.txt filter=x\n")
    git(path / DEP, "config", "filter.x.clean", f"touch {path}/../ran; cat")
    return f"changes in the submodule {DEP} that can't be told"


WORK = [changes, commits, commits_elsewhere, commits_without_files, stashes, deeper, filters]


@pytest.mark.parametrize("doing", WORK)
def test_what_only_its_submodules_hold_keeps_it(
    repository: Path, tmp_path: Path, doing: object
) -> None:
    path = with_submodules(repository)
    assert callable(doing)
    work = doing(path)
    with pytest.raises(WorktreeError, match=f"has {work}: it stays"):
        remove_worktree(path)
    assert path.exists() and not (tmp_path / "ran").exists()


@pytest.mark.parametrize("to", ["origin", "checkout"])
def test_it_goes_once_their_commits_are_elsewhere(repository: Path, to: str) -> None:
    path = with_submodules(repository)
    commits(path)
    if to == "origin":
        git(path / DEP, "push", "-q", "origin", "HEAD:refs/heads/mine")
    else:
        git(repository / DEP, *LOCAL, "fetch", "-q", str(path / DEP), "HEAD:mine")
    remove_worktree(path)
    assert not path.exists()


def test_a_commit_of_a_submodule_that_nobody_else_would_find_is_not_merged(
    repository: Path,
) -> None:
    path = with_submodules(repository)
    commits(path)
    before = git(repository, "rev-parse", "HEAD")
    with pytest.raises(WorktreeError, match=f"a commit of the submodule {DEP} that no other"):
        merge_worktree(path)
    assert git(repository, "rev-parse", "HEAD") == before
    git(path / DEP, "push", "-q", "origin", "HEAD:refs/heads/mine")
    assert merge_worktree(path).submodules == (DEP,)


def test_a_submodule_that_is_not_at_its_commit_yet_is_in_no_merges_way(repository: Path) -> None:
    path = with_submodules(repository)
    commits(path)
    git(path / DEP, "push", "-q", "origin", "HEAD:refs/heads/mine")
    merge_worktree(path)
    commit(path, "two.txt")
    assert git(repository, "status", "--short") == f" M {DEP}\n"
    assert merge_worktree(path).commits == 1
    assert git(repository, "status", "--short") == f" M {DEP}\n"
