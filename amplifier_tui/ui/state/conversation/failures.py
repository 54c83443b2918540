"""What failed, and which of it can be tried again."""

from amplifier_tui.host.events import MAIN_LANE, Failed, TurnStarted
from amplifier_tui.ui.state.conversation.entries import ErrorEntry
from amplifier_tui.ui.state.conversation.entry_list import EntryList


class Failures:
    """The error entries of a session.

    Args:
        entries: Where they go.

    Attributes:
        newest: The failure that left a prompt unanswered, while no later turn has begun.
        in_turn: Whether the running or last turn has said why it failed.
    """

    def __init__(self, entries: EntryList) -> None:
        self._list = entries
        self.newest: ErrorEntry | None = None
        self.in_turn = False
        self._offered: list[ErrorEntry] = []
        self._running = False

    def clear(self) -> None:
        """Forget everything, for another session."""
        self.newest = None
        self.in_turn = self._running = False
        self._offered.clear()

    def add(self, event: Failed) -> ErrorEntry:
        """Put an error into the conversation."""
        self.in_turn = True
        self._retire()
        entry = ErrorEntry(
            key="error",
            agent=event.agent,
            kind=event.kind,
            message=event.message,
            remedy=event.remedy,
            retryable=(event.retryable or bool(event.source)) and not event.replayed,
            prompt=event.prompt,
            taken=self._running,
            source=event.source,
            missing=event.missing,
            detail=event.detail,
        )
        self._list.add(entry)
        if entry.retryable:
            self._offered.append(entry)
        if entry.prompt and entry.agent == MAIN_LANE and not event.replayed:
            self.newest = entry
        return entry

    def turn_started(self, event: TurnStarted) -> None:
        """A turn begins: what failed before is past."""
        self.in_turn = False
        self._retire()
        if event.agent == MAIN_LANE:
            self.newest = None
            self._running = True

    def turn_ended(self) -> None:
        """The turn is over."""
        self._running = False

    def _retire(self) -> None:
        """Only the newest failure can be tried again."""
        for entry in self._offered:
            entry.retryable = False
            self._list.update(entry)
        self._offered.clear()
