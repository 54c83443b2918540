"""Being told by the kernel what changes in folders (inotify(7)); only on Linux."""

import ctypes
import os

NONE_LEFT = -1
"""What there is in place of a descriptor where programs of the user's have all that there are."""


def inotify() -> int:
    """Return a descriptor by which the kernel tells of changes, to be closed; or `NONE_LEFT`."""
    told: int = ctypes.CDLL(None).inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    return told
