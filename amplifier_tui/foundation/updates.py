"""Whether a bundle's sources have something newer, and fetching it (foundation reference c.5)."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_tui.foundation.bundle.model import Bundle
from amplifier_tui.foundation.bundle.preparing import modules_with_source
from amplifier_tui.foundation.modules.activator import ModuleActivator
from amplifier_tui.foundation.paths.resolution import (
    get_amplifier_home,
    parse_uri,
    redact_uri,
    without_fragment,
)
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.sources.git import source_uri
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.sources.status import SourceStatus
from amplifier_tui.foundation.trust import TrustCallback, TrustGate


@dataclass
class BundleStatus:
    """The state of all sources of a bundle.

    Attributes:
        bundle_name: The bundle.
        bundle_source: Its own source; None when nobody knows.
        sources: One entry per source.
    """

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
        return [source for source in self.sources if source.has_update is True]

    @property
    def up_to_date_sources(self) -> list[SourceStatus]:
        """The sources that have not."""
        return [source for source in self.sources if source.has_update is False]

    @property
    def unknown_sources(self) -> list[SourceStatus]:
        """The sources nobody can tell about."""
        return [source for source in self.sources if source.has_update is None]

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
    """Ask every source of a bundle whether it has something newer.

    Args:
        bundle: Loaded.
        cache_dir: Where fetched sources are; default `<home>/cache`.
        trust: Asked before a repository is contacted; the default refuses.
        fetch: How to fetch; replaces `trust`.

    Returns:
        Sources other than git are unknown.
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
    fetch: FetchContext | None = None,
) -> Bundle:
    """Fetch the sources of a bundle anew and install its modules again.

    Args:
        bundle: Loaded.
        cache_dir: Where fetched sources are; default `<home>/cache`.
        selective: Only these sources; default those that have something newer.
        install_deps: Install the modules' packages.
        trust: Asked before anything is fetched or installed; the default refuses.
        fetch: How to fetch; replaces `trust`.

    Returns:
        The same bundle; load it again to see what changed in it.

    Raises:
        BundleError: A source cannot be fetched, or a module cannot be activated.
    """
    resolver = _resolver(cache_dir, trust, fetch)
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
            resolver.cache_dir, install_deps, strict=True, fetch=resolver.context
        )
        await activator.activate_all(modules)
        activator.finalize()
    return bundle


def _resolver(
    cache_dir: Path | None, trust: TrustCallback | None, fetch: FetchContext | None
) -> SimpleSourceResolver:
    context = fetch or FetchContext(TrustGate(trust))
    return SimpleSourceResolver(cache_dir or get_amplifier_home() / "cache", context=context)


def _canonical(uri: str) -> str:
    parsed = parse_uri(uri)
    return source_uri(parsed) if parsed.is_git else uri
