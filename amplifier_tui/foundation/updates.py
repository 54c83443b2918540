"""Whether sources have something newer, and fetching it."""

import asyncio
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.preparing import modules_with_source
from amplifier_tui.foundation.exceptions import BundleError, TrustRefusedError
from amplifier_tui.foundation.modules.activator import ModuleActivator
from amplifier_tui.foundation.paths import (
    get_amplifier_home,
    parse_uri,
    redact_uri,
    without_fragment,
)
from amplifier_tui.foundation.protocols import SourceStatus
from amplifier_tui.foundation.sources.context import FetchContext, requested_by
from amplifier_tui.foundation.sources.lockfile import LockFile
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.gate import TrustCallback, TrustGate


@dataclass
class BundleStatus:
    """The state of all sources of a bundle; its own is None when unknown."""

    bundle_name: str
    bundle_source: str | None
    sources: list[SourceStatus] = field(default_factory=list)

    @property
    def has_updates(self) -> bool:
        """Whether any source has something newer."""
        return bool(self.updateable_sources)

    @property
    def updateable_sources(self) -> list[SourceStatus]:
        """The sources that have something newer."""
        return self._with(True)

    @property
    def up_to_date_sources(self) -> list[SourceStatus]:
        """The sources that have not."""
        return self._with(False)

    @property
    def unknown_sources(self) -> list[SourceStatus]:
        """The sources that cannot tell."""
        return self._with(None)

    def _with(self, has_update: bool | None) -> list[SourceStatus]:
        return [source for source in self.sources if source.has_update is has_update]

    @property
    def summary(self) -> str:
        """One readable line."""
        counts = (
            (len(self.updateable_sources), "with updates"),
            (len(self.up_to_date_sources), "up to date"),
            (len(self.unknown_sources), "unknown"),
        )
        return ", ".join(f"{count} {what}" for count, what in counts if count) or "no sources"


def bundle_sources(bundle: Bundle) -> list[str]:
    """Return a bundle's own source and those of its modules, each once, without subdirectories."""
    listed = [bundle._source_uri, *(entry["source"] for entry in modules_with_source(bundle))]
    return list(dict.fromkeys(without_fragment(uri) for uri in listed if uri))


async def check_bundle_status(
    bundle: Bundle,
    cache_dir: Path | None = None,
    *,
    trust: TrustCallback | None = None,
    fetch: FetchContext | None = None,
) -> BundleStatus:
    """Ask every source of a loaded bundle whether it has something newer; only git can tell.

    `trust` is asked before a repository is contacted; the default refuses. `fetch` replaces it.
    Fetched sources are in `cache_dir` (default `<home>/cache`).
    """
    resolver = _resolver(cache_dir, trust, fetch)
    sources = bundle_sources(bundle)
    found = await asyncio.gather(*(resolver.get_status(uri) for uri in sources))
    own = bundle._source_uri
    return BundleStatus(bundle.name, None if own is None else redact_uri(own), list(found))


async def update_bundle(
    bundle: Bundle,
    cache_dir: Path | None = None,
    selective: list[str] | None = None,
    install_deps: bool = True,
    *,
    trust: TrustCallback | None = None,
) -> Bundle:
    """Fetch the sources of a loaded bundle anew, install its modules again, and return it.

    Load it again to see what changed in it. Only `selective` sources are fetched, or else those
    that have something newer. `trust` is asked before anything is fetched or installed; the default
    refuses.

    Raises:
        BundleError: A source cannot be fetched, or a module cannot be activated.
    """
    resolver = _resolver(cache_dir, trust, None)
    if selective is None:
        status = await check_bundle_status(bundle, cache_dir, fetch=resolver.context)
        wanted = {source.source_uri for source in status.updateable_sources}
    else:
        wanted = set(selective)
    chosen = [uri for uri in bundle_sources(bundle) if uri in wanted or _canonical(uri) in wanted]
    await asyncio.gather(*(resolver.update(uri) for uri in chosen))
    modules = [
        entry
        for entry in modules_with_source(bundle)
        if without_fragment(entry["source"]) in chosen
    ]
    if modules:
        activator = ModuleActivator(
            resolver.cache_dir, install_deps, strict=True, fetch=resolver.context, put_on_path=False
        )
        await activator.activate_all(modules)
    return bundle


