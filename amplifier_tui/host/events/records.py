"""The words and the small records that events carry."""

from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass

BlockKind = Literal["text", "thinking", "tool_use"]
Level = Literal["info", "warning", "error"]
Risk = Literal["low", "medium", "high", "critical"]
Scope = Literal["once", "session", "project", "always"]
Mode = Literal["plan", "ask", "edits", "auto"]
ModuleKind = Literal["orchestrator", "context", "provider", "tool", "hook", "resolver", "unknown"]
NoticeEnd = Literal["", "opened", "answer", "compacted"]
TurnStatus = Literal["success", "incomplete", "cancelled", "error"]
RewindScope = Literal["conversation", "files", "both"]
ApprovalOutcome = Literal["allowed", "denied", "timed_out", "cancelled", "changed"]
AnsweredBy = Literal["user", "rule", "mode", "timeout", "stop", "nobody"]
"""Who decided; `nobody` where no person was there to be asked."""

MAIN_LANE = "main"


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
    """A model server on this machine; `url` is the address of its API."""

    name: str
    url: str
    models: tuple[str, ...] = ()


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
