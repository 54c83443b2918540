"""Files that must not be lost or half written: replacing, appending, locking, careful reading.

**When data is synced to the disk** (`fsync`), for the whole program:

* `write_atomic(..., durable=True)` syncs before the rename. It is for what can't be made again:
  the user's own files, settings, keys, a conversation written anew. Without it a power cut right
  after the rename may leave an empty file.
* All else is not synced. A replaced file is old or new for every other program, and an appended
  line survives the death of the process the moment `append` returns; only a power cut can take
  the last seconds. Syncing each row would cost more than everything else a row costs.
"""

import contextlib
import errno
import logging
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Literal

try:
    import fcntl
except ImportError:  # Windows has no flock; there nothing is guarded.
    _flock = None
else:
    _flock = fcntl.flock
    _EXCLUSIVE = fcntl.LOCK_EX | fcntl.LOCK_NB

logger = logging.getLogger(__name__)

_FLAGS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)
_BUSY: Final = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)
_RETRY_SECONDS: Final = 0.01

MOST_BYTES: Final = 64_000_000
"""Most that is read of a file that is read whole: far more than people or programs write there."""


class NotRegularFileError(OSError):
    """The path is a pipe, a device or, where links are refused, a link."""


class FileTooLargeError(OSError):
    """The file holds more than is read of such a file."""


class FileLockedError(OSError):
    """Another process, or another part of this one, holds the lock.

    Attributes:
        owner: The process id of the holder, where it noted one; else empty.
    """

    def __init__(self, path: Path, owner: str) -> None:
        super().__init__(errno.EAGAIN, "locked" + (f" by process {owner}" if owner else ""))
        self.filename = str(path)
        self.owner = owner


