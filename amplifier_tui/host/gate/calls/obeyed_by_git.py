"""What programs obey in a workspace although its name alone does not say so.

A repository's folder may have any name, its hooks may be kept in any folder, and links lead to
files: those in the home to a repository of dotfiles, others to scripts that are hooks.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.nearby import (
    Entries,
    FolderListing,
    links_below,
    nearby,
    obeyed_from_home,
)
from amplifier_tui.base.files.under import is_under
from amplifier_tui.base.protected import configures, configures_as_link, configuring
from amplifier_tui.base.repositories.settings import places_named_by_settings
from amplifier_tui.host.gate.places import PathPlace, resolved

_GIT: Final = "git"
_HOME: Final = "programs, by a link in your home"
_MARK: Final = "HEAD"
"""Git takes no folder without a file of this name for a repository."""
_OBEYED: Final = frozenset(
    {
        *("config", "config.worktree", "commondir", "gitdir", "hooks", "info"),
        *("remotes", "branches", "modules", "worktrees", "objects", "refs", "packed-refs"),
        *("rebase-merge", "rebase-apply", "sequencer"),
    }
)
"""What git obeys beside it, or goes on with."""
_IGNORE_CASE: Final = sys.platform in ("darwin", "win32")
_MOST_KEPT: Final = 64
_MOST_TARGETS: Final = 2_000


def told_of_git(place: PathPlace) -> PathPlace:
    """Return a place that is written to with what it configures, git's own ways included.

    Blocking: it looks at the disk, and asks git about hooks.
    """
    # The whole disk stands for no folder in particular, as in rules: all its links are too many.
    if place.configures or place.outside or place.root == place.root.parent:
        return place
    about_now = int(time.monotonic())
    if any(is_under(place.path, each) for each in _from_home(place.root, about_now)):
        return replace(place, configures=_HOME)
    for whom, target in _from_links(place.root, about_now):
        if is_under(place.path, target):
            return replace(place, configures=whom)
    obeyed = any(_in_repository(path, place.root) for path in (place.path, place.named))
    return replace(place, configures=_GIT) if obeyed or _holds_hooks(place) else place


def _in_repository(path: Path, root: Path) -> bool:
    """Whether a file belongs to a repository's folder, or would make one of the folder it is in.

    Whatever else is there: the rest may be written before or later.
    """
    if not path.is_relative_to(root):
        return False
    if _plain(path.name) == _plain(_MARK):
        return True
    parts, folder = path.relative_to(root).parts, root
    for part in parts:
        if _plain(part) in _OBEYED and os.path.lexists(folder / _MARK):
            return True
        folder /= part
    return False


def _plain(name: str) -> str:
    return name.casefold().rstrip(" .") if _IGNORE_CASE else name


def _holds_hooks(place: PathPlace) -> bool:
    # A question that takes long is not put anew for each of many files.
    about_now = int(time.monotonic())
    found = (
        each
        for path in dict.fromkeys((place.path, place.named))
        for holder in _checkouts(path)
        for each in _hooks(holder, about_now)
    )
    return any(
        place.named.is_relative_to(each) or is_under(place.path, resolved(each)) for each in found
    )


def _checkouts(path: Path) -> Iterator[Path]:
    return (each for each in path.parents if os.path.lexists(each / ".git"))


@lru_cache(maxsize=_MOST_KEPT)
def _from_home(root: Path, _: int) -> tuple[Path, ...]:
    return obeyed_from_home(root)


@lru_cache(maxsize=_MOST_KEPT)
def _from_links(root: Path, _now: int) -> tuple[tuple[str, Path], ...]:
    """Return where links lead that programs look for in a workspace, and what those are."""
    above = (each / ".git" for each in root.parents)
    links = [*chain.from_iterable(_links_in(git) for git in above if git.is_dir())]
    for entry, _ in nearby(root, FolderListing(lambda *_: False, _entries_of(root))):
        links += [Path(entry)] if entry.is_symlink() else _links_in(Path(entry))
    found: dict[Path, str] = {}
    left = [(whom, resolved(link)) for link in links if (whom := _whom(link, root))]
    while left and len(found) < _MOST_TARGETS:
        whom, target = left.pop()
        if root in target.parents and target not in found:
            found[target] = whom
            left += [(whom, resolved(each)) for each in links_below(target)]
    return tuple((whom, target) for target, whom in found.items())


def _whom(link: Path, root: Path) -> str:
    return configures(link, root) or configures_as_link(link.name)


@lru_cache(maxsize=_MOST_KEPT)
def _entries_of(_: Path) -> Entries:
    return {}


def _links_in(folder: Path) -> Iterable[Path]:
    """Return the links in a folder that such a walk does not go into, for what it configures."""
    if folder.name == ".git":
        places = (folder, folder / "hooks", folder / "info")
        return (each for at in places if at.is_dir() for each in at.iterdir() if each.is_symlink())
    return links_below(folder) if configuring(folder.name, folder.parent.name) else ()


@lru_cache(maxsize=_MOST_KEPT)
def _hooks(checkout: Path, _: int) -> tuple[Path, ...]:
    named = places_named_by_settings(checkout)
    return (*named, *chain.from_iterable(map(links_below, named)))
