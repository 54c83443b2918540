"""Keeps places read-only in a sandbox that runs. A program of its own, on Linux.

What is mounted over a file goes when another is put in the file's place from outside, as editors
do when they save, and git. From then on what runs inside could write there. So this program enters
the sandbox's mounts, is told by the kernel what comes in the folders of these files, and mounts
anew what can be written.

`python -I -S mounting.py TOLD`, with the descriptor by which the kernel tells of changes, negative
where there is none: then it looks itself, again and again. On stdin come, each with a null byte
behind it, the number of the process that makes the sandbox, and absolute paths. It ends when stdin
or the sandbox does. It takes nothing of this package, which `-I` does not find.
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
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_COMES = 0x80 | 0x100
"""Moved there, or made there (inotify(7))."""
_TOO_MANY = -1
"""In place of a folder, where changes came that are not told."""
_HEAD = struct.Struct("iIII")
_AT_ONCE = 65_536
_PAUSE = 0.002
_LOOK_EVERY = 20
"""Milliseconds between two looks at what the kernel tells nothing of."""

_libc = ctypes.CDLL(None, use_errno=True)


def _inside(group: int) -> int:
    """Return the first process of a sandbox, once everything is mounted: then it has another.

    It stays as long as anything in it does, which may be longer than the one that made it.

    Args:
        group: The process group of the sandbox.

    Raises:
        ProcessLookupError: It has ended before.
    """
    while members := [
        pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _group(pid) == group
    ]:
        for pid in members:
            try:
                if _is_first(pid) and _has_children(pid):
                    return pid
            except OSError:
                continue  # It has just ended.
        time.sleep(_PAUSE)
    raise ProcessLookupError(errno.ESRCH, "There is no sandbox any more")


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def _is_first(pid: int) -> bool:
    """Whether a process is the first of a namespace within that of this one."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        numbers = next((line.split()[1:] for line in file if line.startswith("NSpid:")), [])
    return len(numbers) > 1 and numbers[-1] == "1"


def _has_children(pid: int) -> bool:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return bool(file.read())


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
    """Mount a place over itself, read-only, where it is not."""
    try:
        handle = _opened(place)
        try:
            is_link = stat.S_ISLNK(os.fstat(handle).st_mode)
            # What is mounted is not told by its rights: its owner may give it others. And a link is
            # none of what is mounted.
            if not is_link and not os.fstatvfs(handle).f_flag & os.ST_RDONLY:
                _mount_again(handle)
        finally:
            os.close(handle)
    except OSError:
        return  # It is gone, or a link is in the way.


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


def _follow(told: int, new: list[bytes], rest: bytes) -> None:
    """Hold places until stdin ends, on which come more of them.

    Args:
        told: By what the kernel tells of changes; negative without.
        new: The first.
        rest: The beginning of the next.
    """
    watched: dict[int, bytes] = {}
    places: set[bytes] = set()
    looked_at: set[bytes] = set()
    waiting = select.poll()
    waiting.register(0, select.POLLIN | select.POLLHUP)
    if told >= 0:
        waiting.register(told, select.POLLIN)
    due: set[bytes] = set()
    while True:
        for place in new:
            folder = os.path.dirname(place)
            watch = _libc.inotify_add_watch(told, folder, _COMES)
            watched[watch] = folder
            if watch < 0:
                looked_at.add(place)
        places.update(new)
        # Those that are new, too: they may have been replaced before they were watched.
        for place in due.union(new, looked_at):
            _hold(place)
        ready = dict(waiting.poll(_LOOK_EVERY if looked_at else None))
        new, due = [], set()
        for watch, name in _events(told) if told in ready else ():
            due |= places if watch == _TOO_MANY else {watched[watch] + b"/" + name} & places
        if 0 in ready:
            data = os.read(0, _AT_ONCE)
            if not data:
                return
            *new, rest = (rest + data).split(b"\0")


def _events(told: int) -> list[tuple[int, bytes]]:
    try:
        data = os.read(told, _AT_ONCE)
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
    """Hold places in the sandbox that is named on stdin; returns an exit code."""
    group, *new = os.read(0, _AT_ONCE).split(b"\0")
    if not new:
        return 0  # No sandbox has begun.
    try:
        _enter(_inside(int(group)))
        _follow(int(sys.argv[1]), new[:-1], new[-1])
    except OSError as error:
        return error.errno or errno.EIO
    return 0


if __name__ == "__main__":
    sys.exit(main())
