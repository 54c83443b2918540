"""What lies in a folder, as far as a look of a tenth of a second goes."""

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.protected import configuring, holds_secrets_at

_MOST_ENTRIES: Final = 16_000
_MOST_PLACES: Final = 200
_PASSED_OVER: Final = frozenset({"node_modules", ".venv", "venv", "site-packages", "__pycache__"})
"""Folders of installed packages: large, and made anew by commands all the time."""


def nearby(folder: Path) -> Iterator[tuple["os.DirEntry[str]", Path]]:
    """Yield what is in a folder and below it, the nearest first, with the folder it is in.

    Sixteen thousand entries; into what configures programs it does not go.
    Blocking.
    """
    seen = 0
    folders = deque((folder,))
    while folders and seen < _MOST_ENTRIES:
        at = folders.popleft()
        try:
            entries = list(os.scandir(at))
        except OSError:
            continue
        seen += len(entries)
        for entry in entries:
            yield entry, at
            goes_on = entry.name not in _PASSED_OVER and entry.is_dir(follow_symlinks=False)
            if goes_on and not configuring(entry.name):
                folders.append(Path(entry))


def secrets_nearby(folder: Path) -> list[Path]:
    """Return where keys and passwords are kept in a folder, as far as such a look goes. Blocking.

    Links are left out; at most two hundred.
    """
    found = (
        Path(entry)
        for entry, _ in nearby(folder)
        if holds_secrets_at((entry.name,)) and not entry.is_symlink()
    )
    return list(islice(found, _MOST_PLACES))