def write_atomic(
    path: Path,
    data: bytes | str,
    *,
    mode: int | None = None,
    durable: bool = False,
    links: Literal["replace", "follow", "refuse"] = "replace",
) -> None:
    """Replace a file's content in one step: a reader sees the old or the new, never half of it.

    Args:
        path: The file. Folders on the way are made.
        data: The content; text is written as UTF-8.
        mode: Permissions; None keeps those of an existing file, else the umask decides.
        durable: Sync before the rename (the policy is in this module's docstring).
        links: What happens to a symbolic link at `path`: a file takes its place, the file it
            points to is replaced, or it is an error.

    Raises:
        IsADirectoryError: The path is a folder.
        NotRegularFileError: It is a pipe or device, or a link that is refused.
        OSError: The file can't be written; it is as it was.
    """
    if links == "follow":
        path = path.resolve()
    found = _existing_mode(path, links)
    mode = found if mode is None else mode
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:80]}.{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS
    handle = os.open(temporary, flags, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _existing_mode(path: Path, links: str) -> int | None:
    try:
        found = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(found) and links == "replace":
        return None
    _require_regular(path, found)
    return stat.S_IMODE(found)


def _require_regular(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", str(path))
    if not stat.S_ISREG(mode):
        raise NotRegularFileError(errno.EINVAL, "is a link, device or pipe, not a file", str(path))


def open_regular(path: Path, *, follow_links: bool = True) -> BinaryIO:
    """Open a file for reading, but nothing that could block, such as a pipe.

    Args:
        path: The file.
        follow_links: Whether the last part of the path may be a symbolic link.

    Raises:
        IsADirectoryError: It is a folder.
        NotRegularFileError: It is a pipe or device, or a link that is not followed.
        OSError: It can't be opened.
    """
    # Before opening, since a link that is not followed fails with the error of a link loop.
    _require_regular(path, (path.stat() if follow_links else path.lstat()).st_mode)
    flags = os.O_RDONLY | _NO_WAIT | _FLAGS | (0 if follow_links else _NO_LINK)
    file = os.fdopen(os.open(path, flags), "rb")
    try:
        _require_regular(path, os.fstat(file.fileno()).st_mode)
    except OSError:
        file.close()
        raise
    return file


def read_regular(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a file whole, but nothing that could block or has no end, such as a pipe or device.

    Args:
        path: The file; links are followed.
        most: Bytes beyond which it is not read.

    Raises:
        FileTooLargeError: It is larger.
        IsADirectoryError: It is a folder.
        NotRegularFileError: It is a pipe or device.
        OSError: It can't be read.
    """
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise FileTooLargeError(errno.EFBIG, f"is larger than {most:,} bytes", str(path))
    return data


class AppendFile:
    """A file of lines that grows at its end.

    What is appended is in the file for other programs, and after this process dies, when `append`
    returns. Several processes may append to the same file.

    Args:
        path: The file; it and its folder are made when the first data comes.
        mode: Permissions of a new file.
    """

    def __init__(self, path: Path, mode: int = 0o600) -> None:
        self.path = path
        self._mode = mode
        self._handle: int | None = None

    @property
    def size(self) -> int:
        """Bytes in the file; 0 before the first data."""
        return 0 if self._handle is None else os.fstat(self._handle).st_size

    def append(self, lines: bytes) -> int:
        """Append lines, all or none.

        Args:
            lines: With their line ends.

        Returns:
            Where in the file they begin.

        Raises:
            OSError: The disk does not take them.
        """
        handle = self._open()
        start = os.fstat(handle).st_size
        view, written = memoryview(lines), 0
        try:
            # A disk that gets full takes a part of it, and says no only to the rest.
            while written < len(view):
                written += os.write(handle, view[written:])
        except OSError:
            self._take_back(handle, start, written)
            raise
        return start

    def clear(self) -> None:
        """Empty the file.

        Raises:
            OSError: It can't be done.
        """
        if self._handle is not None:
            os.ftruncate(self._handle, 0)

    def close(self) -> None:
        """Close the file; the next `append` opens it again."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            os.close(handle)

    def _open(self) -> int:
        if self._handle is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | _NO_WAIT | _FLAGS
            handle = os.open(self.path, flags, self._mode)
            try:
                if os.fstat(handle).st_size:
                    os.lseek(handle, -1, os.SEEK_END)
                    if os.read(handle, 1) != b"\n":
                        # A process that was killed left half a line; the next one gets its own.
                        os.write(handle, b"\n")
            except OSError:
                os.close(handle)
                raise
            self._handle = handle
        return self._handle

    def _take_back(self, handle: int, start: int, written: int) -> None:
        """Remove half a line, unless another process appended after it meanwhile."""
        try:
            if os.fstat(handle).st_size == start + written:
                os.ftruncate(handle, start)
        except OSError:
            logger.warning("%s may have half a line at its end", self.path)


def append(path: Path, lines: bytes, *, mode: int = 0o600) -> None:
    """Append lines to a file once, all or none; see `AppendFile`.

    Raises:
        OSError: The file can't be written; it is as it was.
    """
    with contextlib.closing(AppendFile(path, mode)) as file:
        file.append(lines)


class FileLock:
    """A lock between processes (and threads), kept on a file of its own.

    It ends with the process, however that ends; the file stays. Where the system or the file
    system has no locks nothing is guarded.

    Args:
        path: The file to lock, which is not the file that is guarded.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def acquire(self, timeout: float = 0.0) -> None:
        """Take the lock.

        Args:
            timeout: Seconds to wait for another holder.

        Raises:
            FileLockedError: Another holder still has it.
            IsADirectoryError: The path is a folder.
            NotRegularFileError: It is a link, a pipe or a device.
            OSError: The file can't be made.
        """
        flags = os.O_RDWR | os.O_CREAT | _NO_LINK | _NO_WAIT | _FLAGS
        handle = os.open(self.path, flags, 0o600)
        try:
            _require_regular(self.path, os.fstat(handle).st_mode)
            self._wait(handle, time.monotonic() + timeout)
            os.ftruncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    def release(self) -> None:
        """Give the lock back; without it nothing happens."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            os.close(handle)

    def _wait(self, handle: int, deadline: float) -> None:
        while _flock is not None:
            try:
                return _flock(handle, _EXCLUSIVE)
            except OSError as error:
                if error.errno not in _BUSY:
                    logger.warning("%s can't be locked: %s", self.path, error)
                    return None
                if time.monotonic() >= deadline:
                    owner = os.read(handle, 20).decode("ascii", "replace").strip()
                    raise FileLockedError(self.path, owner if owner.isdigit() else "") from error
            time.sleep(_RETRY_SECONDS)
        return None


@contextlib.contextmanager
def locked(path: Path, timeout: float = 10.0) -> Iterator[None]:
    """Keep other processes from changing a file between reading it and writing it.

    Args:
        path: The guarded file; the lock is on `<name>.lock` beside it. The folder is made.
        timeout: Seconds to wait for another holder.

    Raises:
        FileLockedError: Another holder still has it.
        OSError: The lock file can't be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(path.name + ".lock"))
    lock.acquire(timeout)
    try:
        yield
    finally:
        lock.release()


def free_name(path: Path, why: str) -> Path:
    """Return a name beside a file that nothing has yet: `<name>.<why>-<date and time>`."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    number = 0
    while True:
        aside = path.with_name(f"{path.name}.{why}-{stamp}{f'-{number}' if number else ''}")
        if not aside.exists():
            return aside
        number += 1


def move_aside(path: Path, why: str) -> Path:
    """Rename a file that can't be used, keeping it for whoever wants to look.

    Args:
        path: The file.
        why: A word for its new name, such as "corrupt".

    Returns:
        Its new path.

    Raises:
        OSError: It can't be renamed.
    """
    aside = free_name(path, why)
    path.rename(aside)
    return aside
