"""What commands in the sandbox made and was moved aside: a list of it, and the way back.

The list is a file beside what was moved, for all sessions.
"""

import errno
import os
import shutil
import stat
import time
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import open_regular
from amplifier_tui.base.jsonl import StoredRows, append_rows
from amplifier_tui.base.lazy.dataclass import dataclass

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

    Nothing is written over, and a link that has come in the place of its folder is not followed.

    Raises:
        FileExistsError: Something is there again.
        FileNotFoundError: Its folder, or what was moved, is gone.
        OSError: It can't be moved; it is where it was.
    """
    place, kept = item.place, item.kept
    if place.parent.resolve() != place.parent or not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "Its folder is not there any more", str(place))
    if os.path.lexists(place):
        raise FileExistsError(errno.EEXIST, "There is another by now", str(place))
    if stat.S_ISDIR(kept.lstat().st_mode):
        _move_folder(kept, place)
    else:
        _move_file(kept, place)


def _move_folder(kept: Path, place: Path) -> None:
    try:
        kept.rename(place)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        try:
            shutil.copytree(kept, place, symlinks=True)
        except shutil.Error as several:
            shutil.rmtree(place, ignore_errors=True)
            raise OSError(errno.EIO, "It could not be copied", str(place)) from several
        except OSError:
            shutil.rmtree(place, ignore_errors=True)
            raise
        shutil.rmtree(kept)


def _move_file(kept: Path, place: Path) -> None:
    try:
        # As a rename, but nothing is written over.
        os.link(kept, place, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
        _copy_file(kept, place)
    kept.unlink()


def _copy_file(kept: Path, place: Path) -> None:
    found = kept.lstat()
    times = (found.st_atime_ns, found.st_mtime_ns)
    if stat.S_ISLNK(found.st_mode):
        place.symlink_to(os.readlink(kept))
        os.utime(place, ns=times, follow_symlinks=False)
        return
    with open_regular(kept, follow_links=False) as source, place.open("xb") as target:
        try:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fchmod(target.fileno(), stat.S_IMODE(found.st_mode))
            # A command that runs knows it by this time.
            os.utime(target.fileno(), ns=times)
        except OSError:
            place.unlink()
            raise
