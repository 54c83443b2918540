"""Loading the files that a text mentions, and how these stand in a prompt."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.context_file import context_file
from amplifier_tui.base.messages.mentions import parse_mentions
from amplifier_tui.foundation.mentions.secrets import holds_users_secrets
from amplifier_tui.foundation.protocols import MentionResolverProtocol

FailureReason = Literal[
    "not_found",
    "permission_error",
    "not_text",
    "too_large",
    "not_a_file",
    "read_error",
    "holds_secrets",
]


@dataclass(frozen=True)
class MentionResult:
    """What became of one mention, which has its `@`.

    Attributes:
        resolved_path: The file or folder; None when there is none.
        content: The file's text or the folder's listing; None when that content is known already.
        error: What went wrong, readable; `failure_reason` is its kind.
    """

    mention: str
    resolved_path: Path | None = None
    content: str | None = None
    error: str | None = None
    is_directory: bool = False
    failure_reason: FailureReason | None = None

    @property
    def found(self) -> bool:
        """Whether there is such a file or folder, and it could be read."""
        return self.resolved_path is not None and self.error is None


@dataclass
class ContextFile:
    """One content with its SHA-256, and every file that has it, in the order they came."""

    content: str
    content_hash: str
    paths: list[Path] = field(default_factory=list)


class ContentDeduplicator:
    """Collects files by the SHA-256 of their content, in the order they come."""

    def __init__(self) -> None:
        self._files: dict[str, ContextFile] = {}

    def add_file(self, path: Path, content: str) -> bool:
        """Take a file; whether its content is new."""
        key = content_hash(content)
        known = self._files.get(key)
        path = path.resolve()
        if known is None:
            self._files[key] = ContextFile(content, key, [path])
            return True
        if path not in known.paths:
            known.paths.append(path)
        return False

    def is_seen(self, content: str) -> bool:
        """Whether a content was taken before."""
        return content_hash(content) in self._files

    def get_unique_files(self) -> list[ContextFile]:
        """Return every content once."""
        return list(self._files.values())

    def get_known_hashes(self) -> set[str]:
        """Return the hashes of all contents."""
        return set(self._files)


def content_hash(content: str) -> str:
    """Return a text's SHA-256, hexadecimal."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


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

    Mentions inside a loaded file are never the user's own words, so they are resolved confined (see
    `BaseMentionResolver.resolve_confined`) where the resolver can do that. The result has one entry
    for each mention of `text` itself; errors are in there, never raised.

    Args:
        text: The text.
        resolver: Turns mentions into paths.
        deduplicator: Collects the contents; a content it knows is not loaded deeper.
        relative_to: Kept for callers of the published library; relative mentions belong to the
            resolver's folder.
        max_depth: Levels below the files that `text` itself mentions.
        confined: `text` is a stranger's as well.
        resolved: Filled with the path of every mention on every level.
    """
    collected = deduplicator or ContentDeduplicator()
    paths = {} if resolved is None else resolved

    async def load(mention: str, depth: int, confined: bool) -> MentionResult:
        resolve = resolver.resolve
        if confined:
            resolve = getattr(resolver, "resolve_confined", resolve)
        # Which file it is, and whether it may be read, takes a look at the disk as well.
        result = await asyncio.to_thread(_read, mention, resolve)
        path = result.resolved_path
        if path is None or result.error is not None or result.content is None:
            return result
        paths.setdefault(mention, path)
        if not collected.add_file(path, result.content):
            return MentionResult(mention, path, None, is_directory=result.is_directory)
        if depth < max_depth and not result.is_directory:
            for nested in parse_mentions(result.content):
                await load(nested, depth + 1, True)
        return result

    return [await load(mention, 0, confined) for mention in parse_mentions(text)]


def _read(mention: str, resolve: Callable[[str], Path | None]) -> MentionResult:
    path = resolve(mention)
    if path is None:
        return _failed(mention, None, "not_found", f"Nothing found for {mention}")
    return read_mentioned(mention, path)


def read_mentioned(mention: str, path: Path) -> MentionResult:
    """Read a file, or list a folder, for a mention; errors are in the result, never raised."""
    if holds_users_secrets(path):
        reason = f"{path} holds keys or the program's own state, which no model gets"
        return _failed(mention, path, "holds_secrets", reason)
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


def format_context_block(
    deduplicator: ContentDeduplicator, mention_to_path: Mapping[str, Path] | None = None
) -> str:
    """Return every collected content in a `<context_file>` block, a blank line between them.

    A block names the mentions of its paths; a path without a mention stands alone.
    """
    names = mentions_by_path(mention_to_path or {})
    return "\n\n".join(format_context_file(file, names) for file in deduplicator.get_unique_files())


def format_context_file(file: ContextFile, names: Mapping[Path, list[str]]) -> str:
    """Return one content in its block, with the mentions of each path."""
    labels: list[str] = []
    for path in file.paths:
        mentions = names.get(path, [])
        labels += [f"{mention} → {path}" for mention in mentions] or [str(path)]
    return context_file(", ".join(labels), file.content)


def mentions_by_path(mention_to_path: Mapping[str, Path]) -> dict[Path, list[str]]:
    """Turn a map from mentions to paths around; paths are made absolute, links followed."""
    names: dict[Path, list[str]] = {}
    for mention, path in mention_to_path.items():
        names.setdefault(path.resolve(), []).append(mention)
    return names


async def expand_mentions_in_instruction(
    text: str,
    *,
    resolver: MentionResolverProtocol,
    deduplicator: ContentDeduplicator | None = None,
    relative_to: Path | None = None,
    confined: bool = False,
    failed: list[MentionResult] | None = None,
) -> str:
    """Put what a text mentions before it, a blank line between; the mentions stay where they are.

    What `deduplicator` knows from before is not put in again. A text that is not the user's, such
    as a model's, is `confined`, see `load_mentions`. What can't be read is put into `failed`.
    """
    resolved: dict[str, Path] = {}
    collected = deduplicator or ContentDeduplicator()
    before = collected.get_known_hashes()
    results = await load_mentions(
        text, resolver, collected, relative_to, confined=confined, resolved=resolved
    )
    if failed is not None:
        failed += [result for result in results if result.error is not None]
    names = mentions_by_path(resolved)
    blocks = [
        format_context_file(file, names)
        for file in collected.get_unique_files()
        if file.content_hash not in before
    ]
    return "\n\n".join((*blocks, text)) if blocks else text
