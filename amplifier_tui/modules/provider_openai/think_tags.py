"""Reasoning that a local model writes into its answer, between `<think>` and `</think>`.

Servers without a reasoning parser pass it on as text. It counts only at the very start of an
answer: anywhere else the words are the answer's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

Kind = Literal["text", "thinking"]

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


class ThinkTags:
    """Tells text from thinking in a stream of pieces, however the tags are cut."""

    def __init__(self) -> None:
        self._state: Literal["start", "thinking", "after", "text"] = "start"
        self._held = ""

    def feed(self, piece: str) -> Iterator[tuple[Kind, str]]:
        """Yield what is certain after one more piece, in order."""
        self._held += piece
        if self._state == "start":
            yield from self._at_start()
        if self._state == "thinking":
            yield from self._thinking()
        if self._state == "after" and (rest := self._held.lstrip()):
            self._state, self._held = "text", rest
        if self._state == "text" and self._held:
            held, self._held = self._held, ""
            yield "text", held

    def finish(self) -> Iterator[tuple[Kind, str]]:
        """Yield what was held back, now that no more follows."""
        if self._held and self._state != "after":
            yield "thinking" if self._state == "thinking" else "text", self._held
        self._held = ""

    def _at_start(self) -> Iterator[tuple[Kind, str]]:
        stripped = self._held.lstrip()
        if stripped.startswith(_OPEN):
            self._state, self._held = "thinking", stripped[len(_OPEN) :].lstrip("\n")
        elif not _OPEN.startswith(stripped):
            self._state = "text"
        yield from ()

    def _thinking(self) -> Iterator[tuple[Kind, str]]:
        before, tag, after = self._held.partition(_CLOSE)
        if tag:
            self._state, self._held = "after", after
        else:
            # The end of what is here may be the beginning of the closing tag.
            keep = next(
                (size for size in range(len(_CLOSE) - 1, 0, -1) if before.endswith(_CLOSE[:size])),
                0,
            )
            before, self._held = before[: len(before) - keep], before[len(before) - keep :]
        if before:
            yield "thinking", before
