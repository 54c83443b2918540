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
        self._retold: tuple[ErrorEntry, events.Failed] | None = None
        self.running = False

    def add(self, event: events.Failed) -> ErrorEntry:
        """Put an error into the conversation."""
        self.in_turn = True
        self._retire()
        entry = ErrorEntry(
            key="error",
            retryable=_is_retryable(event) and not event.replayed,
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
        elif event.prompt and event.agent == MAIN_LANE:
            self._retold = entry, event
        return entry

    def opened(self, event: events.SessionOpened) -> None:
        """Take note of a session that opens: it may go on with a prompt that failed earlier."""
        if not event.failed or self._retold is None:
            return
        entry, failure = self._retold
        self.newest = entry
        entry.prompt, entry.taken, entry.retryable = event.failed, True, _is_retryable(failure)
        self._offered.append(entry)
        self._list.update(entry)

    def turn_started(self, event: events.TurnStarted) -> None:
        """A turn begins: what failed before is past."""
        self.in_turn = False
        self._retire()
        if event.agent == MAIN_LANE:
            self.newest = self._retold = None
            self.running = True

    def _retire(self) -> None:
        """Only the newest failure can be tried again."""
        for entry in self._offered:
            entry.retryable, entry.back = False, ""
            self._list.update(entry)
        self._offered.clear()


def _is_retryable(event: events.Failed) -> bool:
    return event.retryable or bool(event.source)
