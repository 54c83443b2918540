"""What git obeys in the folder of a repository, or runs, and what leads its writing elsewhere.

Also what it has fetched, and what it has still to apply.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from amplifier_tui.base.files import (
    FileTooLargeError,
    NotRegularFileError,
    read_regular,
)
from amplifier_tui.base.files.nearby import FolderListing
from amplifier_tui.base.git import git_output_now
from amplifier_tui.base.repositories.places import is_git_folder

_OBEYED: Final = (
    *("hooks", "config", "info", "config.worktree", "commondir"),
    # Remotes as they were kept before there was a configuration for them.
    *("remotes", "branches"),
)
"""What git obeys in its folder; the rest it has to write itself."""
_WITH_LINKS: Final = ("hooks", "info")
"""Folders of it in which links may lead to files elsewhere, which git runs or obeys."""
_OF_WORKTREE: Final = ("gitdir", *(name for name in _OBEYED if name != "info"))
"""Without its `commondir` git takes a worktree's folder for a whole repository."""
_LONGEST_LINE: Final = 10_000
_LARGE: Final = frozenset({"objects", "lfs", "annex"})
"""Folders in it with very many files, few of which are written a second time."""
_REWRITTEN: Final = ("objects", "objects/info", "objects/info/commit-graphs", "objects/pack")
"""Where these are."""


def is_head(name: str) -> bool:
    """Whether this is the name of the file by which git knows a folder for a repository."""
    return name.casefold() == "head"


def is_of_git(place: Path) -> bool:
    """Whether a place belongs to a repository's folder, by its name."""
    return ".git" in place.parts or is_head(place.name)


def is_repository(place: Path) -> bool:
    """Whether a place is the folder of a repository, in which git has to write."""
    return is_git_folder(place) and os.path.isdir(place) and not os.path.islink(place)


def repository_named(mark: Path) -> Path | None:
    """Return the folder of the repository that a file called `.git` names; None for none."""
    try:
        text = read_regular(mark, _MOST_BYTES).decode().strip()
        git = (mark.parent / text.removeprefix("gitdir:").strip()).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    kept = git.parent.parent if git.parent.name == "worktrees" else git
    return kept if is_git_folder(kept) else None


def links_that_git_runs(checkout: Path) -> list[Path]:
    """Return the links among the hooks of a repository, and in what it obeys beside them."""
    mark = checkout / ".git"
    git = mark if mark.is_dir() else repository_named(mark)
    folders = [] if git is None else [git / name for name in _WITH_LINKS]
    entries = (each for folder in folders for each in FolderListing().entries(folder))
    return [Path(each) for each in entries if each.is_symlink()]


def is_link_of_git(place: Path) -> bool:
    """Whether a place is a link among what git writes itself, and so has to be able to write."""
    return (
        ".git" in place.parts
        and os.path.islink(place)
        and not any(
            each.name in _OBEYED and is_git_folder(each.parent) for each in (place, *place.parents)
        )
    )


def places_of_git(git: Path, listing: FolderListing) -> Iterator[Path]:
    """Yield a repository's folder, what git obeys in it, and the links that lead out of it.

    Also of its worktrees and submodules. However many entries there are, all are looked at: a
    command could make as many as it takes to hide one. Blocking.

    Args:
        listing: Lists the folders.
    """
    yield git
    folders = dict(folders_of_git(git, listing))
    for folder, obeyed in folders.items():
        yield from (folder / name for name in obeyed)
        for name in _WITH_LINKS:
            yield from (Path(each) for each in listing.entries(folder / name) if each.is_symlink())
        yield from _links(folder, {folder / name for name in obeyed} | folders.keys(), listing)


def leads_back(place: Path) -> bool:
    """Whether a file is one by which a worktree and its repository name each other. Blocking."""
    if place.parent.parent.name != "worktrees" or place.is_symlink():
        return False
    try:
        text = read_regular(place, _MOST_BYTES).decode().strip()
        if place.name == "commondir":
            return text == "../.."
        mark = Path(text)
        back = read_regular(mark, _MOST_BYTES).decode().strip()
    except (OSError, ValueError):
        return False
    return place.name == "gitdir" and mark.name == ".git" and back == f"gitdir: {place.parent}"


def is_one_line(place: Path) -> bool:
    """Whether a file is what git writes where one name is all that is in it. Blocking."""
    try:
        text = read_regular(place, _LONGEST_LINE)
    except OSError:
        return False
    return text == text.strip() + b"\n" and text.count(b"\n") == 1


def folders_of_git(git: Path, listing: FolderListing) -> Iterator[tuple[Path, Sequence[str]]]:
    """Yield a repository's folder, those of its worktrees and submodules, and of theirs.

    With each what git obeys in it.
    """
    left: list[tuple[Path, Sequence[str]]] = [(git, _OBEYED)]
    while left:
        folder, obeyed = left.pop()
        yield folder, obeyed
        left += [(each, _OF_WORKTREE) for each in _folders(folder / "worktrees", listing)]
        left += [(each, _OBEYED) for each in _modules(folder, listing)]


