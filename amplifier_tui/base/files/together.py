"""Changing several files together: all of them, or none."""

import contextlib
import os
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from amplifier_tui.base.commands.beside import own_write
from amplifier_tui.base.files.reading import require_regular
from amplifier_tui.base.files.replacing import stage


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
        contents: The content of each file; None removes it. Links are refused.
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
        staged = {}
        for path, data in contents.items():
            if data is None:
                require_regular(path, path.lstat().st_mode)
            else:
                mode = (modes or {}).get(path)
                staged[path] = stage(path, data, mode=mode, durable=durable, links="refuse")
                leftovers.callback(_remove, staged[path])
        kept = {path: _kept(path, leftovers) for path in contents if path.exists()}
        with ExitStack() as undo:
            for path in contents:
                if path in kept:
                    undo.callback(os.replace, kept[path], path)
                else:
                    undo.callback(_remove, path)
                if path in staged:
                    os.replace(staged[path], path)
                else:
                    path.unlink()
            undo.pop_all()


def _kept(path: Path, leftovers: ExitStack) -> Path:
    """Give a file a second name, from which it can be restored without room on the disk."""
    name = path.with_name(f".{path.name[:80]}.{os.urandom(8).hex()}.old")
    leftovers.callback(_remove, name)
    try:
        os.link(path, name, follow_symlinks=False)
    except OSError:
        shutil.copy2(path, name)
    return name


def _remove(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
