"""Which sessions are stored in a folder; nothing of them is read."""

import logging
import os
import stat
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.paths import amplifier_home

logger = logging.getLogger(__name__)


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


def scan(folders: Iterator[str] | list[str]) -> Scan:
    """Look into folders of sessions; the newest session comes first."""
    found = Scan()
    for folder in folders:
        for path, status in session_folders(folder):
            if is_sub_agent(path):
                found.agents += 1
            elif status is None:
                found.broken += 1
            else:
                found.sessions.append((status.st_mtime, path))
    found.sessions.sort(reverse=True)
    return found


def session_folders(stored: str) -> Iterator[tuple[str, os.stat_result | None]]:
    """Yield each session's folder and the status of its transcript, None for one that is no file.

    A session in which nothing was said is left out.
    """
    for path in _folders(stored):
        try:
            status = os.stat(f"{path}/{TRANSCRIPT}")
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            logger.warning("%s can't be looked at: %s", path, error)
            yield path, None
            continue
        yield path, status if stat.S_ISREG(status.st_mode) else None


def is_sub_agent(path: str) -> bool:
    """Whether a session's folder is a sub-agent's: `<span>-<span>_<agent>`."""
    return "_" in os.path.basename(path)


def all_folders() -> Iterator[str]:
    """Yield the folders of sessions of all projects."""
    for project in _folders(str(amplifier_home() / "projects")):
        yield f"{project}/sessions"


def _folders(path: str | Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.path for entry in entries if entry.is_dir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        logger.warning("%s can't be listed: %s", path, error)
        return []
