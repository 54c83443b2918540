"""The bundle registry (spec 003, "Bundle Registry")."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import overload

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.catalog import named_bundles
from amplifier_tui.foundation.paths import (
    get_amplifier_home,
    is_subdirectory_uri,
    is_there,
    without_fragment,
)
from amplifier_tui.foundation.protocols import ProgressCallback, SourceStatus
from amplifier_tui.foundation.registry.includes import BundleNames, IncludeSourceResolver
from amplifier_tui.foundation.registry.loader import BundleLoader, Chain
from amplifier_tui.foundation.registry.state import (
    BundleState,
    UpdateInfo,
    read_states,
    write_states,
)
from amplifier_tui.foundation.registry.whose import Whose
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.gate import TrustCallback, TrustGate
from amplifier_tui.foundation.trust.owners import Ownership

_log = logging.getLogger(__name__)


class BundleRegistry:
    """Named bundles, loaded with their includes, remembered in `<home>/registry.json`.

    Args:
        home: The Amplifier home; default `$AMPLIFIER_HOME`, else `~/.amplifier`.
        strict: An include that cannot be had is an error, instead of a note in `Bundle.skipped`.
        include_source_resolver: May redirect includes.
        trust: Asked before anything is fetched; the default refuses what is not shipped.
        progress: Told what goes on.
        fetch: How to fetch; replaces `trust` and `progress`.
        persist: Whether `registry.json` is written.
        known: Sources by names that mean something without being registered; never written.
        added: Sources by names that the user gave them.
        places: Whose files are; default without a project.
        unlisted: Folders whose bundles are not entered into the registry.
    """

    def __init__(
        self,
        home: Path | None = None,
        *,
        strict: bool = False,
        include_source_resolver: IncludeSourceResolver | None = None,
        trust: TrustCallback | None = None,
        progress: ProgressCallback | None = None,
        fetch: FetchContext | None = None,
        persist: bool = True,
        known: Mapping[str, str] | None = None,
        added: Mapping[str, str] | None = None,
        places: Ownership | None = None,
        unlisted: Sequence[Path] = (),
    ) -> None:
        self._home = get_amplifier_home() if home is None else home.expanduser().resolve()
        self.strict = strict
        self.cache_dir = (self._home / "cache").resolve()
        self.fetch = fetch or FetchContext(TrustGate(trust), progress)
        self.source_resolver = SimpleSourceResolver(self.cache_dir, context=self.fetch)
        self.failures: dict[str, Exception] = {}
        self._persist = persist
        self._file = self._home / "registry.json"
        known = known or {}
        whose = Whose(
            places or Ownership(self._home, self._home),
            {*known, *named_bundles((self._home / "bundles",))},
            added or {},
        )
        read = read_states(self._file)
        self._registry = {name: state for name, state in read.items() if whose.is_kept(state)}
        healed = len(self._registry) < len(read)
        self._names = BundleNames(self._registry, known, unlisted, include_source_resolver, whose)
        self._loader = BundleLoader(
            self._names, self.fetch, self.source_resolver, self.cache_dir, strict=strict
        )
        if self._forget_vanished() or healed:
            self.save()
        self.register(whose.added)

    @property
    def home(self) -> Path:
        """The Amplifier home."""
        return self._home

    @property
    def states(self) -> dict[str, BundleState]:
        """Every entry by name; the registry's own dict."""
        return self._registry

    def set_include_source_resolver(self, resolver: IncludeSourceResolver | None) -> None:
        """Have includes redirected, or no longer."""
        self._names.redirect = resolver

    def register(self, bundles: Mapping[str, str]) -> None:
        """Add names or change their URIs; what else is known about a name is kept. Not saved."""
        for name, uri in bundles.items():
            state = self._registry.get(name)
            if state is None:
                self._registry[name] = BundleState(uri=uri, name=name)
            else:
                state.uri = uri

    def bring(self, bundles: Mapping[str, str]) -> None:
        """Add names that mean something in a project's own files alone; never saved."""
        for name, uri in bundles.items():
            self._names.brought[name] = BundleState(uri=uri, name=name)

    def unregister(self, name: str) -> bool:
        """Forget a name, also where others relate to it; no file is removed. Not saved."""
        if self._registry.pop(name, None) is None:
            return False
        for state in self._registry.values():
            state.includes = [other for other in state.includes if other != name]
            state.included_by = [other for other in state.included_by if other != name]
        return True

    def find(self, name: str) -> str | None:
        """Return the URI of a name, or None."""
        state = self._registry.get(name)
        return None if state is None else state.uri

    def list_registered(self) -> list[str]:
        """Return every name, sorted."""
        return sorted(self._registry)

    @overload
    def get_state(self, name: str) -> BundleState | None: ...

    @overload
    def get_state(self, name: None = None) -> dict[str, BundleState]: ...

    def get_state(self, name: str | None = None) -> BundleState | dict[str, BundleState] | None:
        """Return one entry (None if unknown), or a copy of the dict of all."""
        return dict(self._registry) if name is None else self._registry.get(name)

    @overload
    async def load(self, name_or_uri: str, *, auto_register: bool = True) -> Bundle: ...

    @overload
    async def load(
        self, name_or_uri: None = None, *, auto_register: bool = True
    ) -> dict[str, Bundle]: ...

    async def load(
        self, name_or_uri: str | None = None, *, auto_register: bool = True
    ) -> Bundle | dict[str, Bundle]:
        """Load a bundle by name, path or URI with its includes, or every registered one.

        All are loaded concurrently; what cannot be is logged, left out and in `failures`. Every
        named bundle that loads is registered, whatever `auto_register` says.

        Raises:
            BundleError: The one bundle cannot be had.
        """
        if name_or_uri is None:
            return await self._load_all()
        bundle = await self._load_single(name_or_uri, auto_register=auto_register)
        uri, state = self._names.uri_of(name_or_uri), self._registry.get(bundle.name)
        if state is not None and state.uri != uri and not is_subdirectory_uri(uri):
            # It was loaded as an include before; asked for directly, it takes its name.
            bundle = await self._load_single(name_or_uri, refresh=True)
        for name in (name_or_uri, bundle.name):
            if name in self._registry:
                self._registry[name].explicitly_requested = True
        self.save()
        return bundle

    async def _load_all(self) -> dict[str, Bundle]:
        names = self.list_registered()
        results = await asyncio.gather(
            *(self._load_single(name) for name in names), return_exceptions=True
        )
        self.failures = {}
        loaded: dict[str, Bundle] = {}
        for name, result in zip(names, results, strict=True):
            if isinstance(result, Bundle):
                loaded[name] = result
            elif isinstance(result, Exception):
                _log.warning("Bundle %s cannot be loaded: %s", name, result)
                self.failures[name] = result
            else:
                raise result
        self.save()
        return loaded

    async def _load_single(
        self,
        name_or_uri: str,
        *,
        auto_register: bool = True,
        auto_include: bool = True,
        refresh: bool = False,
    ) -> Bundle:
        return await self._loader.load(
            self._names.uri_of(name_or_uri),
            auto_include=auto_include,
            refresh=refresh,
            chain=Chain(),
        )

    async def check_update(self, name: str | None = None) -> UpdateInfo | list[UpdateInfo] | None:
        """Look for newer versions of a bundle and of what it includes.

        Returns what is newer, or None; without a name a list of that for all registered bundles.

        Raises:
            KeyError: The name is not registered.
        """
        if name is not None and name not in self._registry:
            raise KeyError(name)
        names = [name] if name is not None else self.list_registered()
        found = await asyncio.gather(*(self._check(entry) for entry in names))
        updates = [update for update in found if update is not None]
        self.save()
        if name is None:
            return updates
        return updates[0] if updates else None

    async def _check(self, name: str) -> UpdateInfo | None:
        state = self._registry[name]
        newer = await newer_sources(self.source_resolver, sources_below(self._registry, name))
        state.checked_at = datetime.now()
        if not newer:
            return None
        own = newer.get(state.uri) or next(iter(newer.values()))
        current = (own.cached_commit or "")[:8] or str(state.version or "")
        return UpdateInfo(name, current or None, (own.remote_commit or "")[:8], state.uri)

    @overload
    async def update(self, name: str) -> Bundle: ...

    @overload
    async def update(self, name: None = None) -> dict[str, Bundle]: ...

    async def update(self, name: str | None = None) -> Bundle | dict[str, Bundle]:
        """Fetch what is newer, of a bundle (or of all) and of what it includes, and load again.

        Raises:
            KeyError: The name is not registered.
            BundleError: A newer version cannot be fetched, or the bundle no longer loads.
        """
        if name is not None and name not in self._registry:
            raise KeyError(name)
        names = [name] if name is not None else self.list_registered()
        sources = {uri for entry in names for uri in sources_below(self._registry, entry)}
        newer = await newer_sources(self.source_resolver, sources)
        await asyncio.gather(*(self.source_resolver.update(uri) for uri in newer))
        self._loader.forget()
        if name is None:
            return await self._load_all()
        bundle = await self._load_single(name, refresh=True)
        self.save()
        return bundle

    def save(self) -> None:
        """Write `registry.json`, unless this registry does not persist."""
        if not self._persist:
            return
        try:
            write_states(self._file, self._registry)
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._file, error)

    def uri_of(self, name_or_uri: str) -> str:
        """Return where a name, path or URI points; relative paths start at the working folder."""
        return self._names.uri_of(name_or_uri)

    def _resolve_include_source(self, source: str, includer: Bundle | None = None) -> str | None:
        return self._names.resolve_include(source, includer)

    def _forget_vanished(self) -> bool:
        vanished = [
            state
            for state in self._registry.values()
            if state.local_path is not None and not is_there(Path(state.local_path))
        ]
        for state in vanished:
            state.local_path = None
        return bool(vanished)


