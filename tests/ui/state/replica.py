"""What a transcript does with changes: a list kept by them alone must equal the entries."""

from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    EntryChange,
    TextEntry,
    ThinkingEntry,
)


class Replica:
    def __init__(self) -> None:
        self.keys: list[str] = []
        self.texts: dict[str, str] = {}

    def follow(self, changes: list[EntryChange]) -> None:
        for change in changes:
            entry = change.entry
            if entry is None:
                assert change.op == "clear"
                self.keys.clear()
                self.texts.clear()
                continue
            match change.op:
                case "add":
                    assert entry.key not in self.keys
                    self.keys.append(entry.key)
                    self._read(entry)
                case "prepend":
                    assert entry.key not in self.keys
                    self.keys.insert(0, entry.key)
                    self._read(entry)
                case "update":
                    assert entry.key in self.keys
                    self._read(entry)
                case "stream":
                    assert entry.key in self.keys
                    self.texts[entry.key] += change.text
                case "remove":
                    self.keys.remove(entry.key)
                case "clear":
                    raise AssertionError("clear carries no entry")

    def _read(self, entry: ConversationEntry) -> None:
        if isinstance(entry, TextEntry | ThinkingEntry):
            self.texts[entry.key] = entry.text

    def check(self, entries: list[ConversationEntry]) -> None:
        assert self.keys == [entry.key for entry in entries]
        for entry in entries:
            if isinstance(entry, TextEntry | ThinkingEntry):
                assert self.texts[entry.key] == entry.text
