"""What failed in a session, and what of it can be tried again."""

from amplifier_tui.host import events
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.state.conversation.entries import EntryList, ErrorEntry
from amplifier_tui.ui.state.section import told


class Failures:
    """The error entries of a session.

    `newest` left a prompt unanswered and no later turn has begun; `in_turn`: the last turn has said
    why it failed; `running`: a turn runs.
    """

    def __init__(self, entries: EntryList) -> None:
        self._list = entries
        self.newest: ErrorEntry | None = None
        self.in_turn = False
        self._offered: list[ErrorEntry] = []
        self.running = False

    def add(self, event: events.Failed) -> ErrorEntry:
        """Put an error into the conversation."""
        self.in_turn = True
        self._retire()
        entry = ErrorEntry(
            key="error",
            retryable=(event.retryable or bool(event.source)) and not event.replayed,
            taken=self.running,
            # What is retold gave its prompt back long ago.
            prompt="" if event.replayed else event.prompt,
            **told(event, "agent", "kind", "message", "remedy", "source", "missing"),
            back="" if event.replayed else event.back,
            detail=event.detail,
        )
        self._list.add(entry)
        if entry.retryable or entry.back:
            self._offered.append(entry)
        if entry.prompt and entry.agent == MAIN_LANE:
            self.newest = entry
        return entry

    def turn_started(self, event: events.TurnStarted) -> None:
        """A turn begins: what failed before is past."""
        self.in_turn = False
        self._retire()
        if event.agent == MAIN_LANE:
            self.newest = None
            self.running = True

    def _retire(self) -> None:
        """Only the newest failure can be tried again."""
        for entry in self._offered:
            entry.retryable, entry.back = False, ""
            self._list.update(entry)
        self._offered.clear()
