"""The ordered list of conversation entries, and the record of what a batch did to it."""

from collections.abc import Sequence

from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    EntryChange,
    TextEntry,
    ThinkingEntry,
)
from amplifier_tui.ui.state.section import Section


class EntryList(Section):
    """Entries in the order they are drawn; keys are unique.

    Every mutation goes through a method here, so that the changes handed to the transcript are
    complete and hold no work twice.
    """

    __slots__ = ("_changes", "_fresh", "_keys", "_numbers", "entries")

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[ConversationEntry] = []
        self._keys: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._changes: list[EntryChange] = []
        self._fresh: set[str] = set()

    def __contains__(self, entry: ConversationEntry) -> bool:
        return entry.key in self._keys

    def __len__(self) -> int:
        return len(self.entries)

    def take_changes(self) -> list[EntryChange]:
        """Return the changes since the last call, in order, and forget them."""
        changes, self._changes = self._changes, []
        self._fresh.clear()
        return changes

    def unique_key(self, wanted: str) -> str:
        """Return `wanted`, or a variant of it that no entry has."""
        key = wanted
        number = self._numbers.get(wanted, 1)
        while key in self._keys:
            number += 1
            key = f"{wanted}~{number}"
        self._numbers[wanted] = number
        return key

    def add(self, entry: ConversationEntry) -> None:
        """Append an entry. Its key is made unique first."""
        entry.key = self.unique_key(entry.key)
        self._keys.add(entry.key)
        self.entries.append(entry)
        self._fresh.add(entry.key)
        self._record(EntryChange(op="add", entry=entry))

    def prepend(self, earlier: Sequence[ConversationEntry]) -> None:
        """Put earlier entries, oldest first, in front of all others."""
        for entry in earlier:
            entry.key = self.unique_key(entry.key)
            self._keys.add(entry.key)
        self.entries[0:0] = earlier
        for entry in reversed(earlier):
            self._fresh.add(entry.key)
            self._record(EntryChange(op="prepend", entry=entry))

    def update(self, entry: ConversationEntry) -> None:
        """Say that an entry's fields have changed."""
        if entry.key in self._fresh:
            # The batch redraws it whole already, and the consumer reads the entry afterwards.
            self.touch()
            return
        self._fresh.add(entry.key)
        self._record(EntryChange(op="update", entry=entry))

    def stream(self, entry: TextEntry | ThinkingEntry, text: str) -> None:
        """Append text to a streaming entry."""
        entry.text += text
        if entry.key in self._fresh:
            self.touch()
            return
        last = self._changes[-1] if self._changes else None
        if last is not None and last.op == "stream" and last.entry is entry:
            self._changes[-1] = EntryChange(op="stream", entry=entry, text=last.text + text)
            self.touch()
            return
        self._record(EntryChange(op="stream", entry=entry, text=text))

    def remove(self, entry: ConversationEntry) -> None:
        """Take an entry out; one that is not in the list is ignored."""
        if entry.key not in self._keys:
            return
        # What is removed is nearly always young: look from the end, and by identity.
        for index in range(len(self.entries) - 1, -1, -1):
            if self.entries[index] is entry:
                del self.entries[index]
                self._keys.discard(entry.key)
                self._fresh.discard(entry.key)
                self._record(EntryChange(op="remove", entry=entry))
                return

    def clear(self) -> None:
        """Empty the list."""
        if not self.entries:
            return
        self.entries.clear()
        self._keys.clear()
        self._numbers.clear()
        self._fresh.clear()
        self._changes.clear()
        self._record(EntryChange(op="clear"))

    def _record(self, change: EntryChange) -> None:
        self._changes.append(change)
        self.touch()
