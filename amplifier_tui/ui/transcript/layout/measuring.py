"""Measures what nobody has looked at yet, a few milliseconds at a time."""

import time

from amplifier_tui.ui.transcript.layout.document import NEAR, Document


class Measuring:
    """Makes the estimated heights of a document real, from the visible pieces outwards."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._version = -1
        self._around = self._before = self._after = 0

    def run(self, seconds: float, around: int) -> bool:
        """Measure for some time; return whether anything is left.

        Args:
            seconds: The time to spend.
            around: The index of a visible piece.
        """
        document = self._document
        if self._version != document.version:
            self._around, self._before, self._after = around, around - 1, around
        deadline = time.perf_counter() + seconds
        pieces = document.pieces
        while self._before >= 0 or self._after < len(pieces):
            if self._before >= 0:
                self._measure(self._before)
                self._before -= 1
            if self._after < len(pieces):
                self._measure(self._after)
                self._after += 1
            if time.perf_counter() > deadline:
                break
        self._version = document.version
        return self._before >= 0 or self._after < len(pieces)

    def _measure(self, index: int) -> None:
        piece = self._document.pieces[index]
        if self._document.is_measured(piece):
            return
        count = len(self._document.pieces)
        self._document.measure(piece)
        if index <= self._before:
            # A text that was cut moved the pieces behind it.
            self._after += len(self._document.pieces) - count
        if abs(index - self._around) > NEAR:
            self._document.release(piece)
