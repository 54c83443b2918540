"""What is the user's beside one command in the sandbox, and is kept from it."""

import os
from collections.abc import Sequence, Set
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
        self._held = HeldPlaces()

    def __contains__(self, place: Path) -> bool:
        """Whether a place is one of them."""
        return place in self._places

    def add(self, places: Set[Path]) -> None:
        """Add some. Blocking, but for a moment only."""
        new = places - self._places
        self._places |= places
        # In its own folder git has to write, whoever made that.
        self.hold([] if self.takes_up else [each for each in new if ".git" not in each.parts])

    def lose(self) -> None:
        """Forget what is gone: what comes in its place is another's. Blocking."""
        # A copy: more may be added meanwhile.
        self._places -= {each for each in tuple(self._places) if not os.path.lexists(each)}

    def hold(self, places: Sequence[Path]) -> None:
        """Keep places read-only to the command, whoever replaces them. Blocking, for a moment."""
        self._held.add(places)

    @property
    def is_told(self) -> bool:
        """Whether the kernel says what of that is replaced; else it is found a moment later."""
        return self._held.is_told

    def begin(self, pid: int) -> None:
        """The command begins; the process with this number makes its sandbox. Blocking."""
        self._held.begin(pid)

    def end(self) -> None:
        """The command has ended. Blocking, but for a moment only."""
        self._held.close()