def _resolver(
    cache_dir: Path | None, trust: TrustCallback | None, fetch: FetchContext | None
) -> SimpleSourceResolver:
    context = fetch or FetchContext(TrustGate(trust))
    return SimpleSourceResolver(cache_dir or get_amplifier_home() / "cache", context=context)


def _canonical(uri: str) -> str:
    parsed = parse_uri(uri)
    return parsed.source if parsed.is_git else uri


UpdateState = Literal["updated", "available", "current", "pinned", "unknown", "failed", "refused"]


@dataclass(frozen=True, slots=True)
class SourceUpdate:
    """What is new about one source (without credentials): the commit before and after.

    `available` is newer than what is here; `pinned` never changes; `unknown` cannot tell, as
    anything but git; `failed` could not be had, and `refused` may not be.
    """

    uri: str
    state: UpdateState
    before: str = ""
    after: str = ""
    detail: str = ""


async def look(
    bundle: Bundle, sources: SimpleSourceResolver, lock: LockFile | None
) -> list[SourceUpdate]:
    """Return the state of every source of a bundle; only what is not here yet is fetched.

    The bundle was loaded with the resolver's way to fetch, which has no lock, so that a branch
    means what it is now; `lock` is the project's. The sources that were resolved come last.
    """
    found = [
        SourceUpdate(
            each.source, "refused" if each.kind == "refused" else "failed", "", "", each.reason
        )
        for each in bundle.skipped
    ]
    for entry in modules_with_source(bundle):
        try:
            with requested_by(entry["module"], entry["included_by"]):
                await sources.resolve(entry["source"])
        except BundleError as error:
            found.append(_failed(redact_uri(entry["source"]), error))
    uris = list(sources.context.resolved)
    states = await asyncio.gather(*(sources.get_status(uri) for uri in uris))
    return found + [_row(uri, lock, state) for uri, state in zip(uris, states, strict=True)]


async def renew(
    rows: list[SourceUpdate], bundle: Bundle, sources: SimpleSourceResolver
) -> list[SourceUpdate]:
    """Fetch what `look` found to be newer, install its modules, and return what became of it."""
    uris = list(sources.context.resolved)
    pairs = zip(uris, rows[len(rows) - len(uris) :], strict=True)
    fetched = await asyncio.gather(*(_updated(sources, *pair) for pair in pairs))
    rows = [*rows[: len(rows) - len(uris)], *fetched]
    updated = {row.uri for row in rows if row.state == "updated"}
    entries = modules_with_source(bundle)
    fresh = [each for each in entries if redact_uri(_canonical(each["source"])) in updated]
    if fresh:
        activator = ModuleActivator(sources.cache_dir, fetch=sources.context, put_on_path=False)
        await activator.activate_all(fresh)
        failures = activator.failures.items()
        rows = [*(SourceUpdate(name, "failed", detail=why) for name, why in failures), *rows]
    return rows


def _row(uri: str, lock: LockFile | None, status: SourceStatus) -> SourceUpdate:
    locked = lock.entry(uri) if lock is not None else None
    before = (locked.commit if locked is not None else "") or status.cached_commit or ""
    after = status.remote_commit or ""
    shown, detail = redact_uri(uri), status.error or status.summary
    if status.is_pinned:
        return SourceUpdate(shown, "pinned", before, detail=detail)
    if status.is_refused:
        return SourceUpdate(shown, "refused", before, detail=detail)
    if status.error is not None:
        return SourceUpdate(shown, "failed", before, detail=detail)
    if status.has_update is None or not after:
        return SourceUpdate(shown, "unknown", before, detail=detail)
    if before == after:
        return SourceUpdate(shown, "current", before, after, f"Up to date ({after[:8]})")
    detail = f"{before[:8] or 'nothing'} → {after[:8]}"
    return SourceUpdate(shown, "available", before, after, detail)


async def _updated(sources: SimpleSourceResolver, uri: str, row: SourceUpdate) -> SourceUpdate:
    if row.state != "available":
        return row
    try:
        await sources.update(uri)
    except BundleError as error:
        return _failed(row.uri, error, row.before, row.after)
    return replace(row, state="updated")


def _failed(uri: str, error: BundleError, before: str = "", after: str = "") -> SourceUpdate:
    state: UpdateState = "refused" if isinstance(error, TrustRefusedError) else "failed"
    return SourceUpdate(uri, state, before, after, error.message)
