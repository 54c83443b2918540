"""What is mounted read-only for a command in the sandbox."""

import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.nearby import FolderListing, target_of
from amplifier_tui.modules.tool_bash.sandbox.git_folders import is_link_of_git, places_of_git

_MOST_READ_ONLY: Final = 200
"""Bubblewrap takes a second for a few hundred; the rest is looked at afterwards."""


def obeyed_outside(repository: Path) -> tuple[Path, ...]:
    """Return what git obeys in a repository's folder outside of the workspace."""
    places = places_of_git(repository, FolderListing())
    found = (place for place in places if place != repository and not place.is_symlink())
    return tuple(islice(filter(Path.exists, found), _MOST_READ_ONLY))


def read_only_places(guarded: Iterable[Path], workspace: Path) -> dict[Path, tuple[Path, ...]]:
    """Return which of what configures programs is to be read-only, the nearest first.

    Returns:
        By its place, what is mounted for it: for a link it is that where it leads, and nothing
        where that is outside of the workspace. There nothing can be changed.
    """
    places = dict.fromkeys(place for place in guarded if not is_link_of_git(place))
    # What is mounted over a folder does not cover where links in it lead.
    outermost = [
        place for place in places if place.is_symlink() or places.keys().isdisjoint(place.parents)
    ]
    of_git = [place for place in outermost if ".git" in place.parts]
    others = [place for place in outermost if ".git" not in place.parts]
    found = {}
    for place in of_git[:_MOST_READ_ONLY] + others[:_MOST_READ_ONLY]:
        target = target_of(place)
        over = [place] if target is None or sys.platform == "darwin" else []
        if target is not None and workspace in target.parents:
            over.append(target)
        found[place] = tuple(over)
    return found
