"""Telling what the user moves back from what a command makes like it.

A command may still have a file open or linked under another name, it knows what is in it, and the
number of one that is gone is given out again. So what was moved aside is made anew there, where no
command can reach it, and gets a time that none can know. `mv` keeps the time, also on the way to
another file system.
"""

import os
import secrets
import shutil
import stat
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular

_MOST_COPIED: Final = 10_000_000
"""Bytes of a file that is made anew; what configures programs is small."""
_MOST_READ: Final = 20_000_000
_MOST_ENTRIES: Final = 20_000
_SECOND: Final = 1_000_000_000
_FINEST: Final = 1_000
"""Nanoseconds that every file system keeps apart that is of use here."""

Mark = tuple[int, bytes]
"""When something was changed last, and what is in it."""


def renew(kept: Path) -> Mark | None:
    """Make what was moved aside anew, and return what tells it wherever it is moved. Blocking.

    None where that is not possible: then it can't be told from what a command makes.
    """
    try:
        mode = kept.lstat().st_mode
        if stat.S_ISDIR(mode):
            _renew_folder(kept, stat.S_IMODE(mode))
        elif stat.S_ISLNK(mode):
            target = os.readlink(kept)
            kept.unlink()
            kept.symlink_to(target)
        elif not stat.S_ISREG(mode) or kept.stat().st_size > _MOST_COPIED:
            return None
        else:
            new = Path(tempfile.mkdtemp(dir=kept.parent))
            shutil.copy2(kept, new / kept.name, follow_symlinks=False)
            (new / kept.name).rename(kept)
            new.rmdir()
        return _with_a_time_of_its_own(kept)
    except (OSError, shutil.Error):
        return None


def mark_of(place: Path) -> Mark | None:
    """Return what tells a file, a link or a folder from others; None for what is gone. Blocking."""
    try:
        return place.lstat().st_mtime_ns // _FINEST, _digest(place)
    except OSError:
        return None


def _renew_folder(kept: Path, mode: int) -> None:
    """Make a folder anew around what is in it.

    Raises:
        OSError: Something in it can't be moved; the rest is where it was.
    """
    new = Path(tempfile.mkdtemp(dir=kept.parent))
    moved: list[str] = []
    try:
        for name in os.listdir(kept):
            (kept / name).rename(new / name)
            moved.append(name)
        kept.rmdir()
    except OSError:
        for name in moved:
            (new / name).rename(kept / name)
        new.rmdir()
        raise
    new.rename(kept)
    kept.chmod(mode)


def _with_a_time_of_its_own(kept: Path) -> Mark | None:
    found = kept.lstat()
    when = found.st_mtime_ns // _SECOND * _SECOND + secrets.randbelow(_SECOND)
    os.utime(kept, ns=(found.st_atime_ns, when), follow_symlinks=False)
    mark = mark_of(kept)
    # Where only whole seconds are kept, anybody may know them.
    return mark if mark is not None and mark[0] == when // _FINEST else None


def _digest(place: Path) -> bytes:
    """Return what tells the content from others: of very much, the names and sizes alone.

    Raises:
        OSError: Something of it is gone, or can't be listed.
    """
    digest = sha256()
    left, read, entries = [(b"", place)], 0, 0
    while left and entries < _MOST_ENTRIES:
        entries += 1
        name, each = left.pop()
        found = each.lstat()
        line = [name, oct(stat.S_IFMT(found.st_mode)).encode()]
        if stat.S_ISDIR(found.st_mode):
            # Each folder's own order may be another on another file system.
            inside = sorted(map(os.fsencode, os.listdir(each)), reverse=True)
            left += [(name + b"/" + inner, each / os.fsdecode(inner)) for inner in inside]
        elif stat.S_ISLNK(found.st_mode):
            line.append(os.fsencode(os.readlink(each)))
        elif stat.S_ISREG(found.st_mode):
            line.append(str(found.st_size).encode())
            read += found.st_size
            if read <= _MOST_READ:
                line.append(sha256(read_regular(each, _MOST_READ)).digest())
        digest.update(b"".join(len(part).to_bytes(8, "big") + part for part in line))
    return digest.digest()
