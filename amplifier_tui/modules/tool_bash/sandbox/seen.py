"""What was in the small files that configure programs, before the commands of a session."""

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.files.nearby import Entries
from amplifier_tui.modules.tool_bash.sandbox.opened import Identity

Entry = tuple[str, Identity, Identity | None]
"""The name of something, what tells it from others, and the same of the folder it is in."""

_MOST_BYTES: Final = 10_000_000
_MOST_LINES: Final = 200_000
_MOST_KEPT: Final = 20_000_000
"""Bytes of all contents that are kept themselves."""
_OF_LINK: Final = b"link "
"""Before the digest of where a link leads."""


def unwrapped(data: bytes) -> bytes:
    """Return what is in a file with the ends of lines that git keeps: it may check out others."""
    return data.replace(b"\r\n", b"\n")


def digest_of(data: bytes, *, link: bool) -> bytes:
    """Return the SHA-256 by which contents are told apart, whatever the ends of their lines.

    Args:
        link: It is where a link leads, which is no content: the same text may name a file.
    """
    return _OF_LINK + sha256(data).digest() if link else sha256(unwrapped(data)).digest()


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
        found = _read(place)
        if found is None:
            return b""
        link, data = found
        digest = digest_of(data, link=link)
        with suppress(OSError):
            self._modes[place] = stat.S_IMODE(place.lstat().st_mode)
        if (place, digest) not in self._contents:
            kept = b"" if link or self._room < len(data) else data
            self._contents[place, digest] = kept
            self._room -= len(kept)
            if not link and self._count < _MOST_LINES:
                lines = set(unwrapped(data).split(b"\n"))
                self._count += len(lines)
                self._lines.setdefault(place.name, set()).update(lines)
        return digest

    def holds(self, place: Path, data: bytes, *, link: bool) -> bool:
        """Whether this was in a file, or where a link led."""
        return (place, digest_of(data, link=link)) in self._contents

    def content(self, place: Path, digest: bytes) -> bytes:
        """Return what was in a file, by its digest; empty where that is not kept, as of a link."""
        return self._contents.get((place, digest), b"")

    def mode(self, place: Path) -> int:
        """Return the mode that a file had."""
        return self._modes.get(place, 0o600)

    def lines(self, place: Path) -> set[bytes]:
        """Return the lines that were in files of the same name: folders are renamed."""
        return self._lines.get(place.name, set())

    def is_as_it_was(self, place: Path) -> bool:
        """Whether what is in a file was in it before. Blocking."""
        found = _read(place)
        return found is not None and self.holds(place, found[1], link=found[0])


def _read(place: Path) -> tuple[bool, bytes] | None:
    """Return whether a place is a link, and where that leads or what is in the file."""
    try:
        mode = place.lstat().st_mode
        if stat.S_ISLNK(mode):
            return True, os.fsencode(os.readlink(place))
        return (False, read_regular(place, _MOST_BYTES)) if stat.S_ISREG(mode) else None
    except OSError:
        return None


class Known:
    """What the looks of a session have found so far.

    Attributes:
        listed: Folders that were looked into.
        identities: What configured programs before a command, and the folder it was in.
        seen: What small files held before a command.
        left_out: Whether there were folders that no look has come to.
        suspects: Folders that commands made, and that were not looked into.
        entries: What of folders counts.
    """

    def __init__(self) -> None:
        self.listed: set[Path] = set()
        self.identities: set[Entry] = set()
        self.seen = SeenContents()
        self.left_out = False
        self.suspects: set[Path] = set()
        self.entries: Entries = {}
