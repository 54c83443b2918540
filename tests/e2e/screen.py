"""The screen that a terminal shows for what a program writes.

The emulator is pyte, which knows a VT220. What it does not know is taken out before it sees it.
"""

import re
from collections.abc import Callable
from typing import Any, TypeAlias

import pyte

_UNKNOWN_TO_PYTE = re.compile(
    rb"\x1b\[[<>=][\d;]*[a-zA-Z]"  # kitty keyboard protocol and the like
    rb"|\x1b\[\?[\d;]*[su$][a-zA-Z]?"  # queries, saved modes
    rb"|\x1b\[[\d;]*t"  # the stack of titles
    rb"|\x1b[P^_][^\x1b]*\x1b\\"  # DCS, PM, APC strings
    rb"|\x1b\](?!0;|2;)[^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC strings other than titles
)
_UNFINISHED = re.compile(rb"\x1b(?:|\[[?<>=]?[\d;$]*|[P^_\]][^\x07\x1b]*\x1b?)\Z")
_BEGIN_FRAME = b"\x1b[?2026h"
_END_FRAME = b"\x1b[?2026l"

Sight: TypeAlias = "str | re.Pattern[str] | Callable[[Any], object]"
"""Something to be seen: a text, a pattern, or a question to what shows it."""


class EmulatedScreen:
    """What is seen by now.

    Args:
        columns: Width in cells.
        rows: Height in cells.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._emulator = pyte.ByteStream(self._screen)
        self._unread = b""
        self._lines: list[str] | None = None

    @property
    def lines(self) -> list[str]:
        """The rows of the screen, without trailing blanks."""
        if self._lines is None:
            self._lines = [line.rstrip() for line in self._screen.display]
        return self._lines

    @property
    def text(self) -> str:
        """The screen."""
        return "\n".join(self.lines)

    @property
    def title(self) -> str:
        """The window's title."""
        return self._screen.title

    def shows(self, sight: Sight) -> bool:
        """Say whether something is on the screen now.

        A text is looked for in every row, and, so that it may be wrapped anywhere, in the rows
        joined by single blanks.
        """
        if isinstance(sight, str):
            return any(sight in line for line in self.lines) or sight in " ".join(self.text.split())
        if isinstance(sight, re.Pattern):
            return sight.search(self.text) is not None
        return bool(sight(self))

    def fit(self, columns: int, rows: int) -> None:
        """Have another size."""
        self._screen.resize(rows, columns)
        self._lines = None

    def took(self, data: bytes) -> None:
        """Let the emulator draw what is complete."""
        data = self._unread + data
        whole = len(data)
        if (unfinished := _UNFINISHED.search(data)) is not None:
            whole = unfinished.start()
        begun = data.rfind(_BEGIN_FRAME, 0, whole)
        if begun > data.rfind(_END_FRAME, 0, whole):
            whole = begun  # a terminal shows the frame once it is complete
        self._unread = data[whole:]
        if whole:
            self._emulator.feed(_UNKNOWN_TO_PYTE.sub(b"", data[:whole]))
            self._lines = None


def named(sight: Sight) -> str:
    """Return what a sight is called in a failure's message."""
    if isinstance(sight, str):
        return repr(sight)
    return repr(sight.pattern) if isinstance(sight, re.Pattern) else "something"
