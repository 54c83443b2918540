"""Reading files that may be anything, such as a pipe or a link."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from amplifier_tui.base.opened.folders import Spot, naming, spot_of

FLAGS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)

MOST_BYTES: Final = 64_000_000
"""Most that is read of a file that is read whole: far more than people or programs write there."""

_PIECE: Final = 256 * 1024


class NotRegularFileError(OSError):
    """The path is a pipe, a device or, where links are refused, a link."""


class FileTooLargeError(OSError):
    """The file holds more than is read of such a file."""


def require_regular(path: Path, mode: int) -> None:
    """Raise an error unless a file of that `st_mode` is a regular one."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", str(path))
    if not stat.S_ISREG(mode):
        raise NotRegularFileError(errno.EINVAL, "is a link, device or pipe, not a file", str(path))


def open_regular(path: Path, *, follow_links: bool = True) -> BinaryIO:
    """Open a file for reading, but nothing that could block, such as a pipe.

    Args:
        path: The file.
        follow_links: Whether the last part of the path may be a symbolic link.

    Raises:
        IsADirectoryError: It is a folder.
        NotRegularFileError: It is a pipe or device, or a link that is not followed.
        OSError: It can't be opened.
    """
    return _opened(path, Spot(str(path), None), follow_links)


def open_resolved(path: Path) -> BinaryIO:
    """Open a file for reading, past no link that was put on its path since that was resolved.

    Args:
        path: Absolute, its links followed.

    Raises:
        IsADirectoryError: It is a folder.
        NotRegularFileError: It is a pipe or device, or a link by now.
        OSError: It can't be opened, or a link is in the way.
    """
    with naming(path), spot_of(path) as spot:
        return _opened(path, spot, follow_links=False)


def _opened(path: Path, spot: Spot, follow_links: bool) -> BinaryIO:
    name, folder = spot
    # Before opening, since a link that is not followed fails with the error of a link loop.
    found = os.stat(name, dir_fd=folder, follow_symlinks=follow_links)
    require_regular(path, found.st_mode)
    flags = os.O_RDONLY | NO_WAIT | FLAGS | (0 if follow_links else NO_LINK)
    file = os.fdopen(os.open(name, flags, dir_fd=folder), "rb")
    try:
        require_regular(path, os.fstat(file.fileno()).st_mode)
    except OSError:
        file.close()
        raise
    return file


def read_regular(path: Path, most: int = MOST_BYTES, *, resolved: bool = False) -> bytes:
    """Read a file whole, but nothing that could block or has no end, such as a pipe or device.

    Args:
        path: The file; links are followed.
        most: Bytes beyond which it is not read.
        resolved: Its links are followed already: one that was put there since is an error.

    Raises:
        FileTooLargeError: It is larger.
        IsADirectoryError: It is a folder.
        NotRegularFileError: It is a pipe or device.
        OSError: It can't be read.
    """
    with open_resolved(path) if resolved else open_regular(path) as file:
        # Room for as much as is asked for is made at once, and most files are small.
        data = file.read(min(most + 1, _PIECE))
        if len(data) == _PIECE:
            data += file.read(most + 1 - len(data))
    if len(data) > most:
        raise FileTooLargeError(errno.EFBIG, f"is larger than {most:,} bytes", str(path))
    return data


def changed_at(path: Path) -> float:
    """Return when a file or folder was changed, in Unix seconds; 0 where that can't be told."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
