"""What was in the small files that configure programs, before the commands of a session."""

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular

_MOST_BYTES: Final = 10_000_000
_MOST_LINES: Final = 200_000
_MOST_KEPT: Final = 20_000_000
"""Bytes of all contents that are kept themselves."""


def unwrapped(data: bytes) -> bytes:
    """Return what is in a file with the ends of lines that git keeps: it may check out others."""
    return data.replace(b"\r\n", b"\n")


def digest_of(data: bytes) -> bytes:
    """Return the SHA-256 by which contents are told apart, whatever the ends of their lines."""
    return sha256(unwrapped(data)).digest()


class SeenContents:
    """Contents of files: what was there may come back, and its lines may come together anew."""

    def __init__(self) -> None:
        self._contents: dict[tuple[Path, bytes], bytes] = {}
        self._modes: dict[Path, int] = {}
        self._lines: dict[str, set[bytes]] = {}
        self._count = 0
        self._room = _MOST_KEPT

    def add(self, place: Path) -> bytes:
        """Add what is in a file. Blocking.

        Returns:
            Its digest; empty for what is neither a link nor a small file.
        """
        data = _read(place)
        if data is None:
            return b""
        digest = digest_of(data)
        with suppress(OSError):
            self._modes[place] = stat.S_IMODE(place.lstat().st_mode)
        if (place, digest) not in self._contents:
            self._contents[place, digest] = data if self._room >= len(data) else b""
            self._room -= len(data)
            if self._count < _MOST_LINES:
                lines = set(unwrapped(data).split(b"\n"))
                self._count += len(lines)
                self._lines.setdefault(place.name, set()).update(lines)
        return digest

    def holds(self, place: Path, data: bytes) -> bool:
        """Whether this was in a file."""
        return (place, digest_of(data)) in self._contents

    def content(self, place: Path, digest: bytes) -> bytes:
        """Return what was in a file, by its digest; empty where that is not kept."""
        return self._contents.get((place, digest), b"")

    def mode(self, place: Path) -> int:
        """Return the mode that a file had."""
        return self._modes.get(place, 0o600)

    def lines(self, place: Path) -> set[bytes]:
        """Return the lines that were in files of the same name: folders are renamed."""
        return self._lines.get(place.name, set())

    def is_as_it_was(self, place: Path) -> bool:
        """Whether what is in a file was in it before. Blocking."""
        data = _read(place)
        return data is not None and self.holds(place, data)


def _read(place: Path) -> bytes | None:
    try:
        mode = place.lstat().st_mode
        if stat.S_ISLNK(mode):
            return os.fsencode(os.readlink(place))
        return read_regular(place, _MOST_BYTES) if stat.S_ISREG(mode) else None
    except OSError:
        return None