def _modules(git: Path, listing: FolderListing) -> Iterator[Path]:
    left = [git / "modules"]
    while left:
        for folder in _folders(left.pop(), listing):
            if is_git_folder(folder):
                yield folder
            else:
                # A part of a submodule's name, which may be any.
                left.append(folder)


def _links(git: Path, elsewhere: Set[Path], listing: FolderListing) -> Iterator[Path]:
    """Yield the links in a folder of git's, but what is looked at by itself."""
    # Through a link to a start-up file of a shell, the name of a branch or the words of a commit
    # would be run.
    left = [git]
    while left:
        folder = left.pop()
        for entry in listing.entries(folder):
            place = Path(entry)
            if place in elsewhere:
                continue
            if entry.is_symlink():
                if not _is_reference(git, place):
                    yield place
            elif entry.is_dir(follow_symlinks=False) and not (
                folder == git and entry.name in _LARGE
            ):
                left.append(place)
    for name in _REWRITTEN:
        yield from (Path(each) for each in listing.entries(git / name) if each.is_symlink())


def _is_reference(git: Path, link: Path) -> bool:
    """Whether a link is a reference of git's own (`core.preferSymlinkRefs`): it stays inside."""
    if link.name != "HEAD" and git / "refs" not in link.parents:
        return False
    try:
        parts = Path(os.readlink(link)).parts
    except OSError:
        return False
    return parts[:1] == ("refs",) and ".." not in parts


def _folders(folder: Path, listing: FolderListing) -> list[Path]:
    return [Path(each) for each in listing.entries(folder) if each.is_dir(follow_symlinks=False)]


# --- what git runs later -------------------------------------------------------------------------

_MOST_BYTES: Final = 4_000_000
_RUNS: Final = re.compile(rb"[ \t]*(?:exec|x)[ \t]+(.*)", re.DOTALL)
_STRATEGY: Final = re.compile(rb"\bstrategy\s*=(.*)", re.IGNORECASE)
_OWN: Final = frozenset({b"", b"ort", b"recursive", b"resolve", b"octopus", b"ours", b"subtree"})
_UNREADABLE: Final = frozenset({b"anything"})

Runs = dict[Path, frozenset[bytes]]
"""By file, what git would run for it."""


def _commands(text: bytes) -> Iterable[bytes]:
    return filter(None, map(_command, text.split(b"\n")))


def _command(line: bytes) -> bytes:
    found = _RUNS.match(line)
    return found[1].strip() if found else b""


def _strategy(text: bytes) -> Iterable[bytes]:
    return {text.strip()} - _OWN


def _picking_strategy(text: bytes) -> Iterable[bytes]:
    return {each.strip() for each in _STRATEGY.findall(text)} - _OWN


_LIST: Final = "rebase-merge/git-rebase-todo"
_READ: Final[dict[str, Callable[[bytes], Iterable[bytes]]]] = {
    _LIST: _commands,
    "rebase-merge/strategy": _strategy,
    "sequencer/opts": _picking_strategy,
}


def run_by_continuing(repositories: Iterable[Path]) -> Runs:
    """Return what git would run when a rebase or a cherry-pick that stopped is continued.

    That are the commands in the list of a rebase, and a strategy that is none of git's own: with a
    slash in its name it is a file below the current folder. Lists of cherry-picks and of mails run
    nothing. Blocking.

    Args:
        repositories: Their folders; worktrees and submodules count too.
    """
    found: Runs = {}
    for git in repositories:
        for folder, _ in folders_of_git(git, FolderListing()):
            for name, read in _READ.items():
                try:
                    found[folder / name] = frozenset(read(read_regular(folder / name, _MOST_BYTES)))
                except (FileNotFoundError, NotADirectoryError):
                    continue
                except OSError:
                    found[folder / name] = _UNREADABLE
    return {place: runs for place, runs in found.items() if runs}


def rest_of_list(kept: Path, place: Path, commands: frozenset[bytes]) -> bytes | None:
    """Return the list of a rebase with no commands but some: with it the rebase can go on.

    None for what is no list: without a strategy git takes its own. Blocking.

    Args:
        kept: Where the list is now.
        place: Where it was.
        commands: Those that stay.
    """
    if not place.match(_LIST) or kept.is_symlink():
        return None
    try:
        lines = read_regular(kept, _MOST_BYTES).split(b"\n")
    except (NotRegularFileError, FileTooLargeError, IsADirectoryError):
        return None
    return b"\n".join(line for line in lines if _command(line) in (b"", *commands))


# --- what git has, has fetched, and has still to apply -------------------------------------------

