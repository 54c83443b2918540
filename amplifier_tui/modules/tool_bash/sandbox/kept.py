"""Where a session keeps what commands in the sandbox made, and what the looks at it have found."""

import logging
import threading
import time
from collections.abc import Callable, Set
from dataclasses import field
from pathlib import Path
from typing import Final, Protocol
from weakref import WeakSet

from amplifier_tui.base.commands.set_aside import note_set_aside
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.modules.tool_bash.sandbox.configuring import Look
from amplifier_tui.modules.tool_bash.sandbox.git_folders import Runs
from amplifier_tui.modules.tool_bash.sandbox.opened import Identity
from amplifier_tui.modules.tool_bash.sandbox.seen import Known
from amplifier_tui.modules.tool_bash.sandbox.taken_back import Mark, mark_of, renew
from amplifier_tui.modules.tool_bash.sandbox.taken_up import Distrusted

logger = logging.getLogger(__name__)

_WAITING: Final = 0.1
_MOST_WAITING: Final = 2.0
"""Seconds in which what is there may become what the user moves back."""


class Running(Protocol):
    """What a command makes that runs."""

    def made_in(self, look: Look) -> list[Path]:
        """Return what of a look the command made."""

    def leave(self, places: Set[Path], runs: Runs) -> None:
        """Only tell of these when they are changed, and let git run these."""

    def take_commits(self) -> object:
        """Tell of commits that came and hold what would take effect. Blocking."""


@dataclass(slots=True)
class Aside:
    """Where a session keeps what may not take effect.

    Attributes:
        folder: The folder; it stays when the session ends.
        tell: Tells the user.
        moved: What tells that which was moved there from others, by where it was.
        left: What could not be moved, and what it was then: it was not there before the next.
        known: What the looks have found so far.
        running: What the commands make that run.
        told: Changes by others that the user was told of.
        taking: Held by whoever asks what the user has moved back, and says it to the others.
    """

    folder: Path
    tell: Callable[[str], object]
    moved: dict[Path, set[Mark]] = field(default_factory=dict)
    left: dict[Path, Identity | None] = field(default_factory=dict)
    known: Known = field(default_factory=Known)
    running: WeakSet[Running] = field(default_factory=WeakSet)

    told: set[tuple[Path, Identity]] = field(default_factory=set)
    taking: threading.Lock = field(default_factory=threading.Lock)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def forget_made(self, look: Look) -> None:
        """Take out of a look what was not there before: others that run made it, or it was left."""
        with self._lock:
            running = tuple(self.running)
        made = [place for each in running for place in each.made_in(look)]
        left = [place for place, was in self.left.items() if look.places.get(place, ()) == was]
        for place in (*made, *left):
            look.forget(place)

    def moved_to(self, kept: Path, place: Path) -> None:
        """Something was moved there. Blocking."""
        mark = renew(kept)
        if mark is not None:
            self.moved.setdefault(place, set()).add(mark)
        try:
            note_set_aside(self.folder, place, kept)
        except OSError:
            # The user is told where it is all the same.
            logger.warning("%s is not on the list of what was moved aside", kept, exc_info=True)

    @staticmethod
    def patience() -> float:
        """Return until when a look that begins now waits, for all that a command goes on changing.

        In seconds, as `is_taken_back` takes it.
        """
        return time.monotonic() + _MOST_WAITING

    def is_taken_back(self, place: Path, until: float) -> bool:
        """Whether the user has moved something back, where it is now; asked once. Blocking.

        Args:
            until: When to wait no longer for something that still changes.
        """
        marks = self.moved.get(place)
        if not marks:
            return False
        mark, was = mark_of(place), None
        while mark not in marks and mark != was and time.monotonic() < until:
            # On the way from another file system it gets its time last.
            time.sleep(_WAITING)
            mark, was = mark_of(place), mark
        if mark is None or mark not in marks:
            return False
        # From now on commands may know it.
        marks.discard(mark)
        return True

    def leave(self, places: Set[Path], runs: Runs | None = None) -> None:
        """Leave to the user what was made while commands run, as long as these do.

        Args:
            runs: What git may run for others.
        """
        with self._lock:
            running = tuple(self.running)
        for each in running:
            each.leave(places, runs or {})

    @property
    def distrusted(self) -> Distrusted:
        """The commits of commands that hold what would take effect, of all sessions."""
        return Distrusted(self.folder / "commits")

    def take_commits(self) -> None:
        """Know which such commits the commands that run have made so far. Blocking."""
        with self._lock:
            running = tuple(self.running)
        for each in running:
            each.take_commits()

    def begun(self, command: Running) -> None:
        """A command runs."""
        with self._lock:
            self.running.add(command)

    def ended(self, command: Running) -> None:
        """It has ended, and was looked at."""
        with self._lock:
            self.running.discard(command)
