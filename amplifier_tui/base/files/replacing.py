"""Replacing a file in one step, and finding a name beside it."""

import contextlib
import errno
import os
import signal
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Literal

from amplifier_tui.base.commands.beside import are_watched, own_write
from amplifier_tui.base.files.reading import FLAGS, NO_WAIT, require_regular
from amplifier_tui.base.opened.folders import Spot, naming, spot_of

Links = Literal["replace", "follow", "refuse"]

_TRIES: Final = 5


def write_atomic(
    path: Path,
    data: bytes | str,
    *,
    mode: int | None = None,
    durable: bool = False,
    links: Links = "replace",
    resolved: bool = False,
) -> None:
    """Replace a file's content in one step; see `replacing`.

    Args:
        data: The content; text is written as UTF-8.

    Raises:
        OSError: As there, or a confined command gets hold of it each time (`EBUSY`).
    """
    content = data.encode() if isinstance(data, str) else data
    for _ in range(_TRIES):
        with replacing(path, mode=mode, durable=durable, links=links, resolved=resolved) as file:
            file.write(content)
        if not is_open_to_others(path):
            return
    raise OSError(errno.EBUSY, "A command keeps a way to write to it", str(path))


def is_open_to_others(path: Path) -> bool:
    """Whether a confined command may write to a new file, though it may not by its name. Blocking.

    It gave a second name to what stood in for the file, or has it open.
    """
    if not are_watched():
        return False
    try:
        handle = os.open(path, os.O_RDONLY | NO_WAIT | FLAGS)
    except OSError:
        return False
    try:
        return os.fstat(handle).st_nlink > 1 or _is_being_written(handle)
    finally:
        os.close(handle)


def _is_being_written(handle: int) -> bool:
    """Whether anybody has a file open for writing, where the system tells."""
    if sys.platform != "linux":
        return False
    import fcntl

    with contextlib.suppress(OSError):
        # Who opens it meanwhile is told of by a signal that does nothing.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        try:
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            return True
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


@contextlib.contextmanager
def replacing(
    path: Path,
    *,
    mode: int | None = None,
    durable: bool = False,
    links: Links = "replace",
    new: bool = False,
    resolved: bool = False,
) -> Iterator[BinaryIO]:
    """Replace a file's content in one step: a reader sees the old or the new, never half of it.

    Yields:
        What takes the content. It is put in place when the block ends; where that raises, the
        file is as it was.

    Args:
        path: The file. Folders on the way are made.
        mode: Permissions; None keeps those of an existing file, else the umask decides.
        durable: Sync before the rename (the policy is in the package's docstring).
        links: What happens to a symbolic link at `path`: a file takes its place, the file it
            points to is replaced, or it is an error.
        new: Replace nothing.
        resolved: The links to its folder are followed already: one that was put there since is an
            error. Where links are refused, it always is.

    Raises:
        FileExistsError: Something is there, and it has to be new.
        IsADirectoryError: The path is a folder.
        NotRegularFileError: It is a pipe or device, or a link that is refused.
        OSError: The file can't be written; it is as it was.
    """
    if links == "follow":
        path = path.resolve()
    # Folders are made for it, too.
    with own_write(path), _spot_of(path, resolved or links == "refuse") as spot:
        with _staging(path, spot, mode=mode, links=links) as (file, temporary):
            _require_free(path, spot, new)
            yield file
            _finish(file, durable)
        try:
            # Once more: writing may have taken a while.
            _require_free(path, spot, new)
            rename(temporary, spot.name, spot.folder)
        except BaseException:
            remove(temporary, spot.folder)
            raise


def stage(
    path: Path,
    spot: Spot,
    data: bytes | str,
    *,
    mode: int | None = None,
    durable: bool = False,
) -> str:
    """Write what is to become a file's content beside it; arguments and errors as `write_atomic`.

    Args:
        spot: The file; a link there is an error.

    Returns:
        The name, in the same folder, of the file that is to be renamed.
    """
    with _staging(path, spot, mode=mode, links="refuse") as (file, temporary):
        file.write(data.encode() if isinstance(data, str) else data)
        _finish(file, durable)
    return temporary


def rename(name: str, to: str, folder: int | None) -> None:
    """Put a file in the place of another one of its folder.

    Raises:
        OSError: It can't be done.
    """
    if folder is None:
        os.replace(name, to)
    else:
        os.replace(name, to, src_dir_fd=folder, dst_dir_fd=folder)


def remove(name: str, folder: int | None) -> None:
    """Remove a file that need not be there."""
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=folder)


def beside(name: str, mark: str) -> str:
    """Return a name in the same folder that nothing has."""
    above, last = os.path.split(name)
    return os.path.join(above, f".{last[:80]}.{os.urandom(8).hex()}.{mark}")


def write_link(path: Path, target: bytes) -> None:
    """Put a symbolic link in place of a file or link in one step; folders on the way are made.

    Args:
        path: The links to its folder are followed already: one that was put there since is an
            error.
        target: Where it leads, as it is to be written in it.

    Raises:
        OSError: It can't be made; what was there is as it was.
    """
    with own_write(path), _spot_of(path, resolved=True) as spot:
        temporary = beside(spot.name, "tmp")
        os.symlink(os.fsdecode(target), temporary, dir_fd=spot.folder)
        try:
            rename(temporary, spot.name, spot.folder)
        except BaseException:
            remove(temporary, spot.folder)
            raise


@contextlib.contextmanager
def _spot_of(path: Path, resolved: bool) -> Iterator[Spot]:
    """Find a file, for which its folders are made."""
    if resolved:
        with naming(path), spot_of(path, make=True) as spot:
            yield spot
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    yield Spot(str(path), None)


@contextlib.contextmanager
def _staging(
    path: Path, spot: Spot, *, mode: int | None, links: Links
) -> Iterator[tuple[BinaryIO, str]]:
    """Make a file beside another one, which goes again where the block raises."""
    found = _existing_mode(path, spot, links)
    mode = found if mode is None else mode
    temporary = beside(spot.name, "tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS
    rights = 0o666 if mode is None else 0o600
    handle = os.open(temporary, flags, rights, dir_fd=spot.folder)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                os.chmod(handle if os.chmod in os.supports_fd else temporary, mode)
            yield file, temporary
    except BaseException:
        remove(temporary, spot.folder)
        raise


def _finish(file: BinaryIO, durable: bool) -> None:
    file.flush()
    if durable:
        os.fsync(file.fileno())


def _require_free(path: Path, spot: Spot, new: bool) -> None:
    if new and _mode_of(spot) is not None:
        raise FileExistsError(errno.EEXIST, "is there already", str(path))


def _existing_mode(path: Path, spot: Spot, links: Links) -> int | None:
    found = _mode_of(spot)
    if found is None or (stat.S_ISLNK(found) and links == "replace"):
        return None
    require_regular(path, found)
    return stat.S_IMODE(found)


def _mode_of(spot: Spot) -> int | None:
    try:
        return os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def free_name(path: Path, why: str) -> Path:
    """Return a name beside a file that nothing has yet: `<name>.<why>-<date and time>`."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    number = 0
    while True:
        aside = path.with_name(f"{path.name}.{why}-{stamp}{f'-{number}' if number else ''}")
        if not aside.exists():
            return aside
        number += 1


def move_aside(path: Path) -> Path:
    """Rename a file that can't be used, keeping it for whoever wants to look; returns its new path.

    Raises:
        OSError: It can't be renamed.
    """
    return path.rename(free_name(path, "corrupt"))
