"""What a command prints: kept at both ends, passed on in pieces."""

from __future__ import annotations

import codecs
import re
from typing import Final

_ESCAPES: Final = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # titles, links and clipboards
    r"|\x1b[PX^_].*?(?:\x1b\\|$)"  # other strings for the terminal
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    r"|\x1b[ -/]*[0-~]",
    re.DOTALL,
)


class Output:
    """Collects output in bounded space.

    Args:
        limit: Characters that are kept, half of them from the end.
        piece: Characters of one piece that is passed on.
    """

    def __init__(self, limit: int, piece: int) -> None:
        self._half = limit // 2
        self._piece = piece
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = ""
        self._tail = ""
        self._pending = ""
        self._skipped = 0
        self._total = 0
        self.size = 0

    def feed(self, data: bytes) -> None:
        """Take what was read; empty data means the end."""
        self.size += len(data)
        text = self._decoder.decode(data, final=not data)
        self._total += len(text)
        room = self._half - len(self._head)
        if room > 0:
            self._head += text[:room]
            kept = text[room:]
        else:
            kept = text
        self._tail = (self._tail + kept)[-self._half :]
        self._pending += text
        if len(self._pending) > self._piece:
            self._skipped += len(self._pending) - self._piece
            self._pending = self._pending[-self._piece :]

    @property
    def waiting(self) -> bool:
        """Whether there is something to pass on."""
        return bool(self._pending)

    def take_piece(self) -> str:
        """Return what came since the last piece; of very much, the end."""
        piece, self._pending = self._pending, ""
        skipped, self._skipped = self._skipped, 0
        return f"[… {skipped} characters …]\n{piece}" if skipped else piece

    def text(self) -> str:
        """Return the output for the model: plain text, the middle of very much left out."""
        left_out = self._total - len(self._head) - len(self._tail)
        if left_out <= 0:
            return plain(self._head + self._tail)
        return (
            f"{plain(self._head)}\n"
            f"[… {left_out} of {self._total} characters left out ({self.size} bytes in all) …]\n"
            f"{plain(self._tail)}"
        )


def plain(text: str) -> str:
    """Return text as it would stand on the screen: no control sequences, no overwritten parts."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_last_write(line) for line in text.split("\n"))
    return "".join(
        character for character in text if character in "\t\n" or not _is_control(character)
    )


def _last_write(line: str) -> str:
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f"
