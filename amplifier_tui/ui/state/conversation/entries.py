"""The conversation as a list of entries: what the transcript draws.

Entries are plain and mutable; only `ui/state` changes them, and it says so by returning
`EntryChange`s. Text in them is data from models, tools and users.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_tui.host.events import MAIN_LANE, Level
from amplifier_tui.ui.state.section import Section

NO_PROVIDER = "no_provider"
"""The kind of failure that a key, another bundle or the demo helps against."""

TOO_LONG = "context_length"
"""The kind of failure that compacting helps against."""

ToolState = Literal["running", "waiting", "ok", "failed", "denied", "interrupted"]


@dataclass(slots=True, kw_only=True)
class ConversationEntry:
    """One item of the conversation; `key` is unique in a session and never changes."""

    key: str
    agent: str = "main"


@dataclass(slots=True, kw_only=True)
class UserEntry(ConversationEntry):
    """The user's words. An edge at the left marks them."""

    text: str
    turn: int = 0
    attachments: tuple[str, ...] = ()
    steered: bool = False
    """Said in the middle of a turn and delivered at a step boundary."""

    @property
    def begins_turn(self) -> bool:
        """Whether it is a prompt of the user that a turn of the session answers."""
        return self.turn > 0 and not self.steered and self.agent == MAIN_LANE


@dataclass(slots=True, kw_only=True)
class TextEntry(ConversationEntry):
    """A text block of the answer, Markdown."""

    text: str
    streaming: bool = False
    interrupted: bool = False


@dataclass(slots=True, kw_only=True)
class ThinkingEntry(ConversationEntry):
    """A thinking block; one line unless expanded."""

    text: str
    streaming: bool = False
    interrupted: bool = False


@dataclass(slots=True, kw_only=True)
class ToolEntry(ConversationEntry):
    """A tool call: one line, with diff or output below when expanded.

    Attributes:
        preparing: The model is still writing the call; nothing runs yet.
        argument_text: The JSON of the arguments as far as it has streamed, while preparing.
        call_id: The call's id, empty while preparing.
        started: Unix time in seconds of the start, 0 when it is not known.
        output: While running the newest part of the output; afterwards what the model got.
    """

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    state: ToolState = "running"
    preparing: bool = False
    argument_text: str = ""
    call_id: str = ""
    started: float = 0.0
    duration_ms: float = 0.0
    output: str = ""
    output_size: int = 0
    error: str = ""
    diff: str = ""
    summary: str = ""
    expanded: bool = False


@dataclass(slots=True, kw_only=True)
class ErrorEntry(ConversationEntry):
    """Something failed: what happened, what was kept, and the key that helps.

    Attributes:
        taken: A turn began for the prompt: trying again goes on with that turn instead of
            sending the prompt a second time.
        source: The context source that failed; the turn can go on without it.
    """

    kind: str
    message: str
    remedy: str = ""
    retryable: bool = False
    prompt: str = ""
    taken: bool = False
    source: str = ""
    missing: tuple[str, ...] = ()
    detail: str = ""


@dataclass(slots=True, kw_only=True)
class NoteEntry(ConversationEntry):
    """A quiet line between turns: stopped, resumed, bundle switched, compacted."""

    text: str
    level: Level = "info"


@dataclass(frozen=True, slots=True)
class ProviderLine:
    """A provider that is not ready, and why."""

    name: str
    missing: tuple[str, ...] = ()
    """Environment variables it needs and does not find."""
    error: str = ""


@dataclass(slots=True, kw_only=True)
class WelcomeEntry(ConversationEntry):
    """The empty session: what is active, what to try, what is missing.

    Attributes:
        missing: Environment variables that providers need and do not find.
        problem: Why no prompt can be answered; empty when one can.
        remedy: What the user can do about that.
        providers: The providers that are not ready.
    """

    bundle: str = ""
    model: str = ""
    mode: str = ""
    examples: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    problem: str = ""
    remedy: str = ""
    providers: tuple[ProviderLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChange:
    """What a batch of events did to the list of entries, in order.

    Attributes:
        op: `add` appends, `prepend` puts earlier rows in front, `update` redraws an entry,
            `stream` appends `text` to a streaming entry (its `.text` holds it already),
            `remove` takes it out, `clear` empties the list. Each `prepend` puts its entry at
            the very front, so a batch of earlier rows comes newest first. A batch holds no
            `stream` for an entry after an `add` or `update` of it: reading `.text` then is
            enough.
        entry: The entry concerned; None for `clear`.
        text: The new text of a `stream`.
    """

    op: Literal["add", "prepend", "update", "stream", "remove", "clear"]
    entry: ConversationEntry | None = None
    text: str = ""


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
