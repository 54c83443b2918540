"""Loading one bundle with everything it includes."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.python import causes
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.composing import tag_container_provenance
from amplifier_tui.foundation.bundle.loading import load_bundle_path, read_bundle_file
from amplifier_tui.foundation.bundle.model import SkipKind, SkippedInclude
from amplifier_tui.foundation.exceptions import (
    BundleDependencyError,
    BundleError,
    BundleNotFoundError,
    CircularIncludeError,
    SourceNotFetchedError,
    TrustRefusedError,
)
from amplifier_tui.foundation.paths import (
    ResolvedSource,
    is_subdirectory_uri,
    is_there,
    parse_uri,
    redact_uri,
    without_fragment,
)
from amplifier_tui.foundation.registry.includes import (
    BundleNames,
    Include,
    check_confined,
    namespace_of,
    parse_includes,
)
from amplifier_tui.foundation.registry.roots import RootFinder, confine, place, relate, remember
from amplifier_tui.foundation.sources.context import FetchContext, requested_by
from amplifier_tui.foundation.sources.resolver import SimpleSourceResolver
from amplifier_tui.foundation.trust.code import CodeSource, is_remote, source_of
from amplifier_tui.foundation.trust.file_review import FileReview, may_read_links
from amplifier_tui.foundation.trust.layers import read_layer
from amplifier_tui.foundation.trust.owners import Owner, weakest
from amplifier_tui.foundation.trust.review import TrustReview, refused

_log = logging.getLogger(__name__)


class LoadGraph:
    """The loads that go on, as edges from a bundle to the includes it waits for."""

    def __init__(self) -> None:
        self._waits: dict[str, Counter[str]] = {}

    def leads_to(self, start: str, goal: str) -> bool:
        """Whether `start` waits for `goal`, directly or through others, or is it."""
        pending, seen = [start], set[str]()
        while pending:
            uri = pending.pop()
            if uri == goal:
                return True
            if uri not in seen:
                seen.add(uri)
                pending.extend(self._waits.get(uri, ()))
        return False

    @contextlib.contextmanager
    def waiting(self, includer: str | None, include: str) -> Iterator[None]:
        """Note that `includer` waits for `include` while the block runs."""
        if includer is None:
            yield
            return
        waits = self._waits.setdefault(includer, Counter())
        waits[include] += 1
        try:
            yield
        finally:
            waits[include] -= 1
            if not waits[include]:
                del waits[include]
            if not waits:
                self._waits.pop(includer, None)


class _UnusableInclude(BundleDependencyError):
    """What an include names must not be used."""


@dataclass(frozen=True, slots=True)
class Chain:
    """How a load came about: the URIs that include it, outermost first, each also without fragment.

    `parent` is the URI that directly includes it, `file` its file, and `owner` the weakest of those
    who do.
    """

    uris: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    parent: str | None = None
    owner: Owner = Owner.USER
    file: Path | None = None

    def then(self, uri: str, bundle: Bundle) -> "Chain":
        """Return the chain for the includes of a bundle, loaded from `uri`."""
        uris = self.uris | {uri}
        if not is_subdirectory_uri(uri):
            # Not for a subdirectory: a nested bundle may include its own root.
            uris |= {without_fragment(uri)}
        names = (*self.names, bundle.name or redact_uri(uri))
        return Chain(uris, names, uri, weakest(self.owner, bundle.owner), bundle.source_file)


@dataclass(eq=False)
class BundleLoader:
    """Loads bundles, entering each into `names`; what was loaded with its includes is kept in
    memory.

    When it is `strict`, an include that cannot be had is an error.
    """

    names: BundleNames
    fetch: FetchContext
    sources: SimpleSourceResolver
    cache_dir: Path
    strict: bool
    _loaded: dict[tuple[str, Owner], Bundle] = field(default_factory=dict)
    _running: dict[tuple[str, bool, Owner], asyncio.Future[Bundle]] = field(default_factory=dict)
    _graph: LoadGraph = field(default_factory=LoadGraph)
    _roots: RootFinder = field(default_factory=RootFinder)

    def forget(self) -> None:
        """Drop what is in memory, so that the next load reads the files again."""
        self._loaded.clear()

    async def load(
        self, uri: str, *, auto_include: bool = True, refresh: bool = False, chain: Chain
    ) -> Bundle:
        """Load a bundle by its absolute URI; `chain` is what includes it.

        With `refresh` it is read again even if it is in memory. Raises `CircularIncludeError` when
        it is being loaded further up, and other kinds of `BundleError`.
        """
        if auto_include and not refresh and (uri, chain.owner) in self._loaded:
            return self._loaded[uri, chain.owner]
        self._check_circle(uri, chain)
        key = (uri, auto_include, chain.owner)
        while (running := self._running.get(key)) is not None:
            with self._graph.waiting(chain.parent, uri):
                await asyncio.wait([running])
            if not running.cancelled():
                return running.result()
            # Whoever loaded it was cancelled; this load was not, so it takes over.
        future = self._running[key] = asyncio.get_running_loop().create_future()
        try:
            with self._graph.waiting(chain.parent, uri):
                bundle = await self._load(uri, auto_include, chain)
        except Exception as error:
            future.set_exception(error)
            future.exception()  # marks it as seen where no other load waits
            raise
        except BaseException:
            future.cancel()
            raise
        else:
            future.set_result(bundle)
            return bundle
        finally:
            del self._running[key]

    def _check_circle(self, uri: str, chain: Chain) -> None:
        nested = is_subdirectory_uri(uri)
        repeated = not nested and (uri in chain.uris or without_fragment(uri) in chain.uris)
        waiting = chain.parent is not None and self._graph.leads_to(uri, chain.parent)
        if repeated or waiting:
            path = " → ".join((*chain.names, redact_uri(uri)))
            raise CircularIncludeError(f"Circular dependency detected: {path}")

    async def _load(self, uri: str, auto_include: bool, chain: Chain) -> Bundle:
        self.fetch.report("loading", uri)
        review = self.fetch.review
        if review is not None and is_remote(uri):
            name = f"bundle {parse_uri(uri).path.rpartition('/')[2]}"
            source = CodeSource(source_of(uri), (name,), chain.names)
            review.announce(source, Owner.STRANGER, chain.file)
        with requested_by(redact_uri(uri), chain.names):
            found = await self.sources.resolve(uri)
        if review is None:
            bundle = await asyncio.to_thread(load_bundle_path, found.active_path)
        else:
            bundle = await asyncio.to_thread(self._reviewed, uri, found, review, chain)
        bundle._source_uri = uri
        confine(bundle, found, self.cache_dir)
        root = self._roots.find(bundle, found)
        nested = place(bundle, root)
        chosen = review is None or review.chosen_by.is_trusted
        requested = chosen and chain.parent is None
        remember(self.names, bundle, uri, found, root, nested, requested=requested)
        if not auto_include:
            return bundle
        if bundle.includes:
            self.fetch.report("composing", bundle.name or uri)
            composed = await self._with_includes(bundle, chain.then(uri, bundle))
            composed._source_uri = uri
            bundle = composed
        if not bundle.skipped:
            # What is missing now may be there next time.
            self._loaded[uri, chain.owner] = bundle
        return bundle

    def _reviewed(
        self, uri: str, source: ResolvedSource, review: TrustReview, chain: Chain
    ) -> Bundle:
        remote, outermost = is_remote(uri), chain.parent is None
        if remote and not review.allows_source(uri, self.fetch.resolved, source.source_root):
            raise refused(f"bundle {redact_uri(uri)}")
        file = read_bundle_file(source.active_path)
        if not remote:
            spelled = (Path(parse_uri(uri).path), file.path) if outermost else (file.path,)
            if not all(may_read_links(review, place, file.path) for place in spelled):
                raise refused(str(spelled[0]))
        if not review.chosen_by.is_trusted and not remote:
            asked = FileReview(review, review.chosen_by, file.path, file.line_of)
            if not asked.may_read("the project chose it for the session"):
                raise refused(str(file.path))
        chosen_by = weakest(chain.owner, review.chosen_by)
        return read_layer(file, review, chosen_by, uri if remote else "")

    async def _with_includes(self, bundle: Bundle, chain: Chain) -> Bundle:
        includes = parse_includes(bundle.includes)
        await self._preload_namespaces(bundle, includes)
        loaded: dict[int, Bundle] = {}
        waiting = includes
        for last_round in (False, True):
            # Another include may bring a namespace that is still unknown.
            ready: list[tuple[Include, str]] = []
            unknown: list[Include] = []
            for include in waiting:
                try:
                    target = await self._resolve(include, bundle)
                except _UnusableInclude as error:
                    await self._skip(bundle, include, error)
                    continue
                if target is not None:
                    ready.append((include, target))
                elif (namespace := namespace_of(include.source)) is None:
                    missing = f"File not found: {include.source}"
                    await self._skip(bundle, include, BundleDependencyError(missing))
                elif last_round:
                    near = self.names.nearest(include.source, bundle)
                    missing = f"No bundle named {namespace!r} is known{near}"
                    await self._skip(bundle, include, BundleDependencyError(missing))
                else:
                    unknown.append(include)
            results = await asyncio.gather(
                *(self.load(target, chain=chain) for _, target in ready), return_exceptions=True
            )
            for (include, _), result in zip(ready, results, strict=True):
                if isinstance(result, Bundle):
                    loaded[include.index] = result
                elif isinstance(result, Exception):
                    if type(result) is BundleNotFoundError:
                        near = self.names.nearest(include.source, bundle)
                        result = BundleNotFoundError(result.message + near, remedy=result.remedy)
                    await self._skip(bundle, include, result)
                else:
                    raise result
            waiting = unknown
        bundle.skipped.sort(key=lambda entry: entry.line or 0)
        parts = [(entry.source, loaded[entry.index]) for entry in includes if entry.index in loaded]
        if bundle.source_file is None or not self.names.whose.is_brought(bundle.source_file):
            relate(self.names.states, bundle, [included for _, included in parts])
        layers = [replace(included) for _, included in parts]
        for (source, _), layer in zip(parts, layers, strict=True):
            tag_container_provenance(layer, source)
        if not layers:
            return bundle
        composed = layers[0].compose(*layers[1:], bundle)
        # What an include is for is not what this one is for.
        composed.description = bundle.description
        return composed

    async def _resolve(self, include: Include, bundle: Bundle) -> str | None:
        source = include.source
        try:
            target = self.names.resolve_include(source, bundle)
            if target is not None and source.startswith("file://"):
                check_confined(Path(parse_uri(target).path), bundle)
            if target is not None and not bundle.owner.is_trusted:
                self._check_readable(target, bundle)
        except BundleError as error:
            raise _UnusableInclude(error.message) from error
        namespace = namespace_of(source)
        if target is None and namespace is not None and namespace in self.names.seen_by(bundle):
            near = self.names.nearest(source, bundle)
            message = f"the bundle {namespace!r} has no {source.partition(':')[2]!r}{near}"
            raise await self._fatal(bundle, include, BundleDependencyError(message))
        return target

    def _check_readable(self, target: str, bundle: Bundle) -> None:
        """Raise for an include that is a file outside of what a bundle's owner brings."""
        review, parsed, file = self.fetch.review, parse_uri(target), bundle.source_file
        if review is None or file is None or not parsed.is_file:
            return
        path = Path(parsed.path)
        asked = FileReview(review, bundle.owner, file, lambda keys: None, bundle.name)
        if review.places.owner_of(path) is Owner.PROGRAM or asked.is_own(path):
            return
        allowed = review.named.get(path.resolve()) if is_there(path) else None
        if allowed is None:
            why = f"included by {bundle.name or file}"
            allowed = asked.file_allowed(path, why, ("includes",)) is not None
        if not allowed:
            raise refused(str(path))

    async def _preload_namespaces(self, bundle: Bundle, includes: list[Include]) -> None:
        """Load, without its includes, what is registered for a namespace and was never loaded."""
        states = self.names.seen_by(bundle)
        missing = {
            name: include
            for include in includes
            if (name := namespace_of(include.source)) in states
            and name is not None
            and name not in (bundle.name, *bundle.source_base_paths)
            and states[name].local_path is None
        }
        results = await asyncio.gather(
            *(self.load(states[name].uri, auto_include=False, chain=Chain()) for name in missing),
            return_exceptions=True,
        )
        for include, result in zip(missing.values(), results, strict=True):
            if isinstance(result, Exception):
                raise await self._fatal(bundle, include, result)
            if isinstance(result, BaseException):
                raise result

    async def _skip(self, bundle: Bundle, include: Include, error: Exception) -> None:
        if self.strict and not isinstance(error, CircularIncludeError):
            raise await self._fatal(bundle, include, error, " in strict mode")
        skipped = SkippedInclude(
            source=redact_uri(include.source),
            included_by=bundle.name or str(bundle.source_file),
            reason=" ".join(str(error).split()),
            path=bundle.source_file,
            line=await _line_of(bundle, include),
            kind=_kind(error),
            owner=bundle.owner,
            remedy=error.remedy if isinstance(error, BundleError) else "",
        )
        _log.warning("%s goes without %s: %s", skipped.included_by, skipped.source, skipped.reason)
        bundle.skipped.append(skipped)

    async def _fatal(
        self, bundle: Bundle, include: Include, error: Exception, how: str = ""
    ) -> BundleDependencyError:
        failure = BundleDependencyError(
            f"Cannot include {redact_uri(include.source)}{how}: {error}",
            path=bundle.source_file,
            line=await _line_of(bundle, include),
        )
        failure.__cause__ = error
        return failure


def _kind(error: BaseException) -> SkipKind:
    for each in causes(error):
        if isinstance(each, CircularIncludeError):
            return "circular"
        if isinstance(each, TrustRefusedError):
            return "refused"
        if isinstance(each, SourceNotFetchedError):
            return "not_fetched"
    return "failed"


async def _line_of(bundle: Bundle, include: Include) -> int | None:
    if bundle.source_file is None:
        return None
    try:
        file = await asyncio.to_thread(read_bundle_file, bundle.source_file)
    except BundleError:
        return None
    return file.line_of(("includes", include.index))
