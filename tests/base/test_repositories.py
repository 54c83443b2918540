"""A repository in a workspace shows what is in the workspace, or somebody is asked."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.base.repositories import kept_outside, shows_another


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always")
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True, env=kept)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Somebody's own repository, which nobody spoke of."""
    made = tmp_path / "other"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    (made / "file").write_text("private\n")
    git(made, "add", ".")
    git(made, "commit", "-qm", "one")
    return made


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    (made / "sub").mkdir(parents=True)
    git(made, "init", "-q", "-b", "main")
    return made


def by_file(git_folder: Path, other: Path) -> None:
    shutil.rmtree(git_folder)
    git_folder.write_text(f"gitdir: {other}\n")


def by_link(git_folder: Path, other: Path) -> None:
    shutil.rmtree(git_folder)
    git_folder.symlink_to(other)


def by_commondir(git_folder: Path, other: Path) -> None:
    (git_folder / "commondir").write_text(f"{other}\n")


def by_links_inside(git_folder: Path, other: Path) -> None:
    for name in ("refs", "objects"):
        shutil.rmtree(git_folder / name)
        (git_folder / name).symlink_to(other / name)


def by_one_branch(git_folder: Path, other: Path) -> None:
    (git_folder / "objects" / "info").mkdir(exist_ok=True)
    (git_folder / "objects" / "info" / "alternates").write_text(f"{other}/objects\n")
    (git_folder / "refs" / "heads" / "main").symlink_to(other / "refs" / "heads" / "main")


def by_worktree(git_folder: Path, other: Path) -> None:
    git(git_folder.parent, "config", "core.worktree", str(other.parent))


def by_included_worktree(git_folder: Path, other: Path) -> None:
    (git_folder / "more").write_text(f"[core]\nworktree = {other.parent}\n")
    git(git_folder.parent, "config", "include.path", "more")


TRICKS = (
    *(by_file, by_link, by_commondir, by_links_inside, by_one_branch),
    *(by_worktree, by_included_worktree),
)


@pytest.mark.parametrize("trick", TRICKS)
def test_a_repository_that_stands_for_another_is_found(
    workspace: Path, other: Path, trick: Callable[[Path, Path], None]
) -> None:
    assert not shows_another(workspace, workspace)
    trick(workspace / ".git", other / ".git")
    assert shows_another(workspace, workspace)
    assert shows_another(workspace / "sub", workspace)
    (workspace / "sub" / ".git").mkdir()
    assert shows_another(workspace / "sub", workspace)


def test_worktrees_submodules_and_parts_of_a_repository_are_its_own(
    workspace: Path, other: Path, tmp_path: Path
) -> None:
    assert not shows_another(other / "x", other / "x")
    git(other, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "tree")
    assert not shows_another(tmp_path / "tree", tmp_path / "tree")
    git(workspace, "submodule", "add", "-q", str(other), "module")
    assert not shows_another(workspace / "module", workspace)
    assert not shows_another(workspace / "module", workspace / "module")
    (tmp_path / "none").mkdir()
    assert not shows_another(tmp_path / "none", tmp_path / "none")


def test_nobody_elses_worktree_is_shown_for_a_file_that_says_so(
    workspace: Path, other: Path, tmp_path: Path
) -> None:
    git(other, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "tree")
    by_file(workspace / ".git", other / ".git" / "worktrees" / "tree")
    assert shows_another(workspace, workspace)


def test_the_folder_outside_that_keeps_a_repository_is_told_by_its_own_word(
    workspace: Path, other: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    git(other, "worktree", "add", "-q", str(tree))
    assert kept_outside(tree) == other / ".git"
    git(workspace, "submodule", "--quiet", "add", str(other), "part")
    assert kept_outside(workspace / "part") == workspace / ".git/modules/part"
    # Its folder is inside, or there is none.
    assert kept_outside(workspace) is None
    assert kept_outside(tmp_path) is None
    # A workspace may say whose it is as it likes.
    (workspace / "part/.git").write_text(f"gitdir: {other}/.git\n")
    assert kept_outside(workspace / "part") is None
