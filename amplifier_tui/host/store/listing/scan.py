"""Which sessions are stored in a folder; nothing of them is read."""

import logging
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from types import MappingProxyType
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.paths import amplifier_home

logger = logging.getLogger(__name__)

_NONE_KNOWN: Final[Mapping[str, float]] = MappingProxyType({})


@dataclass(slots=True)
class Scan:
    """What is stored.

    Attributes:
        sessions: When each was changed last, in Unix seconds, and its folder.
        agents: How many sub-agents' sessions there are; `broken`: how many can't be read.
    """

    sessions: list[tuple[float, str]] = field(default_factory=list)
    agents: int = 0
    broken: int = 0


def scan(folders: Iterable[str], known: Mapping[str, float] = _NONE_KNOWN) -> Scan:
    """Look into folders of sessions; the newest session comes first.

    Args:
        known: When sessions changed, by folder: of these it is only seen whether they are there.
    """
    found = Scan()
    for folder in folders:
        with _opened(folder) as (names, handle):
            for name in names:
                path = f"{folder}/{name}"
                # A sub-agent's: `<span>-<span>_<agent>`.
                if "_" in name:
                    found.agents += 1
                elif (changed := known.get(path)) is not None:
                    found.sessions.append((changed, path))
                else:
                    _look(found, path, handle, name)
    found.sessions.sort(reverse=True)
    return found


def _look(found: Scan, path: str, handle: int, name: str) -> None:
    try:
        status = _status(handle, name)
    except OSError as error:
        logger.warning("%s can't be looked at: %s", path, error)
        found.broken += 1
        return
    if status is not None and stat.S_ISREG(status.st_mode):
        found.sessions.append((status.st_mtime, path))
    elif status is not None:
        found.broken += 1


def session_folders(stored: str) -> Iterator[tuple[str, os.stat_result | None]]:
    """Yield the folder of each session, and the status of its transcript; None where it is broken.

    Those in which nothing was said are left out.
    """
    with _opened(stored) as (names, handle):
        for name in names:
            try:
                status = _status(handle, name)
            except OSError as error:
                logger.warning("%s/%s can't be looked at: %s", stored, name, error)
                yield f"{stored}/{name}", None
                continue
            if status is not None:
                yield f"{stored}/{name}", status if stat.S_ISREG(status.st_mode) else None


def stamp_of(stored: str) -> int:
    """Return what tells that sessions came into a folder or went; 0 where it is not there.

    A session in which nothing was said yet is there already: its first words change nothing here.
    """
    try:
        return os.stat(stored).st_mtime_ns
    except OSError:
        return 0


def all_folders() -> Iterator[str]:
    """Yield the folders of sessions of all projects."""
    projects = str(amplifier_home() / "projects")
    with _opened(projects) as (names, _):
        for name in names:
            yield f"{projects}/{name}/sessions"


@contextmanager
def _opened(folder: str) -> Iterator[tuple[list[str], int]]:
    """Give the names of the folders in a folder, and a handle of it; none where it is not there."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        yield [], -1
        return
    except OSError as error:
        logger.warning("%s can't be opened: %s", folder, error)
        yield [], -1
        return
    try:
        yield _names(folder, handle), handle
    finally:
        os.close(handle)


def _names(folder: str, handle: int) -> list[str]:
    try:
        with os.scandir(handle) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except OSError as error:
        logger.warning("%s can't be listed: %s", folder, error)
        return []


def _status(handle: int, name: str) -> os.stat_result | None:
    """Return the status of a session's transcript; None where nothing was said in it.

    Raises:
        OSError: It can't be looked at.
    """
    try:
        # From the folder: what leads to it is not gone through anew for each of thousands.
        return os.stat(f"{name}/{TRANSCRIPT}", dir_fd=handle)
    except (FileNotFoundError, NotADirectoryError):
        return None
