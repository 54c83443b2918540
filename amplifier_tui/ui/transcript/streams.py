"""All texts that are arriving, and how much of the time drawing them may take."""

import time

from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.item import DrawnEntry, Piece
from amplifier_tui.ui.transcript.stream import FLUSH_LIMIT, LiveText

_BUDGET = 0.008
_REST = 2


class Streams:
    """The live texts of a document, flushed together.

    A flush that took long is followed by a rest of twice its time, so that even a hostile stream
    leaves the screen two thirds of every second.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._texts: dict[DrawnEntry, LiveText] = {}
        self._rest_until = 0.0

    @property
    def active(self) -> bool:
        """Whether any text is still arriving or being drawn."""
        return bool(self._texts)

    def holds(self, item: DrawnEntry) -> bool:
        """Say whether an item's text is arriving."""
        return item in self._texts

    def begin(self, item: DrawnEntry) -> None:
        """Take an item whose text has begun to arrive."""
        self._texts[item] = LiveText(item, self._document)
        self.update(item)

    def more(self, item: DrawnEntry) -> None:
        """Take what was appended to an item's text."""
        live = self._texts[item]
        text = item.prose or ""
        if len(text) < live.taken:
            live.take(text)
        else:
            live.append(text[live.taken :])

    def update(self, item: DrawnEntry) -> None:
        """Take an item's text whole: what was drawn of it stays if it still begins so."""
        self._texts[item].take(item.prose or "")

    def end(self, item: DrawnEntry) -> None:
        """Forget an item."""
        self._texts.pop(item, None)

    def clear(self) -> None:
        """Forget all items."""
        self._texts.clear()

    def flush(self) -> list[Piece]:
        """Draw what is waiting; return the first piece touched of each item."""
        began = time.perf_counter()
        if began < self._rest_until:
            return []
        waiting = [item for item, live in self._texts.items() if live.waiting]
        touched: list[Piece] = []
        for item in waiting:
            live = self._texts[item]
            touched.append(live.flush(FLUSH_LIMIT // len(waiting)))
            if not live.waiting and not item.streaming:
                del self._texts[item]
        return touched

    def spent(self, seconds: float) -> None:
        """Take note of what a flush cost, painting excluded."""
        if seconds > _BUDGET:
            self._rest_until = time.perf_counter() + _REST * seconds
