"""Keeping the texts of projects and strangers to files of their own, and to those allowed."""

from collections import deque
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.messages.mentions import parse_mentions
from amplifier_tui.base.text import clean, one_line
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.mentions.lines import lines_of_mentions
from amplifier_tui.foundation.mentions.loading import read_mentioned
from amplifier_tui.foundation.mentions.resolver import existing_mention
from amplifier_tui.foundation.settings.expand import expand_variables
from amplifier_tui.foundation.trust.file_review import FileReview

_DEPTH: Final = 3
"""Levels of files that mention files, as far as they are loaded."""

_SHOWN: Final = 80
"""Characters of an example that are told."""
_NOT_PLAIN: Final = "only plain words are offered from others: no ! or / in front, and no @"


def confine(file: FileReview, bundle: BundleData) -> None:
    """Keep a bundle within what its owner brings, but for the files that may be read."""
    bundle.confined_roots = bundle.confined_roots or (file.root,)
    granted: list[Path] = []
    for name, path in list(bundle.context.items()):
        if file.is_own(path):
            continue
        found = file.file_allowed(path, f"context file of {file.name}", ("context",))
        if found is None:
            del bundle.context[name]
        else:
            bundle.context[name] = found
            granted.append(found)
    granted += allowed_mentions(file, bundle.instruction, file.name)
    for name, agent in bundle.agents.items():
        if isinstance(agent, dict):
            granted += allowed_mentions(file, agent.get("instruction"), f"agent {name}")
    bundle.granted = tuple(dict.fromkeys((*bundle.granted, *granted)))


def allowed_mentions(file: FileReview, text: Any, where: str) -> list[Path]:
    """Return the files outside of what the owner brings that a text mentions and that may be read.

    The owner's own files that it mentions are looked at, too.

    Args:
        where: What the text is, in the question.
    """
    allowed: list[Path] = []
    seen: set[Path] = set()
    todo = deque([(text, where, file.path, 0)] if isinstance(text, str) else [])
    while todo:
        text, where, source, depth = todo.popleft()
        for mention in parse_mentions(text):
            path = _found(file, mention.removeprefix("@"))
            if path is None or path in seen:
                continue
            seen.add(path)
            if file.is_own(path):
                content = read_mentioned(mention, path).content if depth < _DEPTH else None
                if content is not None and path.is_file():
                    todo.append((content, path.name, path, depth + 1))
                continue
            line = lines_of_mentions(source).get(mention)
            place = f"{source}:{line}" if line else ""
            found = file.file_allowed(path, f"{mention} in {where}", place=place)
            if found is not None:
                allowed.append(found)
    return allowed


def plain_examples(file: FileReview, examples: Any, keys: Keys) -> Any:
    """Return the prompts that a session offers without those that do more than say something.

    Who picks one sends it as the user's own word: commands would run and files be sent unasked.

    Args:
        keys: Where they stand.
    """
    if not isinstance(examples, list):
        return examples
    plain: list[Any] = []
    for index, example in enumerate(examples):
        words = str(expand_variables(example, file.review.environ))
        # What no screen shows could hide how it begins.
        if words.strip().startswith(("!", "/")) or "@" in words or clean(words) != words:
            shown = one_line(str(example), _SHOWN)
            file.leave_out("power", f"example {shown}", (*keys, index), _NOT_PLAIN)
        else:
            plain.append(example)
    return plain


def _found(file: FileReview, text: str) -> Path | None:
    """Return the file that a mention names, if there is one."""
    namespace, separator, rest = text.partition(":")
    folders = [file.review.places.project, file.path.parent]
    if separator:
        # No mention leaves another bundle's folder; one of its own may lead out by a link.
        text, folders = rest, [file.path.parent] if namespace == file.name else []
    try:
        found = (existing_mention(folder / Path(text).expanduser()) for folder in folders)
        return next((path for path in found if path is not None), None)
    except (OSError, ValueError, RuntimeError):
        return None  # no path, or a home of nobody
