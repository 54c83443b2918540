"""What the user lets run beside confined commands, and may make what these may not."""

import asyncio
import logging
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Protocol
from weakref import WeakSet

__all__ = ["Watched", "beside_confined", "is_others", "named_in", "own_write", "unwatch", "watch"]


class Watched(Protocol):
    """A confined command that runs, and what is made meanwhile."""

    def look(self) -> object:
        """Deal with what was made so far. Blocking."""

    def excuse(self, makes: Callable[[Path], bool]) -> object:
        """Know what others may have made before the first look, of which there is none yet."""

    def take(self, place: Path) -> object:
        """Take a file as it is now, and the folders it is in, for what was there before."""


logger = logging.getLogger(__name__)

_lock = threading.Lock()
_watched: WeakSet[Watched] = WeakSet()
_others: list[Callable[[Path], bool]] = []


def is_others(place: Path) -> bool:
    """Whether something that the user let run may be what makes a file or folder now."""
    return any(makes(place) for makes in tuple(_others))


def named_in(text: str) -> Callable[[Path], bool]:
    """Return what says whether a command line or arguments name a file.

    What belongs to a repository is named by its folder, and by `git`.
    """

    def names(place: Path) -> bool:
        parts = place.parts
        inside = ".git" in parts
        name = parts[parts.index(".git") - 1] if inside else place.name
        return any(
            re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w.-])", text)
            for word in ((name, "git") if inside else (name,))
        )

    return names


def watch(command: Watched) -> None:
    """Have a confined command told, from before its first look on, of what others make.

    Until `unwatch`, or until nobody holds it any more.
    """
    with _lock:
        _watched.add(command)


def unwatch(command: Watched) -> None:
    """The last look has been."""
    with _lock:
        _watched.discard(command)


def _all_watched() -> tuple[Watched, ...]:
    with _lock:
        return tuple(_watched)


@asynccontextmanager
async def beside_confined(makes: Callable[[Path], bool]) -> AsyncIterator[None]:
    """Run what the user let run: what it makes is not taken for a confined command's.

    Args:
        makes: Says whether it may be what makes a file or folder.
    """
    _others.append(makes)
    try:
        yield
    finally:
        try:
            for command in _all_watched():
                command.excuse(makes)
                try:
                    await asyncio.to_thread(command.look)
                except Exception:
                    # It is another's, and must not cost this one its result.
                    logger.exception("What a command made could not be looked at")
        finally:
            _others.remove(makes)


@contextmanager
def own_write(place: Path) -> Iterator[None]:
    """Write a file in this process: no confined command does that.

    Args:
        place: Absolute.
    """
    if _watched:
        with suppress(OSError, RuntimeError):
            place = place.parent.resolve() / place.name
    makes = frozenset((place, *place.parents)).__contains__
    _others.append(makes)
    try:
        yield
        for command in _all_watched():
            command.take(place)
    finally:
        _others.remove(makes)
