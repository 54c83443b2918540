"""`http://` and `https://` sources: single files."""

import asyncio
import hashlib
import re
from pathlib import Path, PurePosixPath

from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.paths import ParsedURI, ResolvedSource
from amplifier_tui.foundation.sources.context import (
    FetchContext,
    FetchingHandler,
    cache_name,
    fresh_name,
    join_subpath,
)
from amplifier_tui.foundation.sources.lockfile import LockEntry


async def file_hash(path: Path) -> str:
    """Return a file's SHA-256, hexadecimal, computed off the loop."""

    def compute() -> str:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    return await asyncio.to_thread(compute)


class HttpSourceHandler(FetchingHandler):
    """Downloads files into the cache and uses them from there; never revalidated."""

    def can_handle(self, parsed: ParsedURI) -> bool:
        """Whether the URI is a plain download."""
        return parsed.is_http

    async def _obtain(self, parsed: ParsedURI, cache_dir: Path, *, again: bool) -> ResolvedSource:
        uri = parsed.address
        target = cache_path(cache_dir, uri)
        async with self._context.folder_lock(target):
            if again or not target.is_file():
                digest = await fetch_file(self._context, uri, uri, target)
            else:
                digest = await file_hash(target)
                check_lock(self._context, uri, digest)
        self._context.resolved[uri] = LockEntry(sha256=digest)
        return ResolvedSource(join_subpath(target, parsed.subpath), target)


async def fetch_file(context: FetchContext, uri: str, url: str, target: Path) -> str:
    """Download a file into place after asking for trust; returns its SHA-256."""
    # Brings urllib and ssl along, which a start without downloads does without.
    from amplifier_tui.foundation.sources.download import download

    await context.require_fetch(uri)
    context.report("fetching", uri)
    fresh = fresh_name(target)
    try:
        digest = await download(
            url, fresh, context.limits, lambda text: context.report("fetching", f"{uri} {text}")
        )
        check_lock(context, uri, digest)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
    return digest


def check_lock(context: FetchContext, uri: str, digest: str) -> None:
    """Raise `BundleNotFoundError` for content that is not what the project's lock file recorded."""
    entry = context.lock.entry(uri) if context.lock is not None else None
    if entry is not None and entry.sha256 and entry.sha256 != digest:
        raise BundleNotFoundError(
            f"{uri} has changed since it was locked",
            path=context.lock.path if context.lock is not None else None,
            remedy="Look at what changed, then lock again.",
        )


def cache_path(cache_dir: Path, url: str) -> Path:
    """Return where a download is cached; the suffix stays last, since it tells the format."""
    name = PurePosixPath(url.partition("://")[2].partition("?")[0].partition("/")[2] or "download")
    suffix = name.suffix if re.fullmatch(r"\.[A-Za-z0-9]{1,10}", name.suffix) else ""
    return cache_dir / f"{cache_name(url, name.stem[:60].strip('.'), 'download')}{suffix}"
