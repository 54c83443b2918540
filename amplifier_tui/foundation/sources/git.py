"""`git+https://`, `git+ssh://` and `git+file://` sources."""

import asyncio
import re
from datetime import datetime
from pathlib import Path

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.base.jsonl import read_object, write_object
from amplifier_tui.foundation.exceptions import (
    BundleError,
    BundleNotFoundError,
    TrustRefusedError,
)
from amplifier_tui.foundation.exceptions import (
    GitCloneTimeoutError as GitCloneTimeoutError,
)
from amplifier_tui.foundation.paths import (
    ParsedURI,
    ResolvedSource,
    is_full_commit,
    local_path,
)
from amplifier_tui.foundation.protocols import SourceStatus
from amplifier_tui.foundation.sources import git_commands
from amplifier_tui.foundation.sources.context import (
    FetchingHandler,
    cache_name,
    fresh_name,
    join_subpath,
)
from amplifier_tui.foundation.sources.lockfile import LockEntry

META_FILE = ".amplifier_cache_meta.json"
"""Written into a clone when it is complete."""

_TRANSPORTS = ("git+https", "git+ssh", "git+file", "git+http")
_MARKERS = (
    META_FILE,
    *["pyproject.toml", "setup.py", "setup.cfg", "bundle.md", "bundle.yaml", "amplifier.toml"],
)
_RETRY_WAITS = (1.0, 2.0)
_VERSION_TAG = re.compile(r"^v\d")


