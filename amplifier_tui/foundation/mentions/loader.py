"""Loading what mentions name, and what the loaded files mention in turn."""

import asyncio
from pathlib import Path

from amplifier_tui.foundation.mentions.deduplicator import ContentDeduplicator
from amplifier_tui.foundation.mentions.models import FailureReason, MentionResult
from amplifier_tui.foundation.mentions.parser import parse_mentions
from amplifier_tui.foundation.protocols import MentionResolverProtocol

MAX_BYTES = 2_000_000
"""Largest file that is put into a context."""
MAX_ENTRIES = 1_000
"""Most entries of a folder that are listed."""


async def load_mentions(
    text: str,
    resolver: MentionResolverProtocol,
    deduplicator: ContentDeduplicator | None = None,
    relative_to: Path | None = None,
    max_depth: int = 3,
    *,
    confined: bool = False,
    resolved: dict[str, Path] | None = None,
) -> list[MentionResult]:
    """Load the files a text mentions, and those they mention, `max_depth` levels down.

    Mentions inside a loaded file are never the user's own words, so they are resolved confined
    (see `BaseMentionResolver.resolve_confined`) where the resolver can do that.

    Args:
        text: The text.
        resolver: Turns mentions into paths.
        deduplicator: Collects the contents; a content it knows is not loaded deeper.
        relative_to: Kept for callers of the published library; relative mentions belong to the
            resolver's folder.
        max_depth: Levels below the files that `text` itself mentions.
        confined: `text` is a stranger's as well.
        resolved: Filled with the path of every mention on every level.

    Returns:
        One result for each mention of `text` itself; errors are in there, never raised.
    """
    load = _Load(resolver, deduplicator or ContentDeduplicator(), max_depth, resolved)
    return [await load.mention(mention, 0, confined=confined) for mention in parse_mentions(text)]


class _Load:
    def __init__(
        self,
        resolver: MentionResolverProtocol,
        deduplicator: ContentDeduplicator,
        max_depth: int,
        resolved: dict[str, Path] | None,
    ) -> None:
        self._resolver = resolver
        self._deduplicator = deduplicator
        self._max_depth = max_depth
        self._resolved = {} if resolved is None else resolved

    async def mention(self, mention: str, depth: int, *, confined: bool) -> MentionResult:
        resolve = self._resolver.resolve
        if confined:
            resolve = getattr(self._resolver, "resolve_confined", resolve)
        path = resolve(mention)
        if path is None:
            return _failed(mention, None, "not_found", f"Nothing found for {mention}")
        result = await asyncio.to_thread(read_mentioned, mention, path)
        if result.error is not None or result.content is None:
            return result
        self._resolved.setdefault(mention, path)
        if not self._deduplicator.add_file(path, result.content):
            return MentionResult(mention, path, None, is_directory=result.is_directory)
        if depth < self._max_depth and not result.is_directory:
            for nested in parse_mentions(result.content):
                await self.mention(nested, depth + 1, confined=True)
        return result


def read_mentioned(mention: str, path: Path) -> MentionResult:
    """Read a file, or list a folder; what cannot be had is in the result, nothing is raised.

    Args:
        mention: What the result is for.
        path: The file or folder.
    """
    try:
        if path.is_dir():
            return MentionResult(mention, path, _listing(path), is_directory=True)
        if not path.exists():
            return _failed(mention, path, "not_found", f"{path} does not exist")
        if not path.is_file():
            return _failed(mention, path, "not_a_file", f"{path} is no regular file")
        size = path.stat().st_size
        if size > MAX_BYTES:
            reason = f"{path} has {size:,} bytes; at most {MAX_BYTES:,} are loaded"
            return _failed(mention, path, "too_large", reason)
        return MentionResult(mention, path, path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        return _failed(mention, path, "not_text", f"{path} is not UTF-8 text")
    except PermissionError:
        return _failed(mention, path, "permission_error", f"No permission to read {path}")
    except OSError as error:
        return _failed(mention, path, "read_error", f"Cannot read {path}: {error.strerror}")


def _listing(folder: Path) -> str:
    entries = [(entry.is_dir(), entry.name) for entry in folder.iterdir()]
    entries.sort(key=lambda entry: (not entry[0], entry[1].lower(), entry[1]))
    lines = [f"  {'DIR ' if is_dir else 'FILE'} {name}" for is_dir, name in entries[:MAX_ENTRIES]]
    if len(entries) > MAX_ENTRIES:
        lines.append(f"  … and {len(entries) - MAX_ENTRIES} more")
    return "\n".join((f"Directory: {folder}", "", *lines))


def _failed(mention: str, path: Path | None, reason: FailureReason, error: str) -> MentionResult:
    return MentionResult(mention, path, error=error, failure_reason=reason)
