"""The live tail: text that arrives in fragments becomes pieces that never change again."""

from collections import deque
from zlib import crc32

from amplifier_tui.base.text import StreamCleaner
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.item import DrawnEntry, Piece

FLUSH_LIMIT = 2500
"""How many characters one flush draws at most; a burst is drawn over several frames."""


class LiveText:
    """Feeds the text of one entry into its last piece, and cuts that when it grows long.

    Taking text is O(1). Drawing it costs by the last piece, not by the entry or the transcript.
    """

    def __init__(self, item: DrawnEntry, document: Document) -> None:
        self._item = item
        self._document = document
        self._restart()

    def _restart(self) -> None:
        self._cleaner = StreamCleaner()
        self._waiting: deque[str] = deque()
        self._taken = 0
        self._sum = 0
        self._cut_from = 0
        self._finished = False
        self._document.refresh(self._item)
        self._item.split = True

    @property
    def waiting(self) -> bool:
        """Whether there is text to draw, or the end of it."""
        return bool(self._waiting) or (not self._item.streaming and not self._finished)

    def take(self, text: str) -> None:
        """Look at the entry's whole text and remember what is new.

        A text that does not begin with what was taken so far replaces it.
        """
        if len(text) < self._taken or self._sum != crc32(_bytes(text[: self._taken])):
            self._restart()
        self.append(text[self._taken :])

    def append(self, text: str) -> None:
        """Remember text that follows what was taken so far."""
        if text:
            self._waiting.append(text)
            self._taken += len(text)
            self._sum = crc32(_bytes(text), self._sum)

    @property
    def taken(self) -> int:
        """How many characters were taken."""
        return self._taken

    def flush(self, limit: int = FLUSH_LIMIT) -> Piece:
        """Draw up to `limit` characters of what is waiting; return the first piece touched."""
        item = self._item
        fresh = self._cleaner.feed(self._next(limit))
        if not self._waiting and not item.streaming:
            fresh += self._cleaner.finish()
            self._finished = True
        touched = tail = item.pieces[-1]
        tail.source += fresh
        tail.invalidate()
        self._cut(tail)
        if self._finished and item.references.get("references"):
            # A link may be defined after it was used.
            self._document.redraw(item)
            touched = item.pieces[0]
        return touched

    def _next(self, limit: int) -> str:
        parts: list[str] = []
        while self._waiting and limit > 0:
            part = self._waiting.popleft()
            if len(part) > limit:
                self._waiting.appendleft(part[limit:])
                part = part[:limit]
            parts.append(part)
            limit -= len(part)
        return "".join(parts)

    def _cut(self, tail: Piece) -> None:
        from amplifier_tui.ui.transcript.markdown.split import PIECE, find_cut

        while len(tail.source) > max(PIECE, self._cut_from):
            references = self._item.references
            cut = find_cut(tail.source, tail.context, references, first=tail.is_first)
            if cut is None:
                self._cut_from = len(tail.source) * 5 // 4
                return
            self._cut_from = 0
            rest = Piece(self._item, tail.source[cut.at :], cut.context)
            tail.source = tail.source[: cut.at]
            self._document.append_piece(self._item, rest)
            tail = rest


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
