"""Changing several files together: all of them, or none."""

import os
import shutil
import stat
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from amplifier_tui.base.commands.beside import own_write
from amplifier_tui.base.files.reading import FLAGS, open_resolved, require_regular
from amplifier_tui.base.files.replacing import (
    beside,
    is_open_to_others,
    remove,
    rename,
    stage,
    write_atomic,
)
from amplifier_tui.base.opened.folders import Spot, naming, spot_of


def write_together(
    contents: Mapping[Path, bytes | None],
    *,
    modes: Mapping[Path, int] | None = None,
    durable: bool = False,
) -> None:
    """Give several files a new content, or remove them; where one can't be changed, none is.

    Everything is written beside the files before the first is replaced, so that a full disk is
    found in time. A process that is killed between two replacements leaves the first ones replaced.

    Args:
        contents: The content of each file; None removes it. Links are refused: the paths have
            none, nor were any put in the place of their folders since.
        modes: Permissions; those of a file that is not named stay, or are the umask's.
        durable: Sync before the renames (see `base.files`).

    Raises:
        IsADirectoryError: A path is a folder.
        NotRegularFileError: A path is a link, pipe or device.
        OSError: A file can't be changed; all are as they were.
    """
    with ExitStack() as leftovers:
        for path in contents:
            leftovers.enter_context(own_write(path))
        spots = _spots(contents, leftovers)
        staged, kept = {}, {}
        for path, spot in spots.items():
            data = contents[path]
            with naming(path):
                if data is None:
                    found = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
                    require_regular(path, found.st_mode)
                else:
                    mode = (modes or {}).get(path)
                    staged[path] = stage(path, spot, data, mode=mode, durable=durable)
                    leftovers.callback(remove, staged[path], spot.folder)
        for path, spot in spots.items():
            with naming(path):
                kept[path] = _kept(path, spot, leftovers)
        with ExitStack() as undo:
            for path, (name, folder) in spots.items():
                before = kept[path]
                if before is not None:
                    undo.callback(rename, before, name, folder)
                else:
                    undo.callback(remove, name, folder)
                with naming(path):
                    if path in staged:
                        rename(staged[path], name, folder)
                    else:
                        os.unlink(name, dir_fd=folder)
            for path in filter(is_open_to_others, staged):
                write_atomic(path, contents[path] or b"", durable=durable, resolved=True)
            undo.pop_all()


def _spots(contents: Mapping[Path, bytes | None], held: ExitStack) -> dict[Path, Spot]:
    """Find the files by their folders, each of which is opened once."""
    folders: dict[Path, int | None] = {}
    spots = {}
    for path, data in contents.items():
        spot = Spot(path.name, folders.get(path.parent))
        if spot.folder is None:
            spot = held.enter_context(spot_of(path, make=data is not None))
            folders[path.parent] = spot.folder
        spots[path] = spot
    return spots


def _kept(path: Path, spot: Spot, leftovers: ExitStack) -> str | None:
    """Give a file a second name, from which it can be restored without room on the disk.

    None where there is no such file.
    """
    name = beside(spot.name, "old")
    leftovers.callback(remove, name, spot.folder)
    folder = spot.folder
    try:
        os.link(spot.name, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError:
        _copy(path, name, folder)
    return name


def _copy(path: Path, name: str, folder: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS
    with open_resolved(path) as source:
        found = os.fstat(source.fileno())
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as target:
            shutil.copyfileobj(source, target)
            if os.chmod in os.supports_fd:
                os.chmod(target.fileno(), stat.S_IMODE(found.st_mode))
            if os.utime in os.supports_fd:
                target.flush()
                os.utime(target.fileno(), ns=(found.st_atime_ns, found.st_mtime_ns))
