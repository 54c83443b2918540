"""The conversation as a list of entries: what the transcript draws.

Entries are plain and mutable; only `ui/state` changes them, and it says so by returning
`EntryChange`s. Text in them is data from models, tools and users.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_tui.host.events import MAIN_LANE, Level

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
    expanded: bool = False


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
    module_id: str = ""
    started: float = 0.0
    duration_ms: float = 0.0
    output: str = ""
    output_size: int = 0
    error: str = ""
    diff: str = ""
    path: str = ""
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
    expanded: bool = False


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
