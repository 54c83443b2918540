"""What the host tells a front end: frozen events, one class per thing that happened.

The engine thread creates them, the UI thread reads them; nothing mutable crosses. The same
stream feeds the screen, `run --jsonl`, the session store and the tests (`architecture.md`
sections 1 and 3). This file imports only the standard library: it is on the path to the
first frame.

Every text field may hold text from models, tools, bundles or users. It is data: whoever
draws it strips control sequences and never parses it as markup.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from amplifier_tui.host import events_codec as _codec

BlockKind = Literal["text", "thinking", "tool_use"]
Level = Literal["info", "warning", "error"]
Risk = Literal["low", "medium", "high", "critical"]
Scope = Literal["once", "session", "project", "always"]
ModuleKind = Literal["orchestrator", "context", "provider", "tool", "hook", "resolver", "unknown"]
TurnStatus = Literal["success", "incomplete", "cancelled", "error"]
ApprovalOutcome = Literal["allowed", "denied", "timed_out", "cancelled"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts as the provider reported them; `cost` is a decimal string in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
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
class TodoItem:
    """One step of the agent's plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One simple command of a compound command line, as the approval dialog lists it."""

    text: str
    note: str = ""
    """For example `allowed by rule pytest *` or `no rule · deletes files`."""
    allowed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEvent:
    """What every event carries.

    Attributes:
        session_id: The session it belongs to.
        agent: The lane: `main`, or the id of a sub-agent's session.
        at: Unix time in seconds, from the engine's clock.
        replayed: True when it retells a stored session instead of something happening now.
    """

    session_id: str
    agent: str = MAIN_LANE
    at: float = 0.0
    replayed: bool = False

    registry: ClassVar[dict[str, type["HostEvent"]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # dataclass(slots=True) builds the class twice; the second one wins, as it must.
        HostEvent.registry[cls.__name__] = cls

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-native dict with the class name under `type`."""
        return _codec.encode_event(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Rebuild the event that `to_json` gave.

        Unknown fields are ignored, so that an older program reads a newer log.

        Raises:
            ValueError: `type` is missing or unknown, or is no subclass of the class called on.
            TypeError: A required field is missing.
        """
        event_type = HostEvent.registry.get(str(data.get("type")))
        if event_type is None or not issubclass(event_type, cls):
            raise ValueError(f"Not a {cls.__name__}: type is {data.get('type')!r}")
        return _codec.decode_event(event_type, data)


# --- session -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened(HostEvent):
    """A session is ready for a prompt."""

    bundle: str
    cwd: str
    directory: str
    """The folder of its transcript."""
    title: str = ""
    provider: str = ""
    model: str = ""
    context_window: int = 0
    resumed: bool = False
    earlier: int = 0
    """Stored rows that were not replayed; `SessionClient.history` fetches them."""
    examples: tuple[str, ...] = ()
    """Prompts the bundle suggests for an empty session."""
    branch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionClosed(HostEvent):
    """A session ended; `resume_command` opens it again, empty when nothing was said in it."""

    reason: str = ""
    resume_command: str = ""
    last_answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(HostEvent):
    """Something went wrong that the user should see in the conversation.

    Attributes:
        kind: Stable word to switch on: `no_provider`, `authentication`, `rate_limit`,
            `overloaded`, `not_found`, `context_length`, `network`, `stream`, `bundle`,
            `internal`, …
        message: What happened, one sentence.
        remedy: What the user can do, one sentence.
        retryable: True when the retry key makes sense.
        retry_after: Seconds the server asked to wait.
        prompt: The prompt that was not answered, so that it can be sent again.
        missing: Names of environment variables that would help.
        detail: The long form, for the inspector; never shown unasked.
    """

    kind: str
    message: str
    remedy: str = ""
    retryable: bool = False
    retry_after: float | None = None
    prompt: str = ""
    missing: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(HostEvent):
    """One line for the status bar and the notice history."""

    level: Level
    text: str
    source: str = ""


# --- modules -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleLoading(HostEvent):
    """A module is being loaded and mounted."""

    module_id: str
    kind: ModuleKind
    instance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleMounted(HostEvent):
    """A module is ready.

    Attributes:
        provides: Names it mounted, such as tool names or the provider's name.
        origin: The bundle that asked for it.
        source: Where its code came from: `built-in`, a package, a path, a URI.
        asks: True when its tools stop for approval.
        events: Hook events it listens to.
    """

    module_id: str
    kind: ModuleKind
    instance: str = ""
    ms: float = 0.0
    provides: tuple[str, ...] = ()
    origin: str = ""
    source: str = ""
    version: str = ""
    detail: str = ""
    asks: bool = False
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFailed(HostEvent):
    """A module did not load; the session goes on without it unless `fatal`."""

    module_id: str
    kind: ModuleKind
    error: str
    remedy: str = ""
    instance: str = ""
    origin: str = ""
    fatal: bool = False
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleUnmounted(HostEvent):
    """A module was taken out of the running session."""

    module_id: str
    kind: ModuleKind
    instance: str = ""


# --- turn ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(HostEvent):
    """A prompt was accepted and written to the transcript."""

    turn: int
    prompt: str
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockStarted(HostEvent):
    """A content block of the answer begins to stream."""

    block_id: str
    kind: BlockKind
    name: str = ""
    """The tool's name, for `tool_use`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDelta(HostEvent):
    """More text of a block; coalesced to at most 30 a second and block."""

    block_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockEnded(HostEvent):
    """A block is complete: `text` is the whole of it and replaces what streamed.

    May come twice for a block (the orchestrator's durable copy follows the stream); the last
    one counts. A block that never streamed comes without a `BlockStarted`.
    """

    block_id: str
    kind: BlockKind
    text: str
    interrupted: bool = False
    discarded: bool = False
    """The stream was aborted and will be retried: what streamed so far is void."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(HostEvent):
    """A tool call was accepted by the orchestrator (`tool:pre`)."""

    call_id: str
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    module_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(HostEvent):
    """A running tool has output so far; `text` is the newest part only."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded(HostEvent):
    """A tool call is over.

    Attributes:
        ok: False for an error or a denial.
        output: What the model was given, as text, cut at 64 KiB (`output_size` is the full size).
        error: One line when not ok.
        denied: The call was refused by a hook or the user; `error` holds the reason.
        diff: Unified diff of the file the tool changed, else empty.
        summary: A few words for the tool line, such as `64 lines` or `3 hits`.
    """

    call_id: str
    tool: str
    ok: bool
    output: str = ""
    output_size: int = 0
    error: str = ""
    denied: bool = False
    interrupted: bool = False
    duration_ms: float = 0.0
    diff: str = ""
    path: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(HostEvent):
    """The turn is over and every row of it is on disk."""

    turn: int
    status: TurnStatus
    duration_ms: float = 0.0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRequested(HostEvent):
    """A stop was acknowledged: graceful first, immediate when asked again."""

    immediate: bool
    running_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueChanged(HostEvent):
    """The prompts waiting for the running turn to end, first to be sent first."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SteerApplied(HostEvent):
    """A steering message reached the model at a step boundary."""

    text: str


# --- approvals -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(HostEvent):
    """A tool call or hook waits for the user.

    Attributes:
        request_id: Handle for `SessionClient.decide`.
        call_id: The tool call it belongs to, when known.
        tool: The tool's name, empty when a hook asks outside a tool call.
        asker: The module or hook that asks.
        action: One sentence: `bash wants to run a command`.
        prompt: The asker's own words.
        payload: The exact thing to be allowed: command line, arguments as JSON, or text.
        payload_kind: How to draw `payload`.
        segments: The simple commands of a compound command line.
        diff: Unified diff of the change that would be made, else empty.
        risk: The word; `reasons` say why.
        cwd: Where it would run.
        paths: Files it names.
        outside: Some path lies outside the workspace.
        why: Rule, hook or default that made it stop.
        options: The asker's own options, when they are not the usual ones.
        timeout: Seconds until `default` is taken; None waits for ever.
        default: What a timeout does.
        scopes: What may be remembered.
        rule: The rule that remembering would store, verbatim.
    """

    request_id: str
    asker: str
    action: str
    prompt: str = ""
    call_id: str = ""
    tool: str = ""
    payload: str = ""
    payload_kind: Literal["command", "json", "text", "none"] = "none"
    segments: tuple[Segment, ...] = ()
    diff: str = ""
    risk: Risk = "medium"
    reasons: tuple[str, ...] = ()
    cwd: str = ""
    paths: tuple[str, ...] = ()
    outside: bool = False
    why: str = ""
    options: tuple[str, ...] = ()
    timeout: float | None = None
    default: Literal["allow", "deny"] = "deny"
    scopes: tuple[Scope, ...] = ("once",)
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved(HostEvent):
    """A request was answered, by the user, a standing rule, the clock or a stop."""

    request_id: str
    outcome: ApprovalOutcome
    by: Literal["user", "rule", "timeout", "stop"] = "user"
    scope: Scope = "once"
    reason: str = ""
    call_id: str = ""
    tool: str = ""
    rule: str = ""


# --- instruments ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HookTraced(HostEvent):
    """One emit on the hook registry, or a run of equal ones (`count` > 1).

    Attributes:
        seq: Position in the session's event log, from 1.
        event: Event name.
        source: What it is about: tool name, provider, module id; may be empty.
        verdict: The strongest answer any handler gave.
        duration_ms: Time the handlers took together.
        data: The payload as JSON text, secrets redacted, cut at 64 KiB.
        size: Full length of that text in characters.
        changed: The payload after the handlers, as JSON text, when a hook modified it.
    """

    seq: int
    event: str
    source: str = ""
    verdict: str = "continue"
    duration_ms: float = 0.0
    handlers: tuple[HandlerTrace, ...] = ()
    count: int = 1
    data: str = ""
    size: int = 0
    changed: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetChanged(HostEvent):
    """The context budget by source.

    Attributes:
        total: Tokens in the next request.
        window: The model's context window; 0 when unknown.
        trigger: Compaction starts here; 0 when off.
        target: Compaction goes down to here.
        reserve: Part of the window kept for the answer.
        floor: What no compaction can remove.
        kind: Where `total` comes from.
        sources: Largest first; they sum to `total`.
        preview: What a compaction would do now.
    """

    total: int
    window: int = 0
    trigger: int = 0
    target: int = 0
    reserve: int = 0
    floor: int = 0
    kind: Literal["usage", "estimated"] = "estimated"
    sources: tuple[SourceUsage, ...] = ()
    preview: tuple[PlanStep, ...] = ()
    turns_left: int | None = None
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageChanged(HostEvent):
    """What the session has used so far."""

    session: Usage
    turn: Usage = field(default_factory=Usage)
    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted(HostEvent):
    """The view of the conversation was compacted; the stored history is unchanged."""

    before_tokens: int
    after_tokens: int
    rows: int = 0
    strategy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoChanged(HostEvent):
    """The agent's plan, whole."""

    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneOpened(HostEvent):
    """A sub-agent started; its events carry its session id as `agent`."""

    lane: str
    name: str
    parent: str = MAIN_LANE
    instruction: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneClosed(HostEvent):
    """A sub-agent ended."""

    lane: str
    status: TurnStatus = "success"
    result: str = ""
