"""What is said of a file that a prompt mentions and that does not go along."""

import re
from typing import Final

from amplifier_tui.foundation.mentions.loading import MentionResult

_FILE: Final = re.compile(r"@[^:]*\.[A-Za-z]\w{0,7}[.:]*")
"""A mention that can hardly be anything but a file: names of people and packages have no ending."""


def unread(result: MentionResult) -> str:
    """Return why a mention was not read, as a sentence; empty where it may be no file at all."""
    if result.failure_reason != "not_found":
        return f"Not read: {result.mention}: {result.error}"
    return missing(result.mention)


def missing(mention: str) -> str:
    """Return that there is no such file, as a sentence; empty where it may be none at all."""
    return f"Not read: {mention}: no such file" if _FILE.fullmatch(mention) else ""
