"""How loaded files stand in a prompt."""

from collections.abc import Mapping
from pathlib import Path

from amplifier_tui.foundation.mentions.loading import (
    ContentDeduplicator,
    ContextFile,
    load_mentions,
)
from amplifier_tui.foundation.protocols import MentionResolverProtocol


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
    attribute = ", ".join(labels).replace('"', "'").replace("\n", " ")
    return f'<context_file paths="{attribute}">\n{file.content}\n</context_file>'


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
) -> str:
    """Put what a text mentions before it, a blank line between; the mentions stay where they are.

    Args:
        text: The user's or the delegating agent's text.
        resolver: Turns mentions into paths.
        deduplicator: What the session has loaded before; only new contents are put in.
        relative_to: See `load_mentions`.
    """
    resolved: dict[str, Path] = {}
    collected = deduplicator or ContentDeduplicator()
    before = collected.get_known_hashes()
    await load_mentions(text, resolver, collected, relative_to, resolved=resolved)
    names = mentions_by_path(resolved)
    blocks = [
        format_context_file(file, names)
        for file in collected.get_unique_files()
        if file.content_hash not in before
    ]
    return "\n\n".join((*blocks, text)) if blocks else text
