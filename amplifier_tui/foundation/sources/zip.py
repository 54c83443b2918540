"""`zip+https://` and `zip+file://` sources (foundation reference c.3)."""

import asyncio
import hashlib
import os
import re
import threading
import uuid
from pathlib import Path, PurePosixPath

from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.io.files import write_atomically
from amplifier_tui.foundation.lockfile import LockEntry, LockFile
from amplifier_tui.foundation.paths.resolution import (
    ParsedURI,
    ResolvedSource,
    strip_uri_drive_prefix,
)
from amplifier_tui.foundation.sources.context import FetchContext, join_subpath
from amplifier_tui.foundation.sources.file_hash import file_hash
from amplifier_tui.foundation.sources.git_commands import remove_tree
from amplifier_tui.foundation.sources.http import check_lock, fetch_file

_HASH_FILE = ".amplifier_archive_sha256"
_SCHEMES = ("zip+https", "zip+http", "zip+file")


class ZipSourceHandler:
    """Unpacks archives into the cache and uses them from there.

    A downloaded archive is never revalidated; a local one is unpacked again when it changed.

    Args:
        context: How to fetch; the default fetches nothing, since nobody is there to trust it.
    """

    def __init__(self, context: FetchContext | None = None) -> None:
        self._context = context or FetchContext()

    def can_handle(self, parsed: ParsedURI) -> bool:
        """Whether the URI names an archive."""
        return parsed.is_zip

    async def resolve(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Return the unpacked archive, fetching and unpacking it first where needed.

        Raises:
            BundleNotFoundError: It cannot be had, is unsafe, or is not what the lock file says.
            TrustRefusedError: It must be fetched or unpacked and may not be.
        """
        return await self._resolve(parsed, cache_dir, again=False)

    async def update(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Fetch and unpack again; the old content stays until the new one is complete."""
        return await self._resolve(parsed, cache_dir, again=True)

    async def _resolve(self, parsed: ParsedURI, cache_dir: Path, *, again: bool) -> ResolvedSource:
        if parsed.scheme not in _SCHEMES:
            raise BundleNotFoundError(
                f"Archives over {parsed.scheme.removeprefix('zip+')!r} are not supported",
                remedy="Use zip+https or zip+file.",
            )
        context, uri = self._context, f"zip+{parsed.address}"
        folder = cache_path(cache_dir, parsed)
        async with context.folder_lock(folder):
            digest = _unpacked_hash(folder)
            if parsed.scheme == "zip+file":
                archive = Path(strip_uri_drive_prefix(parsed.path))
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
        from amplifier_tui.foundation.sources.archive import unpack_zip

        fresh = folder.with_name(f"{folder.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.tmp")
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
        write_atomically(fresh / _HASH_FILE, digest)
        await remove_tree(folder)
        fresh.rename(folder)
        return digest


def cache_path(cache_dir: Path, parsed: ParsedURI) -> Path:
    """Return the folder an archive is unpacked into."""
    source = parsed.address
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    stem = PurePosixPath(parsed.path.partition("?")[0]).stem
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", stem).lstrip(".")[:60] or "archive"
    return cache_dir / f"{safe}-{digest}"


async def _hash_of(archive: Path) -> str:
    try:
        return await file_hash(archive)
    except OSError as error:
        raise BundleNotFoundError(f"File not found: {archive}: {error.strerror}") from error


def _usable(folder: Path, digest: str, lock: LockFile | None, uri: str) -> bool:
    """Whether what is unpacked will do; the Amplifier CLI unpacks without leaving a digest."""
    locked = lock is not None and lock.entry(uri) is not None
    return bool(digest) or (folder.is_dir() and not locked)


def _unpacked_hash(folder: Path) -> str:
    try:
        return (folder / _HASH_FILE).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
