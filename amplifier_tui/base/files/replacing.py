"""Replacing a file in one step, and finding a name beside it."""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

from amplifier_tui.base.commands.beside import own_write
from amplifier_tui.base.files.reading import FLAGS, require_regular

Links = Literal["replace", "follow", "refuse"]


def write_atomic(
    path: Path,
    data: bytes | str,
    *,
    mode: int | None = None,
    durable: bool = False,
    links: Links = "replace",
) -> None:
    """Replace a file's content in one step; see `replacing`.

    Args:
        data: The content; text is written as UTF-8.
    """
    with replacing(path, mode=mode, durable=durable, links=links) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextlib.contextmanager
def replacing(
    path: Path,
    *,
    mode: int | None = None,
    durable: bool = False,
    links: Links = "replace",
    new: bool = False,
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

    Raises:
        FileExistsError: Something is there, and it has to be new.
        IsADirectoryError: The path is a folder.
        NotRegularFileError: It is a pipe or device, or a link that is refused.
        OSError: The file can't be written; it is as it was.
    """
    if links == "follow":
        path = path.resolve()
    # Folders are made for it, too.
    with own_write(path):
        with _staging(path, mode=mode, links=links) as (file, temporary):
            _require_free(path, new)
            yield file
            _finish(file, durable)
        try:
            # Once more: writing may have taken a while.
            _require_free(path, new)
            os.replace(temporary, path)
        except BaseException:
            _remove(temporary)
            raise


def stage(
    path: Path,
    data: bytes | str,
    *,
    mode: int | None = None,
    durable: bool = False,
    links: Links = "replace",
) -> Path:
    """Write what is to become a file's content beside it; arguments and errors as `write_atomic`.

    Returns:
        The file to be renamed to `path`.
    """
    with _staging(path, mode=mode, links=links) as (file, temporary):
        file.write(data.encode() if isinstance(data, str) else data)
        _finish(file, durable)
    return temporary


def write_link(path: Path, target: bytes) -> None:
    """Put a symbolic link in place of a file or link in one step; folders on the way are made.

    Args:
        target: Where it leads, as it is to be written in it.

    Raises:
        OSError: It can't be made; what was there is as it was.
    """
    with own_write(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _temporary(path)
        os.symlink(os.fsdecode(target), temporary)
        try:
            os.replace(temporary, path)
        except BaseException:
            _remove(temporary)
            raise


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name[:80]}.{os.urandom(8).hex()}.tmp")


@contextlib.contextmanager
def _staging(path: Path, *, mode: int | None, links: Links) -> Iterator[tuple[BinaryIO, Path]]:
    """Make a file beside another one, which goes again where the block raises."""
    found = _existing_mode(path, links)
    mode = found if mode is None else mode
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS
    handle = os.open(temporary, flags, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                os.chmod(temporary, mode)
            yield file, temporary
    except BaseException:
        _remove(temporary)
        raise


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _finish(file: BinaryIO, durable: bool) -> None:
    file.flush()
    if durable:
        os.fsync(file.fileno())


def _require_free(path: Path, new: bool) -> None:
    if new and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "is there already", str(path))


def _existing_mode(path: Path, links: Links) -> int | None:
    try:
        found = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(found) and links == "replace":
        return None
    require_regular(path, found)
    return stat.S_IMODE(found)


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
