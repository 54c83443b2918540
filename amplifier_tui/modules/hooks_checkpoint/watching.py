"""When the files that a command names are written while it runs.

What a long command names is its own, but not what somebody else writes into it meanwhile. The two
look alike afterwards: only a look in between tells that a file was written, and then once more.
"""

import asyncio
import os
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Final

from amplifier_tui.modules.hooks_checkpoint.naming import (
    named_files,
    places_named,
    streamed_files,
)

_SHORTEST: Final = 0.05
_Seen = tuple[int, int, int] | None


class NamedWrites:
    """Looks again and again at the files that a command names.

    Args:
        command: Its whole text.
        before: The files there were, below `root`: name to modification time in ns, size, inode.
        own_seconds: For how long what a command does is taken for one write.
    """

    def __init__(
        self, command: str, root: Path, before: Mapping[str, _Seen], own_seconds: float
    ) -> None:
        self._command = command
        self._root = root
        self._before = before
        self._apart = own_seconds / 2
        self._seen: dict[Path, _Seen] | None = None
        self._written: dict[Path, float] = {}
        self._again: set[Path] = set()
        """Those that were written once more, after a pause."""
        self._lock = Lock()

    async def keep_looking(self) -> None:
        """Look until it is cancelled; a short command ends before the first look."""
        while True:
            await asyncio.sleep(max(self._apart / 2, _SHORTEST))
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Look once. Blocking."""
        with self._lock:
            if self._seen is None:
                self._seen = dict(self._named())
            for path, seen in self._seen.items():
                now, at = _present(path)
                if now == seen:
                    continue
                if path in self._written and at - self._written[path] > self._apart:
                    self._again.add(path)
                self._seen[path], self._written[path] = now, at

    def own(self, paths: Collection[Path]) -> set[Path]:
        """Return those of the files that changed which the command alone wrote. Blocking."""
        self.look()
        own = named_files(self._command, paths, self._root)
        again = own & self._again
        return own - again | streamed_files(self._command, again, self._root)

    def _named(self) -> Iterator[tuple[Path, _Seen]]:
        likely = {
            self._root / name: seen
            for name, seen in self._before.items()
            if name.rpartition("/")[2] in self._command
        }
        for path in named_files(self._command, likely, self._root):
            yield path, likely[path]
        for path in places_named(self._command, self._root):
            if path not in likely:
                yield path, None


def _present(path: Path) -> tuple[_Seen, float]:
    """Return what stands at a path, and since when."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None, time.time()
    # Unlike the time of its content, that of a file itself is set by nobody.
    return (found.st_mtime_ns, found.st_size, found.st_ino), found.st_ctime
