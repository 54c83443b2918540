"""Files on disks that may be network drives: retries, atomic writes, backups."""

import asyncio
import errno
import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


async def read_with_retry(path: Path, max_retries: int = 3, initial_delay: float = 0.1) -> str:
    """Read a UTF-8 text file, trying again on I/O errors of a drive that is waking up.

    Args:
        path: The file.
        max_retries: Attempts in all.
        initial_delay: Seconds before the second attempt; doubled each time.

    Raises:
        OSError: Any other error at once, `EIO` after the last attempt.
    """
    return await _retrying(
        lambda: path.read_text(encoding="utf-8"), path, max_retries, initial_delay
    )


async def write_with_retry(
    path: Path, content: str, max_retries: int = 3, initial_delay: float = 0.1
) -> None:
    """Write a UTF-8 text file, creating its folder; retries as `read_with_retry` does."""

    def write() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    await _retrying(write, path, max_retries, initial_delay)


def write_with_backup(path: Path, content: str) -> None:
    """Write a text file atomically; the former content is kept as `<file>.backup`."""
    if path.exists():
        write_atomically(path.with_name(path.name + ".backup"), path.read_bytes())
    write_atomically(path, content)


def write_atomically(path: Path, content: str | bytes, *, mode: int | None = None) -> None:
    """Write a file so that a reader sees the old content or the new, never half of it.

    Args:
        path: The file; a symbolic link is written through, not replaced. Its folder is created.
        content: Text (UTF-8) or bytes.
        mode: Permissions; None keeps those of an existing file, else the umask decides.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8") if isinstance(content, str) else content
    if mode is None:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """Return the process's umask without touching it where the platform can tell."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    except (OSError, ValueError):
        return 0o022
    return 0o022


async def _retrying(action: Callable[[], _T], path: Path, attempts: int, delay: float) -> _T:
    attempt = 1
    while True:
        try:
            return await asyncio.to_thread(action)
        except OSError as error:
            if error.errno != errno.EIO or attempt >= attempts:
                raise
            _log.warning("I/O error on %s, attempt %d of %d", path, attempt, attempts)
        await asyncio.sleep(delay)
        attempt += 1
        delay *= 2
