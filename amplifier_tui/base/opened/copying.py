"""Copying what is in one open folder into another, following no link."""

import contextlib
import errno
import math
import os
import shutil
import stat
from typing import Final

from amplifier_tui.base.opened.folders import FILE, HERE, PLACE, Spot

_AT_ONCE: Final = 1_000_000
_DEEPEST: Final = 100
"""Folders in one another, each of which is open."""
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


def copy(source: Spot, to: Spot, most: float = math.inf, deepest: int = _DEEPEST) -> int:
    """Copy a file, a link or a folder, with modes and times; pipes and sockets hold nothing.

    What is empty of a file takes no room in the copy either. The owner may read what is copied.
    Blocking.

    Args:
        most: How many bytes are written at most.
        deepest: How many folders in one another are copied at most.

    Returns:
        How many were.

    Raises:
        FileExistsError: Something is there.
        OSError: It can't be copied, or is too large or too deep (`EFBIG`); there is no part of
            a copy.
    """
    found = os.stat(source.name, dir_fd=source.folder, follow_symlinks=False)
    times = found.st_atime_ns, found.st_mtime_ns
    if stat.S_ISDIR(found.st_mode):
        if not deepest:
            raise OSError(errno.EFBIG, "It is too deep to be copied")
        return _copy_folder(source, to, found, most, deepest - 1)
    if stat.S_ISLNK(found.st_mode):
        os.symlink(os.readlink(source.name, dir_fd=source.folder), to.name, dir_fd=to.folder)
        os.utime(to.name, ns=times, dir_fd=to.folder, follow_symlinks=False)
    elif stat.S_ISREG(found.st_mode):
        return _copy_file(source, to, most)
    return 0


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


def allow(spot: Spot) -> None:
    """Let the owner list and write a folder; anything else stays as it is."""
    mode = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        handle = os.open(spot.name, PLACE | HERE, dir_fd=spot.folder)
        try:
            change_mode(handle, stat.S_IMODE(mode) | stat.S_IRWXU)
        finally:
            os.close(handle)


def _copy_file(source: Spot, to: Spot, most: float) -> int:
    with os.fdopen(os.open(source.name, FILE, dir_fd=source.folder), "rb") as old:
        found = os.fstat(old.fileno())
        handle = os.open(to.name, _NEW, 0o600, dir_fd=to.folder)
        try:
            written = _copy_data(old.fileno(), handle, found.st_size, most)
            os.fchmod(handle, stat.S_IMODE(found.st_mode) | stat.S_IRUSR)
            # A command that runs knows it by this time.
            os.utime(handle, ns=(found.st_atime_ns, found.st_mtime_ns))
        except BaseException:
            os.unlink(to.name, dir_fd=to.folder)
            raise
        finally:
            os.close(handle)
    return written


def _copy_data(old: int, new: int, size: int, most: float) -> int:
    """Copy what a file held at first: whoever writes on does not keep it from ending."""
    at = end = written = 0
    while at < size:
        if at == end:
            try:
                at = os.lseek(old, at, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                break  # The rest is empty.
            end = os.lseek(old, at, os.SEEK_HOLE)
        data = os.pread(old, min(_AT_ONCE, end - at, max(0, size - at)), at)
        if not data:
            break
        if written + len(data) > most:
            raise OSError(errno.EFBIG, "It is too large to be copied")
        done = os.pwrite(new, data, at)
        at, written = at + done, written + done
    os.ftruncate(new, size)
    return written


def _copy_folder(source: Spot, to: Spot, found: os.stat_result, most: float, deepest: int) -> int:
    allow(source)
    os.mkdir(to.name, 0o700, dir_fd=to.folder)
    written = 0
    try:
        with contextlib.ExitStack() as opened:
            handles = []
            for each in (source, to):
                handles.append(os.open(each.name, os.O_RDONLY | HERE, dir_fd=each.folder))
                opened.callback(os.close, handles[-1])
            old, new = handles
            for name in os.listdir(old):
                written += copy(Spot(name, old), Spot(name, new), most - written, deepest)
            os.fchmod(new, stat.S_IMODE(found.st_mode) | stat.S_IRWXU)
            os.utime(new, ns=(found.st_atime_ns, found.st_mtime_ns))
    except BaseException:
        shutil.rmtree(to.name, ignore_errors=True, dir_fd=to.folder)
        raise
    return written
