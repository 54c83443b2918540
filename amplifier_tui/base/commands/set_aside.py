"""What commands in the sandbox made and was moved aside: a list of it, and the way back.

The list is a file beside what was moved, for all sessions.
"""

import errno
import os
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from amplifier_tui.base.jsonl import StoredRows, append_rows
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.opened.copying import copy
from amplifier_tui.base.opened.folders import Spot, files_below, open_folder

_LIST: Final = "moved.jsonl"
_NO_LINK: Final = frozenset({errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK})


@dataclass(frozen=True, slots=True)
class SetAside:
    """Something that was moved aside.

    Attributes:
        place: Where it was, without links.
        kept: Where it is now.
        at: When it was moved, Unix time in seconds.
    """

    place: Path
    kept: Path
    at: float


def note_set_aside(folder: Path, place: Path, kept: Path) -> None:
    """Put something on the list. Blocking.

    Args:
        folder: What holds everything that is moved aside.
        place: Where it was.
        kept: Where it is now.

    Raises:
        OSError: The list can't be written.
    """
    row = {"place": str(place), "kept": str(kept), "at": time.time()}
    append_rows(folder / _LIST, [row])


def list_set_aside(folder: Path, around: Path, since: float = 0.0) -> list[SetAside]:
    """Return what is still there, the newest first. Blocking.

    Args:
        folder: What holds everything that is moved aside.
        around: Only what was in this folder, which has no links in it.
        since: Only what was moved after that, Unix time in seconds.

    Raises:
        OSError: The list can't be read.
    """
    found = []
    for _, row in StoredRows(folder / _LIST).read():
        place, kept, at = row.get("place"), row.get("kept"), row.get("at")
        if isinstance(place, str) and isinstance(kept, str) and isinstance(at, int | float):
            item = SetAside(Path(place), Path(kept), at)
            inside = item.place.is_relative_to(around) and item.kept.is_relative_to(folder)
            if inside and at >= since and os.path.lexists(kept):
                found.append(item)
    return found[::-1]


def put_back(item: SetAside) -> None:
    """Move something back to where it was, with the time it was changed at. Blocking.

    Nothing is written over, and no link that has come in the place of a folder is followed.

    Raises:
        FileExistsError: Something is there again.
        FileNotFoundError: Its folder, or what was moved, is gone.
        OSError: It can't be moved; it is where it was.
    """
    kept, mode = item.kept, item.kept.lstat().st_mode
    try:
        folder = open_folder(item.place.parent)
    except OSError as error:
        what = "Its folder is not there any more"
        raise FileNotFoundError(errno.ENOENT, what, str(item.place)) from error
    to = Spot(item.place.name, folder)
    try:
        with suppress(FileNotFoundError):
            os.stat(to.name, dir_fd=folder, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, "There is another by now", str(item.place))
        try:
            if _is_linked_elsewhere(kept):
                raise OSError(errno.EXDEV, "It has another name", str(kept))
            if stat.S_ISDIR(mode):
                os.rename(kept, to.name, dst_dir_fd=folder)
                return
            # As a rename, but nothing is written over.
            os.link(kept, to.name, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINK:
                raise
            copy(Spot(str(kept), None), to)
        shutil.rmtree(kept) if stat.S_ISDIR(mode) else kept.unlink()
    finally:
        os.close(folder)


def _is_linked_elsewhere(kept: Path) -> bool:
    """Whether a file has a second name: a command could write to it by that."""
    files = [kept] if kept.is_symlink() or kept.is_file() else files_below(kept)
    return any(each.lstat().st_nlink > 1 for each in files)
