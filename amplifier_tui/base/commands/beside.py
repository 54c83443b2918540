"""What the user lets run beside confined commands, and may make what these may not."""

import asyncio
import logging
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Final, Protocol
from weakref import WeakSet

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.opened.folders import files_below

__all__ = [
    "Call",
    "Watched",
    "are_watched",
    "beside_confined",
    "is_others",
    "made_beside",
    "named_in",
    "own_write",
    "unwatch",
    "watch",
]

_MOST_ON_THE_WAY: Final = 100
"""Of folders that are made for a file, with what stands in for it until it is whole."""
_MOST_INSIDE: Final = 2_000
_SETTLED: Final = 100_000_000
"""Nanoseconds by which the clock of a disk may be behind."""
_PUT_OFF: Final = 10_000_000_000
_BETWEEN: Final = re.compile(r"[;&|()\n]+")
_MAKE_MORE: Final = frozenset(
    (
        *("npm", "npx", "pnpm", "yarn", "bun", "corepack", "pip", "pip3", "pipx", "uv", "uvx"),
        *("poetry", "pdm", "hatch", "pre-commit", "cargo", "go", "mvn", "gradle", "gradlew"),
        *("dotnet", "bundle", "gem", "rake", "composer", "mix", "make", "just", "task", "cmake"),
        *("ninja", "sh", "bash", "zsh", "dash", "python", "python3", "node", "deno", "ruby"),
        *("perl", "php"),
    )
)
"""Programs that install and build: what they make is named by scripts, not by who calls them."""
_LONGEST_CALL: Final = 120_000_000_000
"""Nanoseconds after which one is none that installs or builds, but goes on, as a server does."""
_INIT: Final = re.compile(r"\bgit init(?:\s+-\S+)*\s*(?:[;&|\"]|\Z)")
"""Makes a repository of the current folder."""
_OF_ITSELF: Final = (".tmp", ".old")
"""How the names of these end."""


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
_own: list[Callable[[Path], bool]] = []


@dataclass
class Call:
    """What the user let run outside of the sandbox.

    Attributes:
        command: The command line.
        began: Nanoseconds since the epoch.
        over: Whether it has ended.
    """

    command: str
    began: int
    over: bool = False

    @property
    def has_settled(self) -> bool:
        """Whether it has ended, or runs for so long that what it made is told of meanwhile."""
        return self.over or time.time_ns() - self.began > _PUT_OFF


_calls: list[Call] = []


def made_beside(place: Path) -> Call | None:
    """Return a call that may have made a file or folder, with all in it, without naming it.

    As the scripts of a package do that is installed. No such call makes a repository, or what git
    obeys in one, and one of programs that make what they name is none. Blocking.
    """
    if ".git" in place.parts or place.name.casefold() == "head":
        return None
    now = time.time_ns()
    calls = [each for each in tuple(_calls) if now - each.began < _LONGEST_CALL]
    if not calls:
        return None
    try:
        inside = islice(files_below(place), _MOST_INSIDE)
        oldest = min(each.lstat().st_ctime_ns for each in (place, *inside))
    except OSError:
        return None
    return next((each for each in calls if each.began - _SETTLED <= oldest), None)


def _makes_more(command: str) -> bool:
    parts = (part.split() for part in _BETWEEN.split(command))
    words = [[word for word in part if "=" not in word] for part in parts]
    return any(part[0].rpartition("/")[2] in _MAKE_MORE for part in words if part)


def is_others(place: Path, *folders: Path) -> bool:
    """Whether something that the user let run may be what makes a file or folder now.

    Args:
        folders: New ones that it is in: what makes one may have made it, too. This program does not
            that writes a file there.
    """
    others = tuple(_others)
    return any(makes(each) for each in (place, *folders) for makes in others) or any(
        makes(place) for makes in tuple(_own)
    )


def named_in(text: str) -> Callable[[Path], bool]:
    """Return what says whether a command line or arguments name a file.

    What belongs to a repository is named by its folder, and by `git` where there is one already.
    One that is new is named by its folder, by `git init` without one, and as a submodule.
    """

    def has(word: str) -> bool:
        return bool(re.search(rf"(?<![\w.-]){re.escape(word)}(?:\.git)?(?![\w.-])", text))

    def names(place: Path) -> bool:
        if place.name == ".git" or place.name.casefold() == "head":
            # By it a folder becomes a repository.
            submodule = has("git") and _is_submodule(place)
            return submodule or has(place.parent.name) or bool(_INIT.search(text))
        if ".git" in place.parts:
            return has(place.parts[place.parts.index(".git") - 1]) or has("git")
        return has(place.name)

    return names


def _is_submodule(mark: Path) -> bool:
    """Whether a file called `.git` belongs to a submodule that a checkout above it names."""
    for folder in mark.parent.parents if mark.is_file() and not mark.is_symlink() else ():
        with suppress(OSError, UnicodeDecodeError):
            rows = (folder / ".gitmodules").read_text().splitlines()
            return f"path={mark.parent.relative_to(folder)}" in ("".join(r.split()) for r in rows)
    return False


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


def are_watched() -> bool:
    """Whether confined commands run that can write."""
    return bool(_watched)


def _all_watched() -> tuple[Watched, ...]:
    with _lock:
        return tuple(_watched)


@asynccontextmanager
async def beside_confined(makes: Callable[[Path], bool], command: str = "") -> AsyncIterator[None]:
    """Run what the user let run: what it makes is not taken for a confined command's.

    Args:
        makes: Says whether it may be what makes a file or folder.
        command: The command line, where it may make others as well.
    """
    call = Call(command, time.time_ns())
    _others.append(makes)
    if _makes_more(command):
        _calls.append(call)
    try:
        yield
    finally:
        call.over = True
        try:
            for watched in _all_watched():
                watched.excuse(makes)
                try:
                    await asyncio.to_thread(watched.look)
                except Exception:
                    # It is another's, and must not cost this one its result.
                    logger.exception("What a command made could not be looked at")
        finally:
            _others.remove(makes)
            if call in _calls:
                _calls.remove(call)


@contextmanager
def own_write(place: Path) -> Iterator[None]:
    """Write a file in this process: no confined command does that.

    Args:
        place: Absolute.
    """
    if are_watched():
        with suppress(OSError, RuntimeError):
            place = place.parent.resolve() / place.name

    def makes(each: Path) -> bool:
        if each == place:
            return True
        # A folder is made on the way; what else is in it by now is another's.
        return each in place.parents and all(
            _is_of(found, place) for found in islice(files_below(each), _MOST_ON_THE_WAY)
        )

    _own.append(makes)
    try:
        yield
        for command in _all_watched():
            command.take(place)
    finally:
        _own.remove(makes)


def _is_of(found: Path, place: Path) -> bool:
    """Whether something is a file, or stands in for it while it is written."""
    stands_in = found.name.startswith(f".{place.name[:80]}.") and found.suffix in _OF_ITSELF
    return found == place or (stands_in and found.parent == place.parent)
