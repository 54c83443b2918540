"""The submodules of a worktree, whose repositories lie in its own git folder and go with it.

They are looked at as everything of a repository is: no program runs that one of them names.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from amplifier_tui.base.git import brings_filters_now, git_output_now, submodules_now
from amplifier_tui.base.text import one_line
from amplifier_tui.host.cards import work_in_words

STATUS: Final = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty")
"""Lists what is changed; git would look into submodules with the filters that those name."""
_MODULES: Final = "modules"
"""Where git keeps the repositories of submodules, in the git folder of their own repository."""
_INNER: Final = re.compile(r"/modules/")
_BARE: Final = ("--git-dir=.", "--work-tree=.")
"""In a git folder: its files may be gone, where no other command would go on."""
_EVERYTHING: Final = ("--exclude=refs/tags/*", "--exclude=refs/remotes/*", "--all")
"""What was made here: branches, what is checked out, and what is stashed."""
_MOST: Final = 100
"""Submodules that are looked into."""


class Submodules(NamedTuple):
    """What lies in the submodules of a worktree.

    Attributes:
        there: Git keeps a repository for one in the worktree, or beside it.
        work: What would be lost with them, in words, for each that holds some.
        ignored: Files in them that git ignores.
    """

    there: bool
    work: tuple[str, ...]
    ignored: int


class _Submodule(NamedTuple):
    name: str
    git: Path | None
    folder: Path | None


def look_into_submodules(top: Path, private: Path, common: Path) -> Submodules:
    """Look into the submodules of a worktree, and into theirs. Blocking.

    Args:
        top: The top folder of its checkout.
        private: The git folder of that checkout alone.
        common: The git folder of all checkouts.

    Raises:
        OSError: git can't tell which there are.
    """
    found = list(_submodules(top, private))
    work: list[str] = []
    ignored = 0
    for each in found[:_MOST]:
        name = f"the submodule {one_line(each.name, 100)}"
        changes = _changes(each.folder) if each.folder is not None else []
        commits = commits_only_in(each.git, private, common) if each.git is not None else None
        if changes is None or commits is None:
            work.append(f"changes in {name} that can't be told")
            continue
        beside = sum(entry.startswith("!!") for entry in changes)
        ignored += beside
        words = work_in_words(len(changes) - beside, commits, "no other repository")
        work += [f"{words} in {name}"] if words else []
    if len(found) > _MOST:
        work.append(f"{len(found) - _MOST} more submodules than are looked into")
    return Submodules(bool(found), tuple(work), ignored)


def git_folder_of(folder: Path) -> Path | None:
    """Return the git folder of the checkout that a folder is in; None where git can't tell."""
    found = git_output_now(folder, "rev-parse", "--absolute-git-dir")
    return None if found is None else Path(found.removesuffix("\n")).resolve()


def commits_only_in(git: Path, private: Path, common: Path, commit: str = "") -> int | None:
    """Count the commits of a submodule that no other repository is known to have. Blocking.

    What it fetched or pushed is elsewhere, and so is what the same submodule has in the checkout
    that the worktree was made of.

    Args:
        git: The submodule's git folder.
        private: The git folder of the worktree.
        common: The git folder of all checkouts.
        commit: Only those that this one is made of; all by default.

    Returns:
        None where git can't tell.
    """
    elsewhere = ["FETCH_HEAD"]
    if git.is_relative_to(private):
        same = common / git.relative_to(private)
        elsewhere += (git_output_now(same, *_BARE, "rev-parse", "--all", "HEAD") or "").split()
    asked = ("rev-list", "--count", "--ignore-missing", *([commit] if commit else _EVERYTHING))
    counted = git_output_now(git, *_BARE, *asked, "--not", "--remotes", *elsewhere, "--")
    return None if counted is None else int(counted)


def _changes(folder: Path) -> list[str] | None:
    """Return what git lists as changed, new or ignored; None where it can't tell."""
    if brings_filters_now(folder):
        return None
    listed = git_output_now(folder, *STATUS, "--ignored", "--untracked-files=all")
    return None if listed is None else [entry for entry in listed.split("\0") if entry]


def _submodules(top: Path, private: Path) -> Iterator[_Submodule]:
    """Yield those that are checked out, and those whose repositories are kept all the same."""
    seen = set[Path | None]()
    for folder in _checked_out(top):
        git = git_folder_of(folder)
        # One that a link leads to loses nothing, and neither does one that is kept elsewhere.
        if git is None or git.is_relative_to(top) or git.is_relative_to(private):
            yield _Submodule(str(folder.relative_to(top)), git, folder)
        seen.add(git)
    modules = private / _MODULES
    for git in _kept_in(modules):
        if git not in seen:
            name = _INNER.sub("/", git.relative_to(modules).as_posix())
            yield _Submodule(name, git, None)


def _checked_out(top: Path) -> Iterator[Path]:
    looked, left = set[Path](), [top]
    while left:
        folder = left.pop()
        looked.add(folder)
        found = submodules_now(folder)
        if found is None:
            raise OSError(f"git can't tell the submodules of {folder}")
        for below in found:
            if below.resolve() == below and below not in looked:
                yield below
                left.append(below)


def _kept_in(folder: Path) -> Iterator[Path]:
    """Yield the git folders below a folder."""
    for each in sorted(folder.iterdir()) if folder.is_dir() else ():
        if (each / "HEAD").is_file():
            yield each
            yield from _kept_in(each / _MODULES)
        elif not each.is_symlink():
            yield from _kept_in(each)
