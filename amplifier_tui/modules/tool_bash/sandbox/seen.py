"""What was in the small files that configure programs, before the commands of a session."""

import stat
from hashlib import sha256
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular

_MOST_BYTES: Final = 100_000
_MOST_LINES: Final = 200_000


def unwrapped(data: bytes) -> bytes:
    """Return what is in a file with the ends of lines that git keeps: it may check out others."""
    return data.replace(b"\r\n", b"\n")


def digest_of(data: bytes) -> bytes:
    """Return the SHA-256 by which contents are told apart, whatever the ends of their lines."""
    return sha256(unwrapped(data)).digest()


class SeenContents:
    """Contents of files: what was there may come back, and its lines may come together anew."""

    def __init__(self) -> None:
        self._digests: set[tuple[Path, bytes]] = set()
        self._lines: dict[Path, set[bytes]] = {}
        self._count = 0

    def add(self, place: Path) -> bytes:
        """Add what is in a file. Blocking.

        Returns:
            Its digest; empty for what is no file, or no small one.
        """
        data = _read(place)
        if data is None:
            return b""
        digest = digest_of(data)
        if (place, digest) not in self._digests:
            self._digests.add((place, digest))
            if self._count < _MOST_LINES:
                lines = set(unwrapped(data).split(b"\n"))
                self._count += len(lines)
                self._lines[place] = self.lines(place) | lines
        return digest

    def holds(self, place: Path, data: bytes) -> bool:
        """Whether this was in a file."""
        return (place, digest_of(data)) in self._digests

    def lines(self, place: Path) -> set[bytes]:
        """Return the lines that were in a file."""
        return self._lines.get(place, set())

    def is_as_it_was(self, place: Path) -> bool:
        """Whether what is in a file was in it before. Blocking."""
        data = _read(place)
        return data is not None and self.holds(place, data)


def _read(place: Path) -> bytes | None:
    try:
        return read_regular(place, _MOST_BYTES) if stat.S_ISREG(place.lstat().st_mode) else None
    except OSError:
        return None
