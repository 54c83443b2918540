"""The conversation as a list of entries: what the transcript draws.

Entries are plain and mutable; only `ui/state` changes them, and it says so by returning
`EntryChange`s. Text in them is data from models, tools and users.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import (
    MAIN_LANE,
    ImageCard,
    Level,
    LimitAsked,
    LocalServer,
    ProviderRetrying,
    ReportItem,
)
from amplifier_tui.ui.state.section import Section

NO_PROVIDER = "no_provider"
"""The kind of failure that a key, another bundle or the demo helps against."""

REFUSED = "authentication"
"""The kind of failure that another key helps against."""

NO_MODEL = "not_found"
"""The kind of failure that another model helps against."""

TOO_LONG = "context_length"
"""The kind of failure that compacting helps against."""
CANCELLED = "cancelled"
"""The kind of failure of an opening that the user put off."""
BUNDLE = "bundle"
"""The kind of failure that another bundle helps against."""
SETTINGS = "settings"
"""The kind of failure of an opening that lasts until a file is corrected."""
UNTRUSTED = "untrusted"
"""The kind of failure of an opening that another answer to the question of trust helps against."""
AGAIN = frozenset((BUNDLE, CANCELLED, SETTINGS, UNTRUSTED))
"""The kinds of failure after which the same session may well be opened."""

LaneState = Literal["running", "waiting", "success", "incomplete", "error", "cancelled"]
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
    images: tuple[ImageCard, ...] = ()
    files: tuple[str, ...] = ()
    """What it mentions whose text went along."""
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
    duration_ms: float = 0.0


@dataclass(slots=True, kw_only=True)
class ToolEntry(ConversationEntry):
    """A tool call: one line, with diff or output below when expanded.

    While the model is still writing the call (`preparing`) it has no `call_id`, and `argument_text`
    is the JSON so far; `written` is when that was complete. `started` and `written` are in Unix
    seconds, 0 when that is not known. `output` is the newest part while the tool runs, afterwards
    what the model got. `allowed_by` is the rule or the mode that let it through unasked, or says
    that the clock did; `timed_out` says that nobody answered, which is why it was refused.
    `changed_by` and `denied_by` are modules whose hooks did that, `withheld_by` and
    `result_changed_by` those whose hooks did it to its result. `held_by` is the hook that takes
    long to judge it.
    """

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    state: ToolState = "running"
    preparing: bool = False
    argument_text: str = ""
    written: float = 0.0
    call_id: str = ""
    started: float = 0.0
    duration_ms: float = 0.0
    output: str = ""
    output_size: int = 0
    error: str = ""
    diff: str = ""
    summary: str = ""
    images: tuple[ImageCard, ...] = ()
    expanded: bool = False
    allowed_by: str = ""
    changed_by: str = ""
    denied_by: str = ""
    withheld_by: str = ""
    result_changed_by: str = ""
    timed_out: bool = False
    held_by: str = ""


@dataclass(slots=True, kw_only=True)
class LaneEntry(ConversationEntry):
    """A task of a sub-agent; `agent` is the lane that called it.

    `name` tells it from the others on screen. `tool` and `arguments` are of its latest call, `told`
    is what it has not heard yet, `earlier` how many stored rows of it are not shown. It `began` and
    `ended` in Unix seconds, 0 when that is not known.
    """

    lane: str
    name: str = ""
    instruction: str = ""
    state: LaneState = "running"
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    began: float = 0.0
    ended: float = 0.0
    told: tuple[str, ...] = ()
    stopping: Literal["", "after its step", "at once"] = ""
    result: str = ""
    earlier: int = 0

    @property
    def running(self) -> bool:
        """Whether it works, or waits for the user."""
        return self.state in ("running", "waiting")


@dataclass(slots=True, kw_only=True)
class ShellEntry(ToolEntry):
    """A command of the user's own.

    The agent is `told` of it; while its output `waits`, it goes along with the next prompt.
    """

    told: bool = True
    waits: bool = False


@dataclass(slots=True, kw_only=True)
class ErrorEntry(ConversationEntry):
    """Something failed: what happened, what was kept, and the key that helps.

    `taken`: a turn began for the prompt, and trying again goes on with that turn. `source` is the
    context source that failed; the turn can go on without it. `back` is the model that answered
    until the user switched to the one that failed.
    """

    kind: str
    message: str
    remedy: str = ""
    retryable: bool = False
    prompt: str = ""
    taken: bool = False
    source: str = ""
    missing: tuple[str, ...] = ()
    back: str = ""
    detail: str = ""


@dataclass(slots=True, kw_only=True)
class NoteEntry(ConversationEntry):
    """A quiet line between turns: stopped, resumed, bundle switched, compacted.

    `detail` is what it opens as, and below that `repeats`, which the conversation has elsewhere,
    too. It does not open where both are empty.
    """

    text: str
    level: Level = "info"
    detail: str = ""
    repeats: str = ""


@dataclass(slots=True, kw_only=True)
class PlanEntry(ConversationEntry):
    """A plan was made in plan mode: whether it is carried out."""


@dataclass(slots=True, kw_only=True)
class ReportEntry(ConversationEntry):
    """What the session goes without since it was opened, in one quiet line; it opens as a list."""

    ready: int
    items: tuple[ReportItem, ...]


@dataclass(slots=True, kw_only=True)
class RetryEntry(ConversationEntry):
    """A request to a model failed and is sent again; `event` says when."""

    event: ProviderRetrying


@dataclass(slots=True, kw_only=True)
class LimitEntry(ConversationEntry):
    """A request that may pass the session's limit waits for the user."""

    asked: LimitAsked


