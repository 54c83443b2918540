"""Command lines that are refused whoever allows them: the damage could not be undone.

A net for accidents, not a wall: there are many ways to write a command. What needs a wall needs a
sandbox around the whole program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple


class Denial(NamedTuple):
    """A pattern that is looked for in a command line, and why it is refused."""

    pattern: re.Pattern[str]
    reason: str


# A command stands at the beginning, or after what ends another one.
_GAP: Final = r"[ \t]+"
_WORD: Final = r"[^\s;&|]+"
_WORDS: Final = rf"(?:{_WORD}{_GAP})*?"
_START: Final = (
    rf"(?:^|[\n;&|({{`])[ \t]*(?:(?:sudo|doas|exec|command|nohup|env){_GAP}(?:-{_WORD}{_GAP})*)*"
)
_ROOT: Final = r"""["']?(?:/|/\*|~|~/|~/\*|\$HOME/?|\$\{HOME\}/?|\$HOME/\*)["']?"""
_END: Final = r"(?=\s|$|[;&|)])"
_DISK: Final = r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper/)"


def _denial(pattern: str, reason: str) -> Denial:
    return Denial(re.compile(pattern), reason)


CATASTROPHIC: Final = (
    _denial(
        rf"{_START}rm{_GAP}(?={_WORDS}(?:-[a-zA-Z]*[rR]|--recursive)){_WORDS}{_ROOT}{_END}",
        "it deletes everything in the root or home folder",
    ),
    _denial(rf"{_START}rm{_GAP}{_WORDS}--no-preserve-root", "it deletes the root folder"),
    _denial(
        rf"{_START}(?:chmod|chown|chgrp){_GAP}(?={_WORDS}-[a-zA-Z]*R){_WORDS}{_ROOT}{_END}",
        "it changes the rights of everything in the root or home folder",
    ),
    _denial(rf"{_START}mkfs(?:\.\w+)?{_GAP}", "it formats a disk"),
    _denial(rf"{_START}dd{_GAP}{_WORDS}of={_DISK}", "it overwrites a disk"),
    _denial(rf">\s*{_DISK}", "it overwrites a disk"),
    _denial(
        r":\s{0,9}\(\s{0,9}\)\s{0,9}\{[^}]{0,99}:\s{0,9}\|\s{0,9}:\s{0,9}&", "it is a fork bomb"
    ),
    _denial(rf"{_START}(?:shutdown|reboot|halt|poweroff){_END}", "it shuts the computer down"),
)
"""What no session should run by accident."""


def refusal(command: str, denials: Iterable[Denial]) -> str | None:
    """Return why a command line is refused, or None if it is not.

    Args:
        command: The command line.
        denials: What to look for.
    """
    joined = command.replace("\\\n", " ")
    for denial in denials:
        if denial.pattern.search(joined):
            return denial.reason
    return None
