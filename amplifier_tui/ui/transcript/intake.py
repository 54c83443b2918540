"""Takes what happened to the entries into the document, the streams and the pulse."""

from collections.abc import Callable, Iterable

from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    EntryChange,
    ThinkingEntry,
)
from amplifier_tui.ui.transcript.entries.renderer import is_expandable
from amplifier_tui.ui.transcript.entries.thinking import PEEK
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from amplifier_tui.ui.transcript.pulse import Pulse
from amplifier_tui.ui.transcript.streams import Streams


class Intake:
    """Applies changes, and what the user opens and closes.

    Args:
        document: What is drawn.
        streams: Texts that are arriving.
        pulse: Lines whose time runs.
        clock: The time in seconds.
    """

    def __init__(
        self, document: Document, streams: Streams, pulse: Pulse, clock: Callable[[], float]
    ) -> None:
        self._document = document
        self._streams = streams
        self._pulse = pulse
        self._clock = clock

    def apply(self, changes: Iterable[EntryChange]) -> bool:
        """Take changes in order; return whether more than streaming texts is concerned."""
        earlier: list[ConversationEntry] = []
        redraw = False
        for change in changes:
            if change.op == "prepend" and change.entry is not None:
                earlier.append(change.entry)
                continue
            if earlier:
                self._document.prepend(earlier[::-1])
                earlier, redraw = [], True
            redraw = self._apply(change) or redraw
        if earlier:
            self._document.prepend(earlier[::-1])
            redraw = True
        return redraw

    def open(self, item: DrawnEntry, opened: bool) -> None:
        """Show or hide an item's details."""
        if not is_expandable(item) or item.expanded == opened:
            return
        item.opened = opened
        self._streams.end(item)
        if item.streaming and item.prose is not None:
            self._streams.begin(item)
        else:
            self._document.refresh(item)

    def _apply(self, change: EntryChange) -> bool:
        entry = change.entry
        if change.op == "clear":
            self._document.clear()
            self._streams.clear()
            self._pulse.clear()
            return True
        if entry is None:
            return False
        item = self._document.items.get(entry.key)
        if change.op == "remove":
            if item is not None:
                self._streams.end(item)
                self._pulse.leave(item)
                self._document.remove(item)
            return item is not None
        if item is None:
            self._add(entry)
            return True
        if change.op == "stream" and item.entry is entry:
            if self._streams.holds(item):
                self._streams.more(item)
                return False
            if _is_out_of_sight(item, change.text):
                return False
        self._update(item, entry)
        return True

    def _add(self, entry: ConversationEntry) -> None:
        item = self._document.add(entry)
        if item.streaming:
            item.since = self._clock()
            if item.prose is not None:
                self._streams.begin(item)
        self._pulse.watch(item)

    def _update(self, item: DrawnEntry, entry: ConversationEntry) -> None:
        item.entry = entry
        if not item.streaming and item.since and not item.took:
            item.took = self._clock() - item.since
        self._pulse.watch(item)
        if self._streams.holds(item):
            self._streams.update(item)
        elif item.streaming and item.prose is not None:
            self._streams.begin(item)
        else:
            self._document.refresh(item)


def _is_out_of_sight(item: DrawnEntry, text: str) -> bool:
    """Say whether what was appended to a collapsed block lies behind its one line."""
    entry = item.entry
    return (
        isinstance(entry, ThinkingEntry)
        and not item.expanded
        and (len(entry.text) - len(text) > PEEK)
    )
