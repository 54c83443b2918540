"""What is the user's beside one command in the sandbox, and is kept from it."""

import os
from collections.abc import Iterable, Set
from pathlib import Path

from amplifier_tui.base.commands.held.places import HeldPlaces


class UsersPlaces:
    """What the user, or this program for the user, made while a command runs.

    To later commands that is read-only, and as far as can be done to this one.

    Attributes:
        takes_up: Whether git runs, which has to write what it checks out.
    """

    def __init__(self) -> None:
        self.takes_up = False
        self._places: set[Path] = set()
        self._held: HeldPlaces | None = None
        self._ended = False

    def __contains__(self, place: Path) -> bool:
        """Whether a place is one of them."""
        return place in self._places

    def add(self, places: Set[Path]) -> None:
        """Add some. Blocking, but for a moment only."""
        new = places - self._places
        self._places |= places
        if new and self._held is not None:
            self._held.add(self._mountable(new))

    def lose(self) -> None:
        """Forget what is gone: what comes in its place is another's. Blocking."""
        # A copy: more may be added meanwhile.
        self._places -= {each for each in tuple(self._places) if not os.path.lexists(each)}

    def hold(self, pid: int, read_only: Iterable[Path]) -> None:
        """Keep them from the command, and what is read-only, whoever replaces it. Blocking.

        Args:
            pid: The number of the process that made its sandbox.
            read_only: What is read-only to it.
        """
        self._held = HeldPlaces(pid, (*read_only, *self._mountable(self._places)))
        self._held.begin()
        if self._ended:
            self._held.close()

    def end(self) -> None:
        """The command has ended. Blocking."""
        self._ended = True
        if self._held is not None:
            self._held.close()

    def _mountable(self, places: Iterable[Path]) -> list[Path]:
        # In its own folder git has to write, whoever made that.
        return [] if self.takes_up else [each for each in places if ".git" not in each.parts]