class GitSourceHandler(FetchingHandler):
    """Clones repositories into the cache and uses them from there."""

    def can_handle(self, parsed: ParsedURI) -> bool:
        """Whether the URI names a git repository."""
        return parsed.is_git

    async def _obtain(self, parsed: ParsedURI, cache_dir: Path, *, again: bool) -> ResolvedSource:
        url, ref = _address(parsed), self._effective_ref(parsed)
        folder = cache_path(cache_dir, url, ref)
        if not again:
            folder = await _cached_folder(parsed, cache_dir, url, ref)
        async with self._context.folder_lock(folder):
            if again or not is_valid_clone(folder):
                await self._fetch(parsed, url, ref, folder, replace=again)
        commit = await cached_commit(folder)
        if commit:
            self._context.resolved[parsed.source] = LockEntry(commit=commit)
        return ResolvedSource(join_subpath(folder, parsed.subpath), folder)

    async def get_status(self, parsed: ParsedURI, cache_dir: Path) -> SourceStatus:
        """Compare the cached commit with the repository's."""
        url, ref = _address(parsed), self._effective_ref(parsed)
        folder = await _cached_folder(parsed, cache_dir, url, ref)
        cached = is_valid_clone(folder)
        commit = await cached_commit(folder) if cached else ""
        pinned = is_full_commit(ref) or bool(_VERSION_TAG.match(ref))
        remote, error, refused = "", None, False
        if not pinned:
            try:
                await self._context.require_fetch(parsed.source)
                remote = await git_commands.remote_commit(url, ref)
                if not remote:
                    error = f"The repository has no branch or tag {ref!r}"
            except BundleError as failure:
                error, refused = failure.message, isinstance(failure, TrustRefusedError)
        has_update, summary = _compare(cached, commit, remote, pinned, error)
        return SourceStatus(
            source_uri=parsed.source,
            has_update=has_update,
            summary=summary,
            is_cached=cached,
            cached_commit=commit or None,
            remote_commit=remote or None,
            cached_ref=ref,
            is_pinned=pinned,
            error=error,
            is_refused=refused,
        )

    def _effective_ref(self, parsed: ParsedURI) -> str:
        lock = self._context.lock
        entry = lock.entry(parsed.source) if lock is not None else None
        ref = entry.commit if entry is not None and entry.commit else parsed.ref
        if ref.startswith("-"):
            raise BundleNotFoundError(f"Not a git ref: {ref!r}")
        return ref

    async def _fetch(
        self, parsed: ParsedURI, url: str, ref: str, folder: Path, *, replace: bool = False
    ) -> None:
        context, uri = self._context, parsed.source
        await context.require_fetch(uri, commit=ref if is_full_commit(ref) else "")
        context.report("fetching", uri)
        fresh = fresh_name(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            await self._clone(parsed, url, ref, fresh)
            commit = await git_commands.head_commit(fresh)
            if is_full_commit(ref) and commit != ref.lower():
                raise BundleNotFoundError(f"{uri} gave commit {commit or 'unknown'}, not {ref}")
            _write_meta(fresh, url, ref, commit)
            await _put_in_place(fresh, folder, replace=replace)
        finally:
            await git_commands.remove_tree(fresh)

    async def _clone(self, parsed: ParsedURI, url: str, ref: str, target: Path) -> None:
        """Clone; a failure that may pass is tried again twice, without a slot while waiting."""
        context, uri = self._context, parsed.source
        for wait in (*_RETRY_WAITS, None):
            try:
                async with context.slot():
                    dead = context.unreachable(parsed.host) if parsed.host else None
                    if dead is not None:
                        raise BundleNotFoundError(dead)
                    await git_commands.clone(
                        url, ref, target, lambda text: context.report("fetching", f"{uri} {text}")
                    )
                return
            except git_commands.GitFailure as failure:
                if failure.no_host and parsed.host:
                    context.mark_unreachable(parsed.host, failure.message)
                lock = context.lock if ref != parsed.ref else None
                if lock is not None and not failure.remedy and not failure.transient:
                    # What asks for it names the branch, and nothing is wrong with that.
                    update = as_typed("amplifier-tui bundle update")
                    failure.remedy = f"{lock.path} pins it to that commit: `{update}` renews it."
                if wait is None or not failure.transient:
                    raise
            context.report("fetching", f"{uri} again in {wait:.0f} s")
            await asyncio.sleep(wait)


def source_uri(parsed: ParsedURI) -> str:
    """Return the URI of a repository at a ref, without a subdirectory."""
    return parsed.source


def cache_path(cache_dir: Path, url: str, ref: str) -> Path:
    """Return the folder of a clone; the Amplifier CLI uses the same one."""
    name = url.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return cache_dir / cache_name(f"{url}@{ref or 'HEAD'}", name, "repository")


def is_valid_clone(folder: Path) -> bool:
    """Whether a cached clone is whole enough to use."""
    head = folder / ".git" / "HEAD"
    try:
        return head.stat().st_size > 0 and any((folder / name).is_file() for name in _MARKERS)
    except OSError:
        return False


async def cached_commit(folder: Path) -> str:
    """Return the commit of a cached clone; empty when unknown."""
    try:
        commit = read_object(folder / META_FILE).get("commit")
    except (OSError, ValueError):
        commit = None
    if isinstance(commit, str) and is_full_commit(commit):
        return commit
    return await git_commands.head_commit(folder)


async def _cached_folder(parsed: ParsedURI, cache_dir: Path, url: str, ref: str) -> Path:
    """Return where the clone of a ref is, or has to be.

    A lock turns a branch into a commit; the branch's own clone serves when it is at that commit.
    """
    folder = cache_path(cache_dir, url, ref)
    if ref != parsed.ref and not is_valid_clone(folder):
        branch = cache_path(cache_dir, url, parsed.ref)
        if is_valid_clone(branch) and await cached_commit(branch) == ref.lower():
            return branch
    return folder


def _address(parsed: ParsedURI) -> str:
    if parsed.scheme not in _TRANSPORTS:
        raise BundleNotFoundError(
            f"Git over {parsed.scheme.removeprefix('git+')!r} is not supported",
            remedy="Use git+https, git+ssh or git+file.",
        )
    if parsed.host.startswith("-") or "\0" in parsed.address or not parsed.path.strip("/"):
        raise BundleNotFoundError(f"Not the address of a repository: {parsed.address!r}")
    if parsed.scheme == "git+file":
        return f"file://{local_path(parsed.path)}"
    return parsed.address


def _write_meta(folder: Path, url: str, ref: str, commit: str) -> None:
    meta = {
        "cached_at": datetime.now().isoformat(),
        "ref": ref,
        "commit": commit or None,
        "git_url": url,
    }
    write_object(folder / META_FILE, meta)


async def _put_in_place(fresh: Path, folder: Path, *, replace: bool) -> None:
    if not replace and is_valid_clone(folder):
        return  # another process was faster
    old = fresh.with_name(fresh.name + ".old")
    try:
        _swap(fresh, folder, old)
    except OSError as error:
        if not is_valid_clone(folder):
            raise BundleNotFoundError(f"Cannot write to the cache: {error}") from error
    finally:
        await git_commands.remove_tree(old)


def _swap(fresh: Path, folder: Path, old: Path) -> None:
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)


def _compare(
    cached: bool, commit: str, remote: str, pinned: bool, error: str | None
) -> tuple[bool | None, str]:
    if pinned:
        return False, "Pinned; never updated"
    if error is not None:
        return None, f"Cannot tell: {error}"
    if not cached:
        return True, "Not fetched yet"
    if not commit:
        return None, "The cached commit is unknown"
    if commit == remote:
        return False, f"Up to date ({commit[:8]})"
    return True, f"Update available ({commit[:8]} to {remote[:8]})"
