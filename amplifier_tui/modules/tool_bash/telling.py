"""What is said of what a command made: to the model, and to the user."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.protected import holds_secrets
from amplifier_tui.base.text import one_line, printable

LONGEST_NAME: Final = 200
"""Characters of a path, or of what would run, in a sentence."""

_MOST_NOTES: Final = 20
_MOST_NAMED: Final = 3
_LONGEST_LINE: Final = 60
_MOST_BYTES: Final = 1_000_000
_PAUSE: Final = 60.0
"""Seconds between two notices of one file that goes on changing."""


class Telling:
    """What is said of one command.

    Args:
        workspace: Names are those of paths in it.
        folder: What was moved aside is there.
        tell: Tells the user.
    """

    def __init__(self, workspace: Path, folder: Path, tell: Callable[[str], object]) -> None:
        self._workspace = workspace
        self._folder = folder
        self._tell = tell
        self._notes: list[str] = []
        self._told = 0
        self._changed: dict[Path, tuple[bytes, float]] = {}
        """What was in each file when it was told of, and when that was."""
        self._again: set[Path] = set()

    def name(self, place: Path) -> str:
        """Return what a place is called."""
        inside = place.is_relative_to(self._workspace)
        return cut(printable(str(place.relative_to(self._workspace) if inside else place)))

    def names(self, places: list[Path]) -> str:
        """Return what places are called, of many the first ones."""
        more = len(places) - _MOST_NAMED
        named = ", ".join(map(self.name, places[:_MOST_NAMED]))
        return f"{named} and {more} more" if more > 0 else named

    def note(self, text: str, to_user: str = "") -> None:
        """Say something to the model and, in its own words or others, to the user."""
        self.to_model(text)
        self._told += 1
        if self._told <= _MOST_NOTES:
            self._tell(to_user or text)

    def beside(self, places: list[Path], command: str) -> None:
        """Tell the user of what a call that they let run has made, or a command beside it.

        Args:
            command: The line of that call.
        """
        if places:
            one = len(places) == 1
            does, stays = ("takes", "stays") if one else ("take", "stay")
            line = one_line(command, LONGEST_NAME)
            it = "it" if one else "them"
            self._tell(
                f"{self._all_names(places)}, which {does} effect on other programs, came while "
                f"`{line}` ran outside of the sandbox and a command in it, and {stays}. If that "
                f"is not to make {it}, look at {it}"
            )

    def _all_names(self, places: list[Path]) -> str:
        """Return what places are called that stay: who made one may hide it behind others."""
        more = len(places) - _MOST_NOTES
        named = ", ".join(map(self.name, places[:_MOST_NOTES]))
        return f"{named} and {more} more" if more > 0 else named

    def to_model(self, text: str) -> None:
        """Say something to the model alone."""
        self._notes.append(text)

    def take_notes(self) -> list[str]:
        """Return what to tell the model since the last time."""
        notes, self._notes = self._notes, []
        more = len(notes) - _MOST_NOTES
        return notes if more <= 0 else [*notes[:_MOST_NOTES], f"{more} more likewise"]

    def begin_look(self) -> None:
        """Count from here what the user is told."""
        self._told = 0

    def end_look(self) -> None:
        """Say how much more there was than the user was told."""
        if self._told > _MOST_NOTES:
            more = self._told - _MOST_NOTES
            self._tell(f"{more} more likewise; what was moved is in {self._folder}")

    def changed(self, place: Path, was: bytes) -> None:
        """Tell the user of a file that others changed: at once, then each minute and at the end.

        Blocking.

        Args:
            was: What was in it before; empty where that is not known.
        """
        told, at = self._changed.get(place, (was, None))
        if at is None:
            self._tell_changed(place, "was changed", told)
        elif time.monotonic() - at < _PAUSE:
            self._again.add(place)
        else:
            self._tell_changed(place, "was changed again", told)

    def end(self) -> None:
        """Tell what was changed again since it was told. Blocking."""
        for place in sorted(self._again):
            was, _ = self._changed[place]
            if _content(place) != was:
                self._tell_changed(place, "was changed again", was)

    def _tell_changed(self, place: Path, how: str, was: bytes) -> None:
        # Who has just saved it takes no change for another's but by what is in it.
        self._again.discard(place)
        self._changed[place] = _content(place) or b"", time.monotonic()
        new = f" New in it: {added}." if (added := _added(place, was)) else ""
        who = "you who wrote that" if added else "you"
        self._tell(
            f"{self.name(place)} {how} while a command in the sandbox ran, and stays.{new} If it "
            f"was not {who}, look at it"
        )


def cut(text: str) -> str:
    """Leave out the middle of a long path: what is to be done about it stands behind."""
    half = LONGEST_NAME // 2
    return text if len(text) <= LONGEST_NAME else f"{text[:half]}…{text[-half:]}"


def reason_of(error: Exception) -> str:
    """Return why something could not be done, in few words: a path may be very long."""
    said = error.strerror if isinstance(error, OSError) else ""
    return said or cut(one_line(str(error))) or type(error).__name__


def _content(place: Path) -> bytes | None:
    try:
        return None if place.is_symlink() else read_regular(place, _MOST_BYTES)
    except OSError:
        return None


def _added(place: Path, was: bytes) -> str:
    """Return the last lines that were put into a file; empty where they are not to be shown."""
    now = _content(place)
    if now is None or holds_secrets(place) or not was:
        return ""
    before = set(was.splitlines())
    lines = [line for line in now.splitlines() if line.strip() and line not in before]
    more = len(lines) - _MOST_NAMED
    shown = (
        one_line(line.decode("utf-8", "replace").strip(), _LONGEST_LINE)
        for line in lines[-_MOST_NAMED:]
    )
    listed = ", ".join(f"`{line}`" for line in shown)
    return f"{more} lines, and then {listed}" if more > 0 else listed
