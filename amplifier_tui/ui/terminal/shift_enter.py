"""Whether the terminal tells shift+enter from enter, as it answers while the app has it."""

import re
from collections.abc import Mapping
from typing import Final

from textual.message import Message

QUESTION: Final = "\x1b[?u\x1b[5n"
"""Asks which flags of the kitty keyboard protocol are set, then whether the terminal is well.

Every terminal answers the second: one that answers it alone does not have the protocol. An answer
about its attributes would say the same, and can be longer than Textual's parser reads.
"""

_ANSWER: Final = re.compile(r"\x1b\[(?:\?(\d+)u|0n)")


class KeysTold(Message):
    """The terminal has answered: `apart` is whether it tells shift+enter from enter."""

    def __init__(self, apart: bool) -> None:
        super().__init__()
        self.apart = apart


def keys_told(sequence: str) -> KeysTold | None:
    """Return what a sequence of the terminal tells; None where it is no answer to `QUESTION`."""
    found = _ANSWER.fullmatch(sequence)
    return None if found is None else KeysTold(bool(int(found[1] or 0)))


def terminal_name(environ: Mapping[str, str]) -> str:
    """Return what the terminal, or the multiplexer in it, is called."""
    for variable, name in (("STY", "screen"), ("TMUX", "tmux")):
        if environ.get(variable):
            return name
    names = (environ.get(name) for name in ("TERM_PROGRAM", "LC_TERMINAL", "TERM"))
    return next(filter(None, names), "")
