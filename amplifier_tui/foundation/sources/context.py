"""What all fetching of one operation shares: trust, progress, limits, the lock."""

import asyncio
import contextlib
import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from time import monotonic

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.exceptions import (
    BundleError,
    BundleNotFoundError,
    SourceNotFetchedError,
)
from amplifier_tui.foundation.paths import (
    ParsedURI,
    ResolvedSource,
    is_there,
    is_within,
    redact_uri,
)
from amplifier_tui.foundation.protocols import ProgressCallback
from amplifier_tui.foundation.sources.lockfile import LockEntry, LockFile
from amplifier_tui.foundation.trust.gate import TrustAction, TrustGate, TrustRequest
from amplifier_tui.foundation.trust.review import TrustReview

_HOST_MEMORY_SECONDS = 10.0

_requester: ContextVar[tuple[str, tuple[str, ...]]] = ContextVar("requester", default=("", ()))


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What a source may cost: bytes, seconds, and concurrent git processes.

    `connect_seconds` is the longest silence of a connection.
    """

    download_bytes: int = 200_000_000
    download_seconds: float = 300.0
    connect_seconds: float = 60.0
    archive_bytes: int = 1_000_000_000
    archive_entries: int = 50_000
    processes: int = 8


@dataclass
class FetchContext:
    """What all fetching of one operation shares.

    `offline` uses what is cached, never the network; `lock` pins sources to what they resolved to
    before; `resolved` collects what every git, http and zip source resolved to, by URI; `failed`
    has the sources of modules that could not be had and are not tried again; `review` decides what
    of a project or a stranger counts.
    """

    gate: TrustGate = field(default_factory=TrustGate)
    progress: ProgressCallback | None = None
    offline: bool = False
    lock: LockFile | None = None
    limits: FetchLimits = field(default_factory=FetchLimits)
    resolved: dict[str, LockEntry] = field(default_factory=dict)
    review: TrustReview | None = None
    failed: dict[str, BundleError] = field(default_factory=dict)
    _slots: asyncio.Semaphore | None = None
    _locks: dict[Path, asyncio.Lock] = field(default_factory=dict)
    _dead_hosts: dict[str, tuple[float, str]] = field(default_factory=dict)

    def report(self, action: str, detail: str) -> None:
        """Tell the progress callback; credentials in URIs are taken out."""
        if self.progress is not None:
            self.progress(action, redact_uri(detail))

    async def require(
        self,
        action: TrustAction,
        uri: str,
        *,
        commit: str = "",
        path: Path | None = None,
        detail: str = "",
    ) -> None:
        """Ask for trust for whatever needs the source; raises `TrustRefusedError`."""
        subject, included_by = _requester.get()
        await self.gate.require(
            TrustRequest(action, redact_uri(uri), subject, included_by, commit, path, detail)
        )

    async def require_fetch(self, uri: str, *, commit: str = "", path: Path | None = None) -> None:
        """Ask for trust to fetch; raises `SourceNotFetchedError` when offline, or
        `TrustRefusedError`.
        """
        if self.offline:
            raise SourceNotFetchedError(redact_uri(uri))
        await self.require("fetch", uri, commit=commit, path=path)

    def slot(self) -> asyncio.Semaphore:
        """Return the semaphore that bounds concurrent processes."""
        if self._slots is None:
            self._slots = asyncio.Semaphore(self.limits.processes)
        return self._slots

    def folder_lock(self, folder: Path) -> asyncio.Lock:
        """Return the lock of one cache folder, so that it is filled once."""
        return self._locks.setdefault(folder, asyncio.Lock())

    def mark_unreachable(self, host: str, reason: str) -> None:
        """Remember for a few seconds that a host's name does not resolve."""
        self._dead_hosts[host] = (monotonic(), reason)

    def unreachable(self, host: str) -> str | None:
        """Return why a host was unreachable a moment ago, or None."""
        since, reason = self._dead_hosts.get(host, (float("-inf"), ""))
        return reason if monotonic() - since < _HOST_MEMORY_SECONDS else None


@contextlib.contextmanager
def requested_by(subject: str, included_by: tuple[str, ...] = ()) -> Iterator[None]:
    """Say for which bundle or module the enclosed code asks for sources.

    `included_by` are the names of the bundles that lead to it, outermost first.
    """
    token = _requester.set((subject, included_by))
    try:
        yield
    finally:
        _requester.reset(token)


def join_subpath(root: Path, subpath: str) -> Path:
    """Return `root/subpath`; `BundleNotFoundError` when it does not exist or leaves `root`."""
    target = root / subpath if subpath else root
    if subpath and not is_within(target, root):
        raise BundleNotFoundError(f"The subdirectory {subpath!r} leaves its source {root}")
    if not is_there(target):
        raise BundleNotFoundError(f"Subdirectory not found: {subpath!r} in {root}")
    return target


class FetchingHandler:
    """Base of the handlers that fetch into the cache, and use what is there without the network."""

    def __init__(self, context: FetchContext | None = None) -> None:
        self._context = context or FetchContext()

    async def resolve(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Return where the source is in the cache, fetching it first where needed.

        Raises:
            BundleNotFoundError: It cannot be had, or is not what the lock file says.
            TrustRefusedError: It must be fetched and may not be.
        """
        return await self._obtain(parsed, cache_dir, again=False)

    async def update(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Fetch again; what was there stays until the new content is complete."""
        return await self._obtain(parsed, cache_dir, again=True)

    async def _obtain(self, parsed: ParsedURI, cache_dir: Path, *, again: bool) -> ResolvedSource:
        raise NotImplementedError


def cache_name(key: str, readable: str, default: str) -> str:
    """Return the name under which a source is cached; the Amplifier CLI uses the same ones.

    `key` tells the source from others; `readable`, or else `default`, begins the name.
    """
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", readable).lstrip(".") or default
    return f"{safe}-{digest}"


def fresh_name(target: Path) -> Path:
    """Return a name beside `target` that no other process uses, to fetch into."""
    return target.with_name(f"{target.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.tmp")
