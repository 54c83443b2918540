"""Keeps places read-only in a sandbox that runs. A program of its own, on Linux.

What is mounted over a file goes when another is put in the file's place from outside, as editors
do when they save, and git. From then on what runs inside could write there. So this program enters
the sandbox's mounts, is told by the kernel what comes in the folders of these files, and mounts
anew what can be written.

`python -I -S mounting.py PID`, with the number of the process that made the sandbox; on stdin come
absolute paths, each with a null byte behind it. It ends when stdin does. It takes nothing of this
package, which `-I` does not find.
"""

import ctypes
import errno
import fcntl
import os
import select
import stat
import struct
import sys
import time

_NEW_USER = 0x10000000
_NEW_MOUNTS = 0x00020000
_OWNER = 0xB701
"""Asks for the user namespace that a namespace is of (ioctl_ns(2))."""
_PLACE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_EMPTY_PATH = 0x1000
_RECURSIVE = 0x8000
_CLONE = 1
_BOTH_EMPTY = 0x4 | 0x40
_SET_READ_ONLY = 0x1 | 0x2 | 0x4
"""Read-only, no set-user-ID, no devices (mount_setattr(2))."""
_ATTRIBUTES = struct.Struct("QQQQ")
# The same on all machines. Where the kernel has no such calls (before 5.12), nothing is mounted.
_OPEN_TREE, _MOVE_MOUNT, _FACCESSAT, _MOUNT_SETATTR = 428, 429, 439, 442
_COMES = 0x80 | 0x100 | 0x4
"""Moved there, made there, or with other rights (inotify(7))."""
_HEAD = struct.Struct("iIII")
_BEGINS = 10.0
"""Seconds that a sandbox may take to begin."""
_PAUSE = 0.002

_libc = ctypes.CDLL(None, use_errno=True)


def _inside(pid: int) -> int:
    """Return a process of the sandbox, once everything is mounted: then its command has begun.

    Raises:
        OSError: It has ended before.
        TimeoutError: It does not begin.
    """
    until = time.monotonic() + _BEGINS
    while time.monotonic() < until:
        for child in _children(pid):
            if _children(child):
                return child
        time.sleep(_PAUSE)
    raise TimeoutError


def _children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(each) for each in file.read().split()]


def _enter(pid: int) -> None:
    """Take on the mounts of a process.

    Raises:
        OSError: That is not possible.
    """
    mounts = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    owner = fcntl.ioctl(mounts, _OWNER)
    for namespace, kind in ((owner, _NEW_USER), (mounts, _NEW_MOUNTS)):
        if _libc.setns(namespace, kind):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def _hold(place: bytes) -> None:
    """Mount a place over itself, read-only, where it can be written."""
    try:
        handle = _opened(place)
    except OSError:
        return  # It is gone, or a link is in the way.
    try:
        # What can't be written is mounted already, and a link is none of what is mounted.
        if not stat.S_ISLNK(os.fstat(handle).st_mode) and _is_writable(handle):
            _mount_again(handle)
    finally:
        os.close(handle)


def _opened(place: bytes) -> int:
    """Open a place folder by folder, following no link: a command may put one there at any time.

    Raises:
        OSError: It is gone, or a link is in the way.
    """
    handle = os.open("/", _PLACE | os.O_DIRECTORY)
    *folders, name = place.strip(b"/").split(b"/")
    for part, more in (*((each, os.O_DIRECTORY) for each in folders), (name, 0)):
        try:
            inner = os.open(part, _PLACE | more, dir_fd=handle)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _is_writable(handle: int) -> bool:
    return bool(_libc.syscall(_FACCESSAT, handle, b"", os.W_OK, _EMPTY_PATH) == 0)


def _mount_again(handle: int) -> None:
    """Mount what is open over itself, with all that is mounted in it: some of that hides things."""
    tree = _libc.syscall(_OPEN_TREE, handle, b"", _CLONE | _EMPTY_PATH | _RECURSIVE)
    if tree < 0:
        return
    try:
        attributes = _ATTRIBUTES.pack(_SET_READ_ONLY, 0, 0, 0)
        given = (tree, b"", _EMPTY_PATH | _RECURSIVE, attributes, len(attributes))
        if _libc.syscall(_MOUNT_SETATTR, *given) == 0:
            _libc.syscall(_MOVE_MOUNT, tree, b"", handle, b"", _BOTH_EMPTY)
    finally:
        os.close(tree)


def _follow() -> None:
    """Hold what is named on stdin, until that ends."""
    told = _libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    watched: dict[int, bytes] = {}
    places: set[bytes] = set()
    rest = b""
    waiting = select.poll()
    waiting.register(0, select.POLLIN | select.POLLHUP)
    if told >= 0:
        waiting.register(told, select.POLLIN)
    while True:
        ready = dict(waiting.poll())
        if told in ready:
            for watch, name in _events(told):
                place = watched.get(watch, b"") + b"/" + name
                if place in places:
                    _hold(place)
        if 0 in ready:
            data = os.read(0, 65_536)
            if not data:
                return
            *new, rest = (rest + data).split(b"\0")
            for place in new:
                folder = os.path.dirname(place)
                if told >= 0 and folder not in watched.values():
                    watch = _libc.inotify_add_watch(told, folder, _COMES)
                    watched |= {watch: folder} if watch >= 0 else {}
                places.add(place)
            for place in new:
                # One after the other: it may have been replaced before it was watched.
                _hold(place)


def _events(told: int) -> list[tuple[int, bytes]]:
    try:
        data = os.read(told, 65_536)
    except BlockingIOError:
        return []
    found, at = [], 0
    while at < len(data):
        watch, _, _, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        found.append((watch, data[at : at + length].rstrip(b"\0")))
        at += length
    return found


def main() -> int:
    """Hold places in the sandbox that a process made; returns an exit code."""
    try:
        _enter(_inside(int(sys.argv[1])))
        _follow()
    except (OSError, TimeoutError) as error:
        return error.errno or errno.ETIMEDOUT if isinstance(error, OSError) else errno.ETIMEDOUT
    return 0


if __name__ == "__main__":
    sys.exit(main())
