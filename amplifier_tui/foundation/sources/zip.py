"""`zip+https://` and `zip+file://` sources, unpacked within limits."""

import asyncio
import os
import shutil
import stat
import threading
import uuid
import zipfile
from pathlib import Path, PurePosixPath

from amplifier_tui.base.files import write_atomic
from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.paths import ParsedURI, ResolvedSource, local_path
from amplifier_tui.foundation.sources.context import (
    FetchingHandler,
    FetchLimits,
    cache_name,
    fresh_name,
    join_subpath,
)
from amplifier_tui.foundation.sources.git_commands import remove_tree
from amplifier_tui.foundation.sources.http import check_lock, fetch_file, file_hash
from amplifier_tui.foundation.sources.lockfile import LockEntry, LockFile

_CHUNK = 262_144


def unpack_zip(
    archive: Path, target: Path, limits: FetchLimits, stop: threading.Event | None = None
) -> None:
    """Unpack a zip archive into a folder that does not exist; a failure leaves no folder.

    Sizes are counted as bytes come out, whatever the archive's directory claims. Raises
    `BundleNotFoundError` also for an entry that is a link or would land outside. `stop` ends it.
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


_HASH_FILE = ".amplifier_archive_sha256"
_SCHEMES = ("zip+https", "zip+http", "zip+file")


class ZipSourceHandler(FetchingHandler):
    """Unpacks archives into the cache and uses them from there.

    A downloaded archive is never revalidated; a local one is unpacked again when it changed.
    """

    def can_handle(self, parsed: ParsedURI) -> bool:
        """Whether the URI names an archive."""
        return parsed.is_zip

    async def _obtain(self, parsed: ParsedURI, cache_dir: Path, *, again: bool) -> ResolvedSource:
        if parsed.scheme not in _SCHEMES:
            raise BundleNotFoundError(
                f"Archives over {parsed.scheme.removeprefix('zip+')!r} are not supported",
                remedy="Use zip+https or zip+file.",
            )
        context, uri = self._context, f"zip+{parsed.address}"
        folder = cache_path(cache_dir, parsed)
        async with context.folder_lock(folder):
            digest = unpacked_hash(folder)
            if parsed.scheme == "zip+file":
                archive = local_path(parsed.path)
                found = await _hash_of(archive)
                if again or found != digest:
                    check_lock(context, uri, found)
                    await context.require_fetch(uri, path=archive)
                    context.report("fetching", uri)
                    digest = await self._unpack(archive, folder, found)
            elif again or not _usable(folder, digest, context.lock, uri):
                archive = folder.with_name(f"{folder.name}.{uuid.uuid4().hex[:8]}.zip")
                try:
                    found = await fetch_file(context, uri, parsed.address, archive)
                    digest = await self._unpack(archive, folder, found)
                finally:
                    archive.unlink(missing_ok=True)
        check_lock(context, uri, digest)
        if digest:
            context.resolved[uri] = LockEntry(sha256=digest)
        return ResolvedSource(join_subpath(folder, parsed.subpath), folder)

    async def _unpack(self, archive: Path, folder: Path, digest: str) -> str:

        fresh = fresh_name(folder)
        stop = threading.Event()
        work = asyncio.ensure_future(
            asyncio.to_thread(unpack_zip, archive, fresh, self._context.limits, stop)
        )
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([work])
            await remove_tree(fresh)
            raise
        write_atomic(fresh / _HASH_FILE, digest)
        await remove_tree(folder)
        fresh.rename(folder)
        return digest


def cache_path(cache_dir: Path, parsed: ParsedURI) -> Path:
    """Return the folder an archive is unpacked into."""
    stem = PurePosixPath(parsed.path.partition("?")[0]).stem
    return cache_dir / cache_name(parsed.address, stem.lstrip(".")[:60], "archive")


async def _hash_of(archive: Path) -> str:
    try:
        return await file_hash(archive)
    except OSError as error:
        raise BundleNotFoundError(f"File not found: {archive}: {error.strerror}") from error


def _usable(folder: Path, digest: str, lock: LockFile | None, uri: str) -> bool:
    """Whether what is unpacked will do; the Amplifier CLI unpacks without leaving a digest."""
    locked = lock is not None and lock.entry(uri) is not None
    return bool(digest) or (folder.is_dir() and not locked)


def unpacked_hash(folder: Path) -> str:
    """Return the digest of the archive a folder was unpacked from; empty when unknown."""
    try:
        return (folder / _HASH_FILE).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
