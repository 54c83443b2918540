"""What the parts of foundation expect of each other, for those who bring their own."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.paths import ParsedURI, ResolvedSource


@dataclass(frozen=True)
class SourceStatus:
    """The state of one source, where `summary` is one readable line.

    Attributes:
        has_update: None when it is unknown.
        cached_commit: Commit in the cache, of a git source.
        remote_commit: Commit at the source.
        cached_ref: Branch or tag.
        is_pinned: A commit or version tag, which never has an update.
        error: Why it is unknown.
        is_refused: It is unknown since the source may not be asked.
    """

    source_uri: str
    has_update: bool | None = None
    summary: str = ""
    is_cached: bool = False
    cached_commit: str | None = None
    remote_commit: str | None = None
    cached_ref: str | None = None
    is_pinned: bool = False
    error: str | None = None
    is_refused: bool = False


ProgressCallback = Callable[[str, str], None]
"""Gets an action (`loading`, `composing`, `fetching`, `activating`, `installing`,
`installing_package`) and a detail. Called on the loop that does the work."""


class MentionResolverProtocol(Protocol):
    """Turns `@mentions` into paths."""

    def resolve(self, mention: str) -> Path | None:
        """Return the path a mention names, or None."""


class SourceResolverProtocol(Protocol):
    """Turns source URIs into paths, fetching what is missing."""

    async def resolve(self, uri: str) -> ResolvedSource:
        """Return where the source is.

        Raises:
            BundleNotFoundError: It cannot be had.
        """


class SourceHandlerProtocol(Protocol):
    """Resolves one kind of URI."""

    def can_handle(self, parsed: ParsedURI) -> bool:
        """Whether this handler is for the URI."""

    async def resolve(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Return where the source is, putting what is fetched below `cache_dir`."""


class SourceHandlerWithStatusProtocol(SourceHandlerProtocol, Protocol):
    """A handler that can tell whether there is something newer."""

    async def get_status(self, parsed: ParsedURI, cache_dir: Path) -> SourceStatus:
        """Compare what is cached with what is there now."""

    async def update(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Fetch what is there now, replacing what is cached."""


class CacheProviderProtocol(Protocol):
    """Keeps loaded bundles."""

    def get(self, key: str) -> BundleData | None:
        """Return the bundle stored under a key, or None."""

    def set(self, key: str, bundle: BundleData) -> None:
        """Store a bundle."""

    def clear(self) -> None:
        """Forget everything."""

    def __contains__(self, key: str) -> bool: ...
