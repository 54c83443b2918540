"""What configures programs in a workspace, and whether it is still what it was."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.nearby import nearby
from amplifier_tui.base.protected import configuring, starts_from_home

_MOST_PLACES: Final = 200
_OF_GIT: Final = ("hooks", "config", "info", "config.worktree", "commondir")
"""What git obeys in its folder; the rest it has to write itself."""
_OF_WORKTREE: Final = ("config.worktree", "commondir", "gitdir")
_NO_MODULES: Final = frozenset({"objects", "refs", "logs", "lfs", *_OF_GIT})
_MOST_MODULES: Final = 500

Identity = tuple[int, ...]
"""Tells a file that was there from one that was put in its place."""


def configuring_places(workspace: Path) -> dict[Path, Identity]:
    """Return what configures programs there, as far as a look of a tenth of a second goes.

    Of a repository that is its folder, and in it what git obeys.
    """
    identities = ((place, _identity(place)) for place in _places(workspace))
    return {place: identity for place, identity in identities if identity is not None}


def changed_places(workspace: Path, before: dict[Path, Identity]) -> list[Path]:
    """Return what configures programs there and was not, or was another file, before.

    What is in one of these is left out.
    """
    now = configuring_places(workspace)
    for place in before:
        # Among very many entries it may not have been come across again.
        identity = _identity(place)
        if identity is not None:
            now[place] = identity
    made = {place for place, identity in now.items() if before.get(place) != identity}
    return sorted(place for place in made if made.isdisjoint(place.parents))


def is_repository(place: Path) -> bool:
    """Whether a place is the folder of a repository, in which git has to write."""
    return place.name == ".git" and place.is_dir() and not place.is_symlink()


def _identity(place: Path) -> Identity | None:
    try:
        found = place.lstat()
    except OSError:
        return None
    identity = (found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode))
    # Numbers of files that are gone are given out again; folders change with what is in them.
    return identity if stat.S_ISDIR(found.st_mode) else (*identity, found.st_ctime_ns)


def _places(workspace: Path) -> Iterator[Path]:
    found = 0
    home = Path.home().resolve()
    for entry, folder in nearby(workspace):
        if found >= _MOST_PLACES:
            return
        if entry.name == ".git" and entry.is_dir(follow_symlinks=False):
            for place in _of_repository(Path(entry)):
                yield place
                found += 1
        elif configuring(entry.name) or (folder == home and starts_from_home(Path(entry.name))):
            yield Path(entry)
            found += 1


def _of_repository(git: Path) -> Iterator[Path]:
    yield git
    yield from (git / name for name in _OF_GIT)
    for worktree in _folders(git / "worktrees"):
        yield from (worktree / name for name in _OF_WORKTREE)
    # Submodules, and theirs.
    left, seen = [git / "modules"], 0
    while left and seen < _MOST_MODULES:
        for folder in _folders(left.pop(0)):
            seen += 1
            if (folder / "HEAD").exists():
                yield from (folder / name for name in _OF_GIT)
                left.append(folder / "modules")
            elif folder.name not in _NO_MODULES:
                left.append(folder)


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(each) for each in entries if each.is_dir(follow_symlinks=False)]
    except OSError:
        return []
