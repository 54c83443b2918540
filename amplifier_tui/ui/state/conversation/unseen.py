"""What happened to a conversation while nobody looked: as many changes as entries, at most."""

from collections.abc import Iterable

from amplifier_tui.ui.state.conversation.entries import EntryChange


class UnseenChanges:
    """Changes of the entries, those of one entry merged: its text is drawn whole later."""

    def __init__(self) -> None:
        self._changes: list[EntryChange] = []
        self._at: dict[str, int] = {}
        """Where the change of an entry is, by its key."""

    def __len__(self) -> int:
        return len(self._changes)

    def add(self, changes: Iterable[EntryChange]) -> None:
        """Keep changes, in order."""
        for change in changes:
            entry = change.entry
            if entry is None:
                self._changes, self._at = [change], {}
            elif change.op in ("update", "stream"):
                at = self._at.get(entry.key)
                if at is None:
                    self._keep(entry.key, EntryChange(op="update", entry=entry))
                else:
                    self._changes[at] = EntryChange(op=self._changes[at].op, entry=entry)
            else:
                self._keep(entry.key, change)
                if change.op == "remove":
                    # Another one may come under its key.
                    del self._at[entry.key]

    def take(self) -> list[EntryChange]:
        """Return what was kept, and forget it."""
        changes, self._changes, self._at = self._changes, [], {}
        return changes

    def _keep(self, key: str, change: EntryChange) -> None:
        self._at[key] = len(self._changes)
        self._changes.append(change)
