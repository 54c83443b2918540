"""Unpacking archives from strangers: bounded, and never outside the target."""

import os
import shutil
import stat
import threading
import zipfile
from pathlib import Path, PurePosixPath

from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.sources.context import FetchLimits

_CHUNK = 262_144


def unpack_zip(
    archive: Path, target: Path, limits: FetchLimits, stop: threading.Event | None = None
) -> None:
    """Unpack a zip archive into a folder that does not exist; a failure leaves no folder.

    Sizes are counted as bytes come out, whatever the archive's directory claims.

    Args:
        archive: The file.
        target: The folder to make.
        limits: Entries and bytes that may come out.
        stop: Set by a caller who no longer wants it.

    Raises:
        BundleNotFoundError: It is no archive, is damaged or encrypted, exceeds the limits, or has
            an entry that is a link or would land outside `target`.
    """
    try:
        with zipfile.ZipFile(archive) as content:
            entries = content.infolist()
            if len(entries) > limits.archive_entries:
                raise BundleNotFoundError(
                    f"{archive.name} has more than {limits.archive_entries:,} entries"
                )
            left = limits.archive_bytes
            target.mkdir(parents=True)
            for entry in entries:
                left -= _unpack_entry(content, entry, target, left, stop)
                if left < 0:
                    raise BundleNotFoundError(
                        f"{archive.name} unpacks to more than {limits.archive_bytes:,} bytes"
                    )
    except BaseException as error:
        shutil.rmtree(target, ignore_errors=True)
        if isinstance(error, BundleNotFoundError) or not isinstance(error, Exception):
            raise
        raise BundleNotFoundError(f"Cannot unpack {archive.name}: {error}") from error


def _unpack_entry(
    content: zipfile.ZipFile,
    entry: zipfile.ZipInfo,
    target: Path,
    left: int,
    stop: threading.Event | None,
) -> int:
    path = target.joinpath(*_safe_parts(entry))
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with content.open(entry) as source, path.open("xb") as stream:
        while chunk := source.read(_CHUNK):
            if stop is not None and stop.is_set():
                raise BundleNotFoundError("Cancelled")
            size += len(chunk)
            if size > left:
                break
            stream.write(chunk)
    if (entry.external_attr >> 16) & 0o111 and os.name != "nt":
        path.chmod(path.stat().st_mode | 0o111)
    return size


def _safe_parts(entry: zipfile.ZipInfo) -> tuple[str, ...]:
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise BundleNotFoundError(f"Refused: the archive has a symbolic link {entry.filename!r}")
    name = entry.filename.replace("\\", "/")
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or ":" in parts[0] or "\0" in name:
        raise BundleNotFoundError(f"Refused: the archive has an unsafe path {entry.filename!r}")
    return parts
