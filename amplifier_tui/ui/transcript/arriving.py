"""What arrives: changes of the entries, and text that is drawn while more of it comes."""

import time
from collections.abc import Callable, Iterable
from itertools import groupby

from amplifier_tui.base.text import StreamCleaner
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    EntryChange,
    ThinkingEntry,
)
from amplifier_tui.ui.transcript.entries.cards import PEEK
from amplifier_tui.ui.transcript.entries.renderer import is_expandable
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.item import DrawnEntry, Piece

FLUSH_LIMIT = 2500
"""How many characters one flush draws at most; a burst is drawn over several frames."""

_BUDGET = 0.008
_REST = 2


class LiveText:
    """Feeds the text of one entry into its last piece, and cuts that when it grows long.

    Taking text costs nothing. Drawing it costs by the last piece, not by the entry.
    """

    def __init__(self, item: DrawnEntry, document: Document) -> None:
        self._item = item
        self._document = document
        self._text = ""
        self._restart()

    def _restart(self) -> None:
        self._cleaner = StreamCleaner()
        self._drawn = 0
        self._cut_from = 0
        self._finished = False
        self._document.refresh(self._item)
        self._item.split = True

    @property
    def waiting(self) -> bool:
        """Whether there is text to draw, or the end of it."""
        ended = not self._item.streaming and not self._finished
        return ended or self._drawn < len(self._text)

    def take(self, text: str) -> None:
        """Look at the entry's whole text; one that does not begin as before is drawn anew."""
        if not text.startswith(self._text):
            self._restart()
        self._text = text

    def flush(self, limit: int) -> Piece:
        """Draw up to `limit` characters of what is waiting; return the first piece touched."""
        item = self._item
        fresh = self._cleaner.feed(self._text[self._drawn : self._drawn + limit])
        self._drawn = min(len(self._text), self._drawn + limit)
        if self._drawn == len(self._text) and not item.streaming:
            fresh += self._cleaner.finish()
            self._finished = True
        touched = tail = item.pieces[-1]
        tail.source += fresh
        self._document.invalidate(tail)
        self._cut(tail)
        if self._finished and len(item.pieces) > 1 and self._defines_links(item.pieces[-1]):
            # A link may be defined after it was used.
            self._document.redraw(item)
            touched = item.pieces[0]
        return touched

    def _defines_links(self, tail: Piece) -> bool:
        """Whether links are defined in the text, of which `tail` was not looked at yet."""
        from amplifier_tui.ui.transcript.markdown.blocks import blocks_of

        references = self._item.references
        if "]:" in tail.source:
            blocks_of(tail.context.prefix + tail.source, references)
        return bool(references.get("references"))

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


class Arrivals:
    """Applies changes of the entries, and what the user opens and closes, to a document.

    Drawing text that took long is followed by a rest of twice its time, so that even a hostile
    stream leaves the screen two thirds of every second.
    """

    def __init__(self, document: Document, clock: Callable[[], float]) -> None:
        self._document = document
        self._clock = clock
        self._texts: dict[DrawnEntry, LiveText] = {}
        self._rest_until = 0.0

    @property
    def active(self) -> bool:
        """Whether any text is still arriving or being drawn."""
        return bool(self._texts)

    @property
    def waiting(self) -> bool:
        """Whether any text that arrived is not drawn."""
        return any(live.waiting for live in self._texts.values())

    def apply(self, changes: Iterable[EntryChange]) -> bool:
        """Take changes in order; return whether more than streaming texts is concerned."""
        redraw = False
        for op, group in groupby(changes, key=lambda change: change.op):
            if op == "prepend":
                newest_first = [change.entry for change in group if change.entry is not None]
                self._document.prepend(newest_first[::-1])
                redraw = True
            else:
                for change in group:
                    redraw = self._apply(change) or redraw
        return redraw

    def open(self, item: DrawnEntry, opened: bool) -> None:
        """Show or hide an item's details."""
        if not is_expandable(item) or item.expanded == opened:
            return
        item.opened, item.whole = opened, item.whole and opened
        self._texts.pop(item, None)
        self._draw(item)
        self._document.fold(item)

    def flush(self) -> list[Piece]:
        """Draw what is waiting; return the first piece touched of each item."""
        if time.perf_counter() < self._rest_until:
            return []
        waiting = [(item, live) for item, live in self._texts.items() if live.waiting]
        touched = [live.flush(FLUSH_LIMIT // len(waiting)) for _, live in waiting]
        for item, live in waiting:
            if not live.waiting and not item.streaming:
                del self._texts[item]
        return touched

    def spent(self, seconds: float) -> None:
        """Take note of what a flush cost, painting excluded."""
        if seconds > _BUDGET:
            self._rest_until = time.perf_counter() + _REST * seconds

    def _apply(self, change: EntryChange) -> bool:
        entry = change.entry
        if entry is None:
            self._document.clear()
            self._texts.clear()
            self._document.renderer.running.clear()
            return True
        item = self._document.items.get(entry.key)
        if change.op == "remove":
            if item is not None:
                self._texts.pop(item, None)
                self._document.renderer.running.pop(item, None)
                self._document.remove(item)
            return item is not None
        if item is None:
            self._add(entry)
            return True
        if change.op == "stream" and item.entry is entry:
            live = self._texts.get(item)
            if live is not None:
                live.take(item.prose or "")
                return False
            folded = entry if isinstance(entry, ThinkingEntry) and not item.expanded else None
            if folded is not None and len(folded.text) - len(change.text) > PEEK:
                return False  # Its one line does not show what was appended.
        item.entry = entry
        self._document.renderer.watch(item)
        self._draw(item)
        return True

    def _add(self, entry: ConversationEntry) -> None:
        item = self._document.add(entry)
        if item.streaming:
            item.since = self._clock()
            if item.prose is not None:
                self._draw(item)
        self._document.renderer.watch(item)

    def _draw(self, item: DrawnEntry) -> None:
        """Draw an item as its text arrives, or whole."""
        live = self._texts.get(item)
        if live is None and item.streaming and item.prose is not None:
            live = self._texts[item] = LiveText(item, self._document)
        if live is not None:
            live.take(item.prose or "")
        else:
            self._document.refresh(item)
