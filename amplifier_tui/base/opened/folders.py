"""Folders that are opened one by one, without following links, and what is in them.

Whoever decides about a path follows its links first, and decides about where it leads. Until it is
used, a command that runs may put a link in the place of any folder it can write: then nothing is
opened. The searching process imports this, so it knows only the standard library.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

HERE: Final = (
    getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)
PLACE: Final = getattr(os, "O_PATH", os.O_RDONLY)
"""Opens a folder for its place only, which takes no right to list it."""

FILE: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
"""Opens a file for reading, but no link, and without waiting for who writes into a pipe."""

HAS_FOLDERS: Final = hasattr(os, "O_NOFOLLOW") and {os.open, os.mkdir} <= os.supports_dir_fd
"""Whether the system opens what is in an open folder; elsewhere paths are used as they are."""

_NO_LINKS: Final = 0 if hasattr(os, "O_PATH") else getattr(os, "O_NOFOLLOW_ANY", 0)
"""Opens a whole path without following links (macOS), where folders can't be opened unlisted."""


class Spot(NamedTuple):
    """A file by its open folder.

    Attributes:
        name: Its name, or its whole path where the system has no open folders.
        folder: The folder, for the arguments called `dir_fd`; None where there is none.
    """

    name: str
    folder: int | None


@contextmanager
def spot_of(path: str | Path, *, make: bool = False) -> Iterator[Spot]:
    """Find a file by its folder, which stays open, and the same, in the block.

    Args:
        path: The file, its links followed; it need not exist.
        make: Make the folders that are missing.

    Raises:
        OSError: The folder can't be opened, or a link is in the way (`ELOOP`).
    """
    whole = os.path.abspath(path)
    above, name = os.path.split(whole)
    if not HAS_FOLDERS:
        if make:
            os.makedirs(above, exist_ok=True)
        yield Spot(whole, None)
        return
    folder = open_folder(above, make=make)
    try:
        yield Spot(name or os.curdir, folder)
    finally:
        os.close(folder)


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Have errors of the block name a path, where the system knows a part of it."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


@contextmanager
def listed_folder(folder: str | Path) -> Iterator[int | str]:
    """Open a folder for `os.scandir` and `os.listdir`.

    Args:
        folder: Absolute, its links followed.

    Raises:
        OSError: It can't be opened, or a link is in the way (`ELOOP`).
    """
    if not HAS_FOLDERS:
        yield str(folder)
        return
    handle = open_folder(folder, listed=True)
    try:
        yield handle
    finally:
        os.close(handle)


def open_folder(folder: str | Path, *, listed: bool = False, make: bool = False) -> int:
    """Open a folder, which the caller closes, without following links.

    Args:
        folder: Absolute, its links followed.
        listed: So that it can be listed, not for its place only.
        make: Make what is missing of it.

    Raises:
        OSError: It can't be opened, or a link is in the way (`ELOOP`).
    """
    with naming(folder):
        return _opened(os.fspath(folder), os.O_RDONLY if listed else PLACE, make=make)


def _opened(whole: str, flags: int, *, make: bool) -> int:
    try:
        if _NO_LINKS:
            return os.open(whole, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | _NO_LINKS)
        root, *parts = Path(whole).parts
        return _walked(os.open(root, (PLACE if parts else flags) | HERE), parts, flags)
    except FileNotFoundError:
        above, name = os.path.split(whole)
        if not make or not name:
            raise
    outer = _opened(above, PLACE, make=True)
    try:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=outer)
        return _inner(outer, name, flags)
    finally:
        os.close(outer)


@contextmanager
def opened(workspace: Path, folder: Path) -> Iterator[int]:
    """Open a folder of a workspace for its place.

    Raises:
        FileNotFoundError: It is gone, or a link is in the way.
        OSError: It can't be opened.
    """
    parts = folder.relative_to(workspace).parts
    try:
        handle = _walked(os.open(workspace, PLACE | HERE), parts, PLACE)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        where = error.filename
        raise FileNotFoundError(errno.ENOENT, "A link is in the way", where) from error
    try:
        yield handle
    finally:
        os.close(handle)


def _walked(handle: int, parts: list[str] | tuple[str, ...], flags: int) -> int:
    """Go from an open folder to one below it; the first is closed."""
    last = len(parts) - 1
    for number, part in enumerate(parts):
        try:
            inner = _inner(handle, part, flags if number == last else PLACE)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _inner(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags | HERE, dir_fd=folder)
    except NotADirectoryError as error:
        # The system says so of a link, too.
        if _is_link(name, folder):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from error
        raise


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def files_below(folder: Path) -> Iterator[Path]:
    """Yield all that is below a folder and is no folder itself; it follows no link. Blocking."""
    for at, folders, files in os.walk(folder):
        links = (name for name in folders if os.path.islink(Path(at, name)))
        yield from (Path(at, name) for name in (*files, *links))