async def load_bundle(
    source: str | Path,
    *,
    auto_include: bool = True,
    registry: BundleRegistry | None = None,
    strict: bool = False,
    trust: TrustCallback | None = None,
    progress: ProgressCallback | None = None,
) -> Bundle:
    """Load one bundle.

    Args:
        source: A registered name, a path or a URI.
        auto_include: Load and compose what it includes.
        registry: Default a new one for the Amplifier home, with the following three.
        strict: An include that cannot be had is an error, instead of a note in `Bundle.skipped`.
        trust: Asked before anything is fetched; the default refuses what is not shipped.
        progress: Told what goes on.

    Raises:
        ValueError: `strict`, `trust` or `progress` with a registry, which has its own.
        BundleError: The bundle cannot be had.
    """
    if registry is None:
        registry = BundleRegistry(strict=strict, trust=trust, progress=progress)
    elif strict or trust is not None or progress is not None:
        raise ValueError("A registry has its own 'strict', 'trust' and 'progress'")
    bundle = await registry._load_single(str(source), auto_include=auto_include)
    registry.save()
    return bundle


def sources_below(states: Mapping[str, BundleState], name: str) -> list[str]:
    """Return the sources of a bundle and of everything it includes, each once, its own first."""
    sources: dict[str, None] = {}
    pending, seen = [name], set[str]()
    while pending:
        entry = pending.pop()
        state = states.get(entry)
        if state is None or entry in seen:
            continue
        seen.add(entry)
        sources[without_fragment(state.uri)] = None
        pending.extend(reversed(state.includes))
    return list(sources)


async def newer_sources(
    resolver: SimpleSourceResolver, uris: Iterable[str]
) -> dict[str, SourceStatus]:
    """Return the status of those sources that are cached and have something newer."""
    listed = list(uris)
    found = await asyncio.gather(*(resolver.get_status(uri) for uri in listed))
    return {
        uri: status
        for uri, status in zip(listed, found, strict=True)
        if status.has_update and status.is_cached
    }