_MOST_NAMES: Final = 64_000_000
_LONGEST: Final = 20.0
"""Seconds that git may take to list them."""
_HEX: Final = re.compile(r"[0-9a-f]{40,}")
_BRANCH: Final = re.compile(r"(?:branch|tag) '|[^']*\Z")
"""How git begins where it says what it fetched; the default branch has no name there."""
_OF_OWNERS: Final = re.compile(r"refs/(?:heads|tags)/|[^/]*\Z")
"""What in a remote is by those who own it."""
_STASH: Final = "refs/stash"
_MOST_LEFT: Final = 1_000
"""Commits that were checked out and may have no name any more."""
_MAPPED: Final = r"^remote\..*\.fetch$"
_FETCH_HEAD: Final = "FETCH_HEAD"
_GOES_ON_WITH: Final = (
    *("MERGE_HEAD", "MERGE_AUTOSTASH", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"),
    *("sequencer/todo", "rebase-merge/git-rebase-todo", "rebase-merge/autostash"),
    *("rebase-merge/onto", "rebase-merge/orig-head", "rebase-merge/stopped-sha"),
    *("rebase-apply/autostash", "rebase-apply/onto", "rebase-apply/orig-head"),
    "rebase-apply/original-commit",
)
"""Files with commits that a merge, a rebase, a cherry-pick or a revert goes on with."""
_WORDS: Final = 4
"""Among so many words of a row of theirs the commit stands; the rest is what it says of itself."""
_MAY_BE_COMMIT: Final = re.compile(r"[0-9a-f]{4,64}")


def tips_of(checkout: Path) -> frozenset[str]:
    """Return the newest commits of a repository, and those that were checked out. Blocking."""
    told = _listed(checkout, "for-each-ref", "--format=%(objectname) %(refname)")
    names = [row.partition(" ")[::2] for row in told.splitlines()]
    head = git_output_now(checkout, "rev-parse", "--verify", "--quiet", "HEAD") or ""
    # But for the newest, stashes have no name.
    stashed = any(ref == _STASH for _, ref in names) and git_output_now(
        checkout, "rev-list", "--walk-reflogs", _STASH
    )
    walked = git_output_now(
        checkout, "rev-list", "--walk-reflogs", f"--max-count={_MOST_LEFT}", "HEAD"
    )
    found = f"{head} {stashed or ''} {walked or ''}".split()
    return frozenset((*found, *(name for name, _ in names)))


def remote_tips(checkout: Path) -> frozenset[str]:
    """Return the newest commits that git has fetched from the remotes of a repository. Blocking.

    Only of their branches: what else settings have git fetch, such as what anybody proposes to a
    project, is not theirs.
    """
    others = [to for of, to in _fetched_to(checkout) if not _OF_OWNERS.match(of)]
    listed = _listed(checkout, "for-each-ref", "--format=%(objectname) %(refname)", "refs/remotes/")
    rows = (row.partition(" ") for row in listed.splitlines())
    return frozenset(name for name, _, at in rows if not any(fnmatchcase(at, to) for to in others))


class Named(NamedTuple):
    """Commits that have no reference, by their names as git wrote them, which may be short.

    Attributes:
        fetched: What was fetched the last time, whatever it is.
        owned: Of that the branches and tags of a remote.
        pending: What git goes on with, where it has stopped.
    """

    fetched: frozenset[str] = frozenset()
    owned: frozenset[str] = frozenset()
    pending: frozenset[str] = frozenset()

    def since(self, before: "Named") -> frozenset[str]:
        """Return what was not named so before."""
        return (self.fetched - before.fetched) | (self.pending - before.pending)


def named_beside(checkout: Path) -> Named:
    """Return the commits that git names beside its references, and may still apply. Blocking."""
    git = _git_folder(checkout)
    if git is None:
        return Named()
    rows = [row.split("\t", 2) for row in _text(git / _FETCH_HEAD).split("\n")]
    found = [(row[0], row[-1]) for row in rows if _HEX.fullmatch(row[0])]
    return Named(
        fetched=frozenset(name for name, _ in found),
        owned=frozenset(name for name, said in found if _BRANCH.match(said)),
        pending=frozenset(each for name in _GOES_ON_WITH for each in _commits_in(git / name)),
    )


def _commits_in(file: Path) -> Iterator[str]:
    for row in _text(file).split("\n"):
        yield from filter(_MAY_BE_COMMIT.fullmatch, row.split(maxsplit=_WORDS)[:_WORDS])


def _git_folder(checkout: Path) -> Path | None:
    """Return the folder that git writes such files of a checkout to; a worktree has its own."""
    told = git_output_now(checkout, "rev-parse", "--absolute-git-dir")
    return Path(told.removesuffix("\n")) if told else None


def _text(file: Path) -> str:
    try:
        return read_regular(file, _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _fetched_to(checkout: Path) -> Iterator[tuple[str, str]]:
    """Yield what settings have git fetch of remotes, and as what; `*` is any part of a name."""
    for setting in _listed(checkout, "config", "-z", "--get-regexp", _MAPPED).split("\0"):
        of, _, to = setting.partition("\n")[2].removeprefix("+").partition(":")
        if to:
            yield of, to


def _listed(checkout: Path, *arguments: str) -> str:
    told = git_output_now(checkout, *arguments, timeout=_LONGEST, most_bytes=_MOST_NAMES)
    return told or ""
