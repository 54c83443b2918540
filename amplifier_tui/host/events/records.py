"""The words and the small records that events carry."""

from typing import Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import with_remedy

BlockKind = Literal["text", "thinking", "tool_use"]
Level = Literal["info", "warning", "error"]
Risk = Literal["low", "medium", "high", "critical"]
Scope = Literal["once", "session", "project", "always"]
Mode = Literal["plan", "ask", "edits", "auto"]
ModuleKind = Literal["orchestrator", "context", "provider", "tool", "hook", "resolver", "unknown"]
NoticeEnd = Literal["", "opened", "answer", "compacted", "limit", "asked"]
TurnStatus = Literal["success", "incomplete", "cancelled", "error"]
RewindScope = Literal["conversation", "files", "both"]
ApprovalOutcome = Literal["allowed", "denied", "timed_out", "cancelled", "changed"]
AnsweredBy = Literal["user", "rule", "mode", "hook", "timeout", "stop", "nobody"]
"""Who decided; `nobody` where no person was there to be asked."""

MAIN_LANE = "main"
_MEND: Final = "Correct it there and reload the module, or go on without it."


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerTrace:
    """One hook handler's part in one emit."""

    name: str
    verdict: str
    """`continue`, `deny`, `modify`, `inject_context`, `ask_user`, or `error`."""
    ms: float
    error: str | None = None
    reason: str | None = None
    module: str = ""
    """Key of the module it is of; empty where it is of none, or as its name says."""

    @property
    def label(self) -> str:
        """Its name, after its module's where that says more: handlers of many may have one name."""
        named = not self.module or self.name.startswith(self.module)
        return self.name if named else f"{self.module}: {self.name}"

    @property
    def problem(self) -> str:
        """What went wrong and what to do about it; empty where nothing did."""
        raised = self.verdict == "error" and not self.ended
        return with_remedy(self.error or "", _MEND) if self.error and raised else self.error or ""

    @property
    def ended(self) -> bool:
        """Whether it was ended from outside, such as by a stop: that is no fault of its code."""
        return self.error is not None and self.error.startswith("ended by ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts as the provider reported them; `cost` is a decimal string in US dollars.

    `unpriced_tokens` are those, read and written, whose price is not known; `cost` leaves them out.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    unpriced_tokens: int = 0
    cost: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUsage:
    """One line of the context pane: who put how many tokens into the window."""

    source: str
    """For example `bundle:coding`, `tools:tool-bash`, `tool:read_file`, `user`, `assistant`."""
    tokens: int
    messages: int = 0
    state: Literal["full", "compacted"] = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """One thing a compaction would do, in words and numbers."""

    action: Literal["truncate", "stub", "drop", "summary"]
    source: str
    rows: int
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCard:
    """A `/` command that a module brings; see `base.capabilities.prompt_commands`."""

    group: str
    name: str
    description: str = ""
    takes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A model server of the user's; `url` is the address of its API."""

    name: str
    url: str
    models: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its name, and that it is on this machine where it is."""
        from urllib.parse import urlsplit

        here = urlsplit(self.url).hostname in ("127.0.0.1", "localhost", "::1")
        return f"{self.name} on this machine" if here else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoItem:
    """One step of the agent's plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCard:
    """An image, or a PDF, of the conversation.

    Attributes:
        key: Handle for `SessionClient.image`; the same for the same image.
        media_type: Such as `image/png`.
        name: The file's name, where it has one.
        width: In pixels, upright, as is `height`; 0 where that is not known.
        size: In bytes.
    """

    key: str
    media_type: str
    name: str = ""
    width: int = 0
    height: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One simple command of a compound command line, as the approval dialog lists it."""

    text: str
    note: str = ""
    """For example `allowed by rule pytest *` or `no rule · deletes files`."""
    allowed: bool = False
    risk: Risk = "medium"
