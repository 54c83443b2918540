"""`@path:3-9` and `@path#L3-L9` in a prompt: those lines of a file go along."""

from pathlib import Path
from typing import Any, NamedTuple

from amplifier_tui.base.messages.context_file import context_file
from amplifier_tui.base.messages.mentions import LinesMention, lines_mentions
from amplifier_tui.foundation.mentions.loading import read_mentioned
from amplifier_tui.host.gate.mentions import refusal
from amplifier_tui.host.turns.prompt.unread import missing


class MentionedLines(NamedTuple):
    """What a text mentions of lines.

    Attributes:
        texts: The lines of each mention, in their tags.
        problems: What does not go along, each a sentence.
        rest: The text without these mentions.
    """

    texts: list[str]
    problems: list[str]
    rest: str


def mentioned_lines(text: str, resolver: Any) -> MentionedLines:
    """Read the lines that the user's text mentions; it looks at files, so not for an event loop.

    A mention that names a file as it stands, as `@bundle:3`, is left to others.
    """
    found = MentionedLines([], [], text)
    if resolver is None:
        return found
    rest, at = list[str](), 0
    for mention in lines_mentions(text):
        if resolver.resolve(mention.whole) is None and _take(mention, text, resolver, found):
            rest += (text[at : mention.start], " ")
            at = mention.end
    return found._replace(rest="".join((*rest, text[at:])))


def _take(mention: LinesMention, text: str, resolver: Any, found: MentionedLines) -> bool:
    """Read the lines of a mention; whether it is one of a file."""
    path: Path | None = resolver.resolve(mention.file)
    if path is None:
        problem = refusal(resolver, mention.file) or missing(mention.file, text)
        found.problems.extend(filter(None, (problem,)))
        return bool(problem)
    result = read_mentioned(mention.file, path)
    name = mention.whole
    if result.content is None or result.is_directory:
        why = "a folder has no lines" if result.is_directory else result.error
        found.problems.append(f"Not read: {name}: {why}")
        return True
    lines = result.content.removesuffix("\n").split("\n") if result.content else []
    first, last = mention.first, min(mention.last, len(lines))
    if first < 1 or last < first:
        count = "one line" if len(lines) == 1 else f"{len(lines)} lines"
        found.problems.append(f"Not read: {name}: {path.name} has {count}")
        return True
    if last < mention.last:
        found.problems.append(f"{name}: {path.name} ends at line {last}, which went along as well")
    shown = f"{mention.file}:{first}" + (f"-{last}" if last > first else "")
    block = context_file(f"{shown} → {path.resolve()}", "\n".join(lines[first - 1 : last]))
    if block not in found.texts:
        found.texts.append(block)
    return True
