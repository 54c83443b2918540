"""Whose a piece of configuration is, told from where it was read."""

import os
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parents[2]


class Owner(StrEnum):
    """Who is behind a file; those before have more power than those after."""

    PROGRAM = "program"
    """What ships with this program."""
    USER = "user"
    """The user's own homes, settings and environment."""
    PROJECT = "project"
    """Everything below the project's folder: it comes with what was cloned."""
    STRANGER = "stranger"
    """What was fetched, and every file whose owner can't be found."""

    @property
    def is_trusted(self) -> bool:
        """Whether what it says counts without a question."""
        return self in (Owner.PROGRAM, Owner.USER)


def weakest(*owners: Owner) -> Owner:
    """Return the owner with the least power: what several contribute to is no more trusted."""
    return max(owners, key=list(Owner).index, default=Owner.STRANGER)


class Ownership:
    """Whose the files of this machine are.

    Args:
        home: The Amplifier home; what was fetched into its cache is strangers'.
        project: The project's folder.
        shipped: Folders that come with the program beside its package.
        own: Folders the user said are their own.
    """

    def __init__(
        self, home: Path, project: Path, shipped: Iterable[Path] = (), own: Iterable[Path] = ()
    ) -> None:
        self.home = home
        self.project = project
        self._shipped = tuple(shipped)
        self._own = tuple(own)

    def owner_of(self, path: Path) -> Owner:
        """Return the owner of a file or folder.

        A link is as little trusted as the place it is in and the place it leads to.
        """
        try:
            spellings = {Path(os.path.abspath(path)), path.resolve()}
        except (OSError, ValueError, RuntimeError):
            return Owner.STRANGER
        return weakest(*map(self._owner, spellings))

    def _owner(self, path: Path) -> Owner:
        place = os.path.join(path, "")
        around = [(len(root), owner) for root, owner in self._roots if place.startswith(root)]
        # The innermost folder counts: a home may be in a project, and a project in a home.
        depth = max((depth for depth, _ in around), default=0)
        # Of two that are the same folder, the one that was declared first.
        return next((owner for each, owner in around if each == depth), Owner.STRANGER)

    @cached_property
    def _roots(self) -> list[tuple[str, Owner]]:
        known = [(place, Owner.PROGRAM) for place in (_PACKAGE, *self._shipped)]
        known += [(self.home / "cache", Owner.STRANGER), (self.home, Owner.USER)]
        own = [place.resolve() for place in self._own]
        project = self.project.resolve()
        trusted = any(project.is_relative_to(place) for place in own)
        known += [(place, Owner.USER) for place in own]
        known.append((self.project, Owner.USER if trusted else Owner.PROJECT))
        spelled = [(each, owner) for root, owner in known for each in (root, root.resolve())]
        return [(os.path.join(os.path.abspath(root), ""), owner) for root, owner in spelled]
