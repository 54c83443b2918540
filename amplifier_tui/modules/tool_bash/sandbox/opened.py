"""Folders of a workspace that are opened without following links, and what is in them."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

HERE: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PLACE: Final = getattr(os, "O_PATH", os.O_RDONLY)
"""Opens a folder for its place only, which takes no right to list it."""

Identity = tuple[int, ...]
"""Tells a file that was there from one that was put in its place."""


@contextmanager
def opened(workspace: Path, folder: Path) -> Iterator[int]:
    """Open a folder of a workspace for its place.

    Raises:
        FileNotFoundError: It is gone, or a link is in the way.
        OSError: It can't be opened.
    """
    handle = os.open(workspace, PLACE | HERE)
    try:
        for part in folder.relative_to(workspace).parts:
            try:
                inner = os.open(part, PLACE | HERE, dir_fd=handle)
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
                raise FileNotFoundError(errno.ENOENT, "A link is in the way", part) from error
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def change_mode(handle: int, mode: int) -> None:
    """Change the mode of what is open, though it be open for its place only.

    Raises:
        OSError: It is somebody else's.
    """
    try:
        os.fchmod(handle, mode)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        os.chmod(f"/proc/self/fd/{handle}", mode)


def identity_of(place: Path) -> Identity | None:
    """Return what tells a place from another of its name; None when it is gone, or out of sight."""
    try:
        return _identity(place.lstat())
    except OSError:
        return None


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
