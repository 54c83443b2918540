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
import struct
import sys
import time

_NEW_USER = 0x10000000
_NEW_MOUNTS = 0x00020000
_OWNER = 0xB701
"""Asks for the user namespace that a namespace is of (ioctl_ns(2))."""
_BIND = 4096
_READ_ONLY = _BIND | 32 | 1 | 2 | 4
"""Bind, remount, read-only, no set-user-ID, no devices (mount(2))."""
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
        # What is mounted over a link is mounted over where it leads.
        if os.path.islink(place) or not os.access(place, os.W_OK):
            return
    except OSError:
        return
    if not _libc.mount(place, place, None, _BIND, None):
        _libc.mount(None, place, None, _READ_ONLY, None)


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