@dataclass(frozen=True, slots=True)
class ProviderLine:
    """A provider that is not ready, and the environment variables it does not find."""

    name: str
    missing: tuple[str, ...] = ()
    error: str = ""


@dataclass(slots=True, kw_only=True)
class WelcomeEntry(ConversationEntry):
    """The empty session: what is active, what to try, what is missing.

    `missing` are environment variables that providers need and do not find. `problem` is why no
    prompt can be answered, empty when one can, and `providers` those that are not ready; `servers`
    on this machine could answer. `tried` is what came of the last key or server that was tried.
    """

    bundle: str = ""
    of_project: bool = False
    model: str = ""
    mode: str = ""
    examples: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    problem: str = ""
    remedy: str = ""
    providers: tuple[ProviderLine, ...] = ()
    servers: tuple[LocalServer, ...] = ()
    tried: str = ""


OFFERS = (ErrorEntry, LimitEntry, PlanEntry, ReportEntry, WelcomeEntry)
"""Entries that tell of keys which help; a click on the words does the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChange:
    """What a batch of events did to the list of entries, in order.

    `add` appends, `prepend` puts an entry at the very front (so earlier rows come newest first),
    `update` redraws it, `stream` appends `text` to its text, which holds it already. A batch has
    no `stream` of an entry after an `add` or `update` of it. `entry` is None for `clear`.
    """

    op: Literal["add", "prepend", "update", "stream", "remove", "clear"]
    entry: ConversationEntry | None = None
    text: str = ""


class EntryList(Section):
    """Entries in the order they are drawn; keys are unique.

    Every mutation goes through a method here, so that the changes handed to the transcript are
    complete and hold no work twice.
    """

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[ConversationEntry] = []
        self._keys: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._changes: list[EntryChange] = []
        self._fresh: set[str] = set()

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
        if entry.key not in self._fresh:
            self._fresh.add(entry.key)
            self._changes.append(EntryChange(op="update", entry=entry))
        # Otherwise the batch redraws it whole already, and the entry is read afterwards.
        self.touch()

    def stream(self, entry: TextEntry | ThinkingEntry, text: str) -> None:
        """Append text to a streaming entry."""
        entry.text += text
        if entry.key not in self._fresh:
            last = self._changes[-1] if self._changes else None
            if last is not None and last.op == "stream" and last.entry is entry:
                text = self._changes.pop().text + text
            self._changes.append(EntryChange(op="stream", entry=entry, text=text))
        self.touch()

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
