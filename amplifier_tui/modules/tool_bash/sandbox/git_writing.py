"""What a command may leave in the folders of repositories in which git has to write."""

import os
import re
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.files.nearby import FolderListing
from amplifier_tui.base.git import (
    TIMEOUT,
    change_now,
    git_blobs_now,
    git_bytes_now,
    git_output_now,
)
from amplifier_tui.modules.tool_bash.sandbox.git_folders import (
    Runs,
    folders_of_git,
    leads_back,
    places_of_git,
    run_by_continuing,
)
from amplifier_tui.modules.tool_bash.sandbox.git_outside import makes_repository_outside
from amplifier_tui.modules.tool_bash.sandbox.opened import Identity, identity_of
from amplifier_tui.modules.tool_bash.sandbox.tracked import commits_here

TAKES_EFFECT: Final = "would take effect on other programs"
_NAMES_OTHERS: Final = (
    "names files outside of its checkout, which git would write (`git reset` makes it anew)"
)
_SHALLOW: Final = "shallow"
_PARENT: Final = re.compile(rb"^parent ([0-9a-f]+)$", re.MULTILINE)
_HIDES: Final = "would have git take older commits for none that are there, and lose them"
_MOST_NAMES: Final = 64_000_000
"""Bytes of what an index names."""


class GitWriting:
    """The folders of repositories in which one command may write. Blocking.

    Args:
        repositories: Those in the workspace: what git obeys in them is looked at as what else is
            there.
        outside: That of the workspace's own repository where it is outside; else None.
    """

    def __init__(self, repositories: Set[Path] = frozenset(), outside: Path | None = None) -> None:
        self._repositories = repositories | ({outside} if outside else frozenset())
        self._outside = outside
        self._obeyed = self._obeyed_outside()
        self._indexes = self._all_indexes()
        self._whole = {git for git in self._repositories if not os.path.lexists(git / _SHALLOW)}
        self._replaced = {git: _replaced(git) for git in self._repositories}

    def root(self, place: Path, workspace: Path) -> Path:
        """Return the folder that may be written in and holds a place."""
        outside = self._outside
        return outside if outside is not None and outside in place.parents else workspace

    def runs(self) -> Runs:
        """Return what git would run when something that stopped in them is continued."""
        return run_by_continuing(self._repositories)

    def came(self) -> Iterator[tuple[Path, str]]:
        """Yield what came there since and would take effect, with what it does."""
        for place, identity in self._obeyed_outside().items():
            if self._obeyed.get(place) == identity or (
                # It was read-only to the command.
                place in self._obeyed and not os.path.islink(place)
            ):
                continue
            assert self._outside is not None
            if not leads_back(place) and not makes_repository_outside(self._outside.parent):
                yield place, TAKES_EFFECT
        for git in self._whole:
            if os.path.lexists(git / _SHALLOW) and not _is_cut_off(git):
                yield git / _SHALLOW, _HIDES
        for index, identity in self._all_indexes().items():
            if self._indexes.get(index) != identity:
                if _names_others(index):
                    yield index, _NAMES_OTHERS
                else:
                    self._indexes[index] = identity

    def show_all_as_it_is(self) -> list[tuple[Path, str]]:
        """Take away what came there to show other contents for commits and files (`git replace`).

        Returns:
            The folders in which that was, with what was shown for what.
        """
        found = []
        for git, before in self._replaced.items():
            now = None if before is None else _replaced(git)
            if before is None or now is None:
                continue  # Not to be told from what was there.
            new = {name: now[name] for name in now if before.get(name) != now[name]}
            for name in new:
                change_now(git, f"--git-dir={git}", "update-ref", "-d", name, timeout=TIMEOUT)
            if new:
                pairs = (f"{name.rpartition('/')[2]} by {shown}" for name, shown in new.items())
                found.append((git, ", ".join(pairs)))
        return found

    def leave(self, place: Path) -> None:
        """Take a place for one that was there."""
        self._whole.discard(place.parent)
        places = self._indexes if place in self._all_indexes() else self._obeyed
        places.update(_identities({place}))

    def _obeyed_outside(self) -> dict[Path, Identity]:
        if self._outside is None:
            return {}
        places = set(places_of_git(self._outside, FolderListing())) - {self._outside}
        return _identities(places)

    def _all_indexes(self) -> dict[Path, Identity]:
        listing = FolderListing()
        return _identities(
            {
                folder / "index"
                for git in self._repositories
                for folder, _ in folders_of_git(git, listing)
            }
        )


def _identities(places: Set[Path]) -> dict[Path, Identity]:
    found = ((place, identity_of(place)) for place in places)
    return {place: identity for place, identity in found if identity is not None}


def _replaced(git: Path) -> dict[str, str] | None:
    """Return the references by which git shows something else for what is there, and what."""
    asked = ("for-each-ref", "--format=%(refname) %(objectname)", "refs/replace/")
    told = git_output_now(git, f"--git-dir={git}", *asked)
    if told is None:
        return None
    return {name: shown for name, _, shown in (row.partition(" ") for row in told.splitlines())}


def _is_cut_off(git: Path) -> bool:
    """Whether a repository lacks what is behind the commits that it is said to end at.

    As after `git fetch --depth`: without that file git could not tell any more what is there.
    """
    try:
        names = read_regular(git / _SHALLOW, _MOST_NAMES).decode("ascii").split()
    except (OSError, ValueError):
        return False
    commits = git_blobs_now(git, names, most_bytes=_MOST_NAMES).values()
    behind = {name for text in commits for name in _PARENT.findall(text.partition(b"\n\n")[0])}
    return len(commits_here(git, {name.decode() for name in behind})) < len(behind)


def _names_others(index: Path) -> bool:
    """Whether an index has names that lead out of the checkout: git writes them unseen."""
    git = index.parent
    asked = (f"--git-dir={git}", "ls-files", "-z")
    listed = git_bytes_now(git, *asked, most_bytes=_MOST_NAMES)
    return any(
        part in (b"", b".", b"..") or part.lower() == b".git"
        for name in (listed or b"").split(b"\0")
        if name
        for part in name.split(b"/")
    )
