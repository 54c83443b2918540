"""A repository in a workspace shows what is in the workspace, or somebody is asked."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.base.repositories import places as repositories
from amplifier_tui.base.repositories.places import (
    kept_outside,
    main_checkout,
    shows_another,
    written_outside,
)
from amplifier_tui.base.repositories.settings import places_of_hooks


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


def by_link_to_a_worktree(git_folder: Path, other: Path) -> None:
    git(other.parent, "worktree", "add", "-q", "../tree", "-b", "tree")
    by_link(git_folder, other.parents[1] / "tree" / ".git")


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
    *(by_file, by_link, by_link_to_a_worktree, by_commondir, by_links_inside, by_one_branch),
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
    by_link(workspace / ".git", tree / ".git")
    assert kept_outside(workspace) is None


def test_what_git_writes_outside_of_a_workspace_is_told_by_that_repositorys_own_word(
    workspace: Path, other: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    git(other, "worktree", "add", "-q", str(tree))
    (tree / "sub").mkdir()
    git(workspace, "submodule", "--quiet", "add", str(other), "part")
    for folder in (tree, tree / "sub"):
        assert written_outside(folder, tree) == written_outside(folder, folder) == other / ".git"
    assert written_outside(workspace / "sub", workspace / "sub") == workspace / ".git"
    assert (
        written_outside(workspace / "part", workspace / "part") == workspace / ".git/modules/part"
    )
    assert written_outside(other, workspace) == other / ".git"
    # Its folder is inside, or there is none.
    for folder in (workspace, workspace / "sub", workspace / "part"):
        assert written_outside(folder, workspace) is None
    assert written_outside(tree, tmp_path) is written_outside(tmp_path, tmp_path) is None
    # A workspace may say whose it is as it likes.
    (workspace / "part/.git").write_text(f"gitdir: {other}/.git\n")
    assert written_outside(workspace / "part", workspace) is None
    by_link(workspace / ".git", other / ".git")
    assert written_outside(workspace, workspace) is None


def test_a_folder_of_a_worktree_stands_for_that_of_the_checkout_it_was_made_of(
    other: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    git(other, "worktree", "add", "-q", str(tree))
    (tree / "docs").mkdir()
    (tmp_path / "by_link").symlink_to(tree)
    assert main_checkout(tree) == main_checkout(tmp_path / "by_link") == other
    assert main_checkout(tree / "docs") == other / "docs"
    # There it leads to yet another folder.
    (other / "docs").symlink_to(tmp_path)
    assert main_checkout(tree / "docs") == tree / "docs"


def test_every_other_folder_stands_for_itself(workspace: Path, other: Path, tmp_path: Path) -> None:
    git(workspace, "submodule", "--quiet", "add", str(other), "part")
    git(tmp_path, "clone", "-q", "--bare", str(other), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", "../of_bare")
    for folder in (tmp_path, other, workspace / "sub", workspace / "part", tmp_path / "of_bare"):
        assert main_checkout(folder) == folder


def test_what_comes_to_the_place_of_a_removed_worktree_stands_for_itself(
    other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    git(other, "worktree", "add", "-q", str(tree))
    entry = other / ".git" / "worktrees" / "tree"

    def apart() -> float:
        made = (entry / "commondir").stat().st_ctime
        return abs((tree / ".git").stat().st_ctime - made)

    first = apart()
    assert first < 10 and main_checkout(tree) == other
    shutil.rmtree(tree)
    tree.mkdir()
    while not (tree / ".git").exists() or apart() <= first:
        (tree / ".git").write_text(f"gitdir: {entry}\n")
    monkeypatch.setattr(repositories, "_AT_ONCE", apart())
    assert main_checkout(tree) == tree and main_checkout(tree, surely=False) == other


@pytest.mark.parametrize("lost", ["HEAD", "worktrees/tree/HEAD", "worktrees/tree/commondir"])
def test_a_worktree_of_what_is_no_whole_repository_stands_for_itself(
    other: Path, tmp_path: Path, lost: str
) -> None:
    git(other, "worktree", "add", "-q", str(tmp_path / "tree"))
    (other / ".git" / lost).unlink()
    assert main_checkout(tmp_path / "tree") == tmp_path / "tree"


def test_a_worktree_that_git_moves_stands_for_the_same_checkout(
    other: Path, tmp_path: Path
) -> None:
    git(other, "worktree", "add", "-q", "../tree")
    git(other, "worktree", "move", "../tree", "../moved")
    assert main_checkout(tmp_path / "moved") == other


def by_a_file_that_names_a_worktree(workspace: Path, other: Path, tree: Path) -> None:
    by_file(workspace / ".git", other / ".git" / "worktrees" / "tree")


def by_a_file_that_names_the_repository(workspace: Path, other: Path, tree: Path) -> None:
    by_file(workspace / ".git", other / ".git")


def by_a_link_to_the_file_of_a_worktree(workspace: Path, other: Path, tree: Path) -> None:
    by_link(workspace / ".git", tree / ".git")


def by_a_worktree_of_its_own_making(workspace: Path, other: Path, tree: Path) -> None:
    entry = workspace / "worktrees" / "tree"
    entry.mkdir(parents=True)
    (entry / "gitdir").write_text(f"{workspace}/.git\n")
    (entry / "commondir").write_text(f"{other}/.git\n")
    by_file(workspace / ".git", entry)


def by_a_pipe(workspace: Path, other: Path, tree: Path) -> None:
    entry = workspace / "a" / ".git" / "worktrees" / "tree"
    entry.mkdir(parents=True)
    os.mkfifo(entry / "gitdir")
    by_file(workspace / ".git", entry)


@pytest.mark.parametrize(
    "trick",
    [
        *(by_a_file_that_names_a_worktree, by_a_file_that_names_the_repository),
        *(by_a_link_to_the_file_of_a_worktree, by_a_worktree_of_its_own_making, by_a_pipe),
    ],
)
def test_no_folder_stands_for_another_by_its_own_word_alone(
    workspace: Path, other: Path, tmp_path: Path, trick: Callable[[Path, Path, Path], None]
) -> None:
    git(other, "worktree", "add", "-q", str(tmp_path / "tree"))
    trick(workspace, other, tmp_path / "tree")
    assert main_checkout(workspace) == workspace
    assert main_checkout(workspace / "sub") == workspace / "sub"


def test_the_folder_that_a_repository_names_for_hooks_is_told(
    workspace: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert places_of_hooks(workspace) == ()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text("[core]\nhooksPath = .ours\n")
    assert places_of_hooks(workspace) == (workspace / ".ours",)
    (workspace / "shared").write_text("[core]\nhooksPath = tools/../tools/hooks/\n")
    git(workspace, "config", "include.path", "../shared")
    assert places_of_hooks(workspace) == (workspace / "tools" / "hooks",)
    git(workspace, "config", "--unset", "include.path")
    git(workspace, "config", "core.hooksPath", "~/hooks")
    assert places_of_hooks(workspace) == (tmp_path / "home" / "hooks",)
    git(other, "worktree", "add", "-q", str(workspace / "tree"))
    git(other, "config", "core.hooksPath", "made")
    assert places_of_hooks(workspace / "tree") == (workspace / "tree" / "made",)


def test_hooks_beside_all_the_other_files_are_told_by_their_names(workspace: Path) -> None:
    for folder in (".", str(workspace), ".."):
        git(workspace, "config", "core.hooksPath", folder)
        places = places_of_hooks(workspace)
        assert (workspace / folder / "pre-commit").resolve() in places
        assert all(place.parent == (workspace / folder).resolve() for place in places)


def test_a_repository_that_names_nothing_sound_for_hooks_has_none(workspace: Path) -> None:
    git(workspace, "config", "core.hooksPath", "")
    assert places_of_hooks(workspace) == ()
    (workspace / ".git" / "config").write_text("[core\n")
    assert places_of_hooks(workspace) == ()
