"""What tells a file that was there from one that was put in its place."""

import os
import stat
from pathlib import Path

Identity = tuple[int, ...]
"""Tells a file that was there from one that was put in its place."""


def identity_of(place: Path) -> Identity | None:
    """Return what tells a place from another of its name; None when it is gone, or out of sight."""
    try:
        return _identity(place.lstat())
    except OSError:
        return None


def has_one_name(place: Path) -> bool:
    """Whether something is there, and it is no file that has other names as well."""
    try:
        found = place.lstat()
    except OSError:
        return False
    return found.st_nlink <= 1 or stat.S_ISDIR(found.st_mode)


def identity_in(folder: int, name: str) -> Identity:
    """Return that of what is in an open folder.

    Raises:
        OSError: It is gone, or out of sight.
    """
    return _identity(os.stat(name, dir_fd=folder, follow_symlinks=False))


def _identity(found: os.stat_result) -> Identity:
    identity = (found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode))
    # Numbers of files that are gone are given out again; folders change with what is in them.
    return identity if stat.S_ISDIR(found.st_mode) else (*identity, found.st_ctime_ns)
