"""Whether there is something newer than what is cached."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SourceStatus:
    """The state of one source.

    Attributes:
        source_uri: The source.
        has_update: None when nobody can tell.
        summary: One readable line.
        is_cached: Whether it is on this machine.
        cached_commit: Commit in the cache, of a git source.
        remote_commit: Commit at the source.
        cached_ref: Branch or tag.
        is_pinned: A commit or version tag, which never has an update.
        error: Why nobody can tell.
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
