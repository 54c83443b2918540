"""One entry for every kind of source URI."""

import asyncio
import re
from pathlib import Path

from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.paths import ResolvedSource, get_amplifier_home, parse_uri, redact_uri
from amplifier_tui.foundation.protocols import SourceHandlerProtocol, SourceStatus
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.sources.git import (
    GitSourceHandler,
    cached_commit,
    is_valid_clone,
)
from amplifier_tui.foundation.sources.http import HttpSourceHandler
from amplifier_tui.foundation.sources.local import FileSourceHandler, PackageSourceHandler
from amplifier_tui.foundation.sources.zip import ZipSourceHandler, unpacked_hash

_KEYS = ("subdirectory", "egg", "md5", "sha1", "sha224", "sha256", "sha384", "sha512")
"""What a fragment may say; all but the first are Python's, and mean nothing here."""
_SCHEMES = ("git+https", "git+ssh", "git+file", "https", "http", "zip+https", "zip+file", "file")
_MISSPELT = lazy_pattern(rf"^({'|'.join(map(re.escape, _SCHEMES))})(?::(?!//)/?|/{{2,}})")


class SimpleSourceResolver:
    """Resolves source URIs with the first handler that takes them.

    Args:
        cache_dir: Where fetched sources are kept; default `<home>/cache/bundles`.
        base_path: Folder that relative paths are in; default the working directory.
        context: How to fetch; the default refuses what is not shipped.
    """

    def __init__(
        self,
        cache_dir: Path | None = None,
        base_path: Path | None = None,
        *,
        context: FetchContext | None = None,
    ) -> None:
        self.cache_dir = (cache_dir or get_amplifier_home() / "cache" / "bundles").resolve()
        self.base_path = base_path
        self.context = context or FetchContext()
        self._handlers: list[SourceHandlerProtocol] = [
            FileSourceHandler(base_path),
            GitSourceHandler(self.context),
            ZipSourceHandler(self.context),
            HttpSourceHandler(self.context),
            PackageSourceHandler(),
        ]

    def add_handler(self, handler: SourceHandlerProtocol) -> None:
        """Put a handler before all others."""
        self._handlers.insert(0, handler)

    async def resolve(self, uri: str) -> ResolvedSource:
        """Return where a source is, fetching it where needed; raises what its handler raises."""
        parsed = parse_uri(uri)
        return await self._handler(uri).resolve(parsed, self.cache_dir)

    async def get_status(self, uri: str) -> SourceStatus:
        """Tell whether a source has something newer; sources other than git cannot say."""
        parsed, handler = parse_uri(uri), self._handler(uri)
        check = getattr(handler, "get_status", None)
        if check is None:
            return SourceStatus(redact_uri(uri), None, "Only git sources can tell")
        status: SourceStatus = await check(parsed, self.cache_dir)
        return status

    async def update(self, uri: str) -> ResolvedSource:
        """Fetch a source anew; what is on this machine anyway is just resolved."""
        parsed, handler = parse_uri(uri), self._handler(uri)
        refresh = getattr(handler, "update", handler.resolve)
        resolved: ResolvedSource = await refresh(parsed, self.cache_dir)
        return resolved

    async def commit_of(self, source: ResolvedSource) -> str:
        """Return the commit that a resolved source is at, or the digest of its archive.

        What a path names inside a clone, or inside an unpacked archive, is at the commit of that.
        Empty where it is unknown, and for what was not fetched.
        """
        root = source.source_root
        if root.parent != self.cache_dir:
            return ""
        if await asyncio.to_thread(is_valid_clone, root):
            return await cached_commit(root)
        return await asyncio.to_thread(unpacked_hash, root)

    def check(self, uri: str) -> None:
        """Raise a `BundleNotFoundError` for a source that no handler takes."""
        self._handler(uri)

    def _handler(self, uri: str) -> SourceHandlerProtocol:
        if "\0" in uri:
            raise BundleNotFoundError(f"No source has a null character: {redact_uri(uri)!r:.80}")
        parsed = parse_uri(uri)
        _check_scheme(uri)
        _check_fragment(uri)
        for handler in self._handlers:
            if handler.can_handle(parsed):
                return handler
        raise BundleNotFoundError(
            f"No handler for URI: {redact_uri(uri)}{did_you_mean(parsed.scheme, _SCHEMES)}",
            remedy="Use a path, git+https, https, zip+https, or the name of a bundle or package.",
        )


def _check_scheme(uri: str) -> None:
    """Raise a `BundleNotFoundError` where `://` is misspelt: the scheme is taken for a package."""
    found = _MISSPELT.match(uri)
    if found:
        raise BundleNotFoundError(
            f"{redact_uri(uri)} is neither a path nor a URI; did you mean "
            f"{found[1]}://{redact_uri(uri[found.end() :])}?"
        )


def _check_fragment(uri: str) -> None:
    """Raise a `BundleNotFoundError` where a URI ends in what means nothing: another was meant."""
    if "://" not in uri:
        return  # A path, in which it is a part of the name.
    for part in filter(None, uri.partition("#")[2].split("&")):
        key, _, value = part.partition("=")
        if key not in _KEYS:
            raise BundleNotFoundError(
                f"'#{part}' means nothing in {redact_uri(uri)}",
                remedy=f"A folder in a source is named as #subdirectory={value or 'PATH'}.",
            )
