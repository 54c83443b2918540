"""Which folders were given other names: what is mounted below a name may then lie elsewhere."""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.held import changes

_MOVED: Final = 0x40 | 0x80
"""A name came or went by renaming (inotify(7))."""
_ONLY_FOLDERS: Final = 0x01000000
_TOO_MANY: Final = 0x4000
_HEAD: Final = struct.Struct("iIII")
_NUMBER: Final = struct.Struct("i")


class Renames:
    """Knows which folders were renamed since, or put in the place of others; only on Linux.

    Where the kernel tells of no more folders, it takes each for one that was.

    Args:
        folders: Absolute.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = frozenset(folders)
        self._found: set[Path] = set()
        self._watched: dict[int, Path] = {}
        self._told = changes.NONE_LEFT
        if self._folders and sys.platform == "linux":
            self._told = changes.inotify()
            for folder in self._folders:
                parent = folder.parent
                watch = self._watch(parent) if self._told >= 0 else -1
                if watch >= 0:
                    self._watched[watch] = parent
                else:
                    self._found.add(folder)

    def found(self) -> frozenset[Path]:
        """Return those that were, and all where there were too many to tell. Blocking."""
        if self._told >= 0:
            # Not every system has them, and this file is imported on all.
            import fcntl
            import termios

            asked = fcntl.ioctl(self._told, termios.FIONREAD, bytes(_NUMBER.size))
            (waiting,) = _NUMBER.unpack(asked)
            # Not for as long as there is more: what renames all the time would never let it end.
            self._take(os.read(self._told, waiting) if waiting else b"")
        return frozenset(self._found)

    def close(self) -> None:
        """Be told of no more."""
        told, self._told = self._told, changes.NONE_LEFT
        if told >= 0:
            os.close(told)

    def __del__(self) -> None:
        """Leave nothing open."""
        self.close()

    def _watch(self, parent: Path) -> int:
        place, tells = os.fsencode(parent), _MOVED | _ONLY_FOLDERS
        return int(ctypes.CDLL(None).inotify_add_watch(self._told, place, tells))

    def _take(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            watch, mask, _, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size
            name = os.fsdecode(data[at : at + length].rstrip(b"\0"))
            at += length
            if mask & _TOO_MANY:
                self._found |= self._folders
            elif watch in self._watched:
                self._found |= {self._watched[watch] / name} & self._folders
