"""A turn: the prompt, the blocks of the answer, the tool calls and what they ask, its end."""

from dataclasses import field
from decimal import Decimal
from typing import Any, Literal

from amplifier_tui.base.capabilities.questions import Question, QuestionsOutcome
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line, spent_of
from amplifier_tui.base.tool_names import FILE_TOOLS
from amplifier_tui.host.events.base import HostEvent
from amplifier_tui.host.events.records import (
    AnsweredBy,
    ApprovalOutcome,
    BlockKind,
    ImageCard,
    Mode,
    Risk,
    Scope,
    Segment,
    TurnStatus,
    Usage,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(HostEvent):
    """A prompt was accepted and written to the transcript.

    Attributes:
        prompt_id: What it was called while it waited; empty in what is retold.
    """

    turn: int
    prompt: str
    attachments: tuple[str, ...] = ()
    prompt_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockStarted(HostEvent):
    """A content block of the answer begins to stream."""

    block_id: str
    kind: BlockKind
    name: str = ""
    """The tool's name, for `tool_use`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDelta(HostEvent):
    """More text of a block; pieces that wait for a front end come as one."""

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
    """The stream was aborted and another answer begins: what streamed so far is void."""
    duration_ms: float = 0.0
    """How long thinking took; 0 where that is not known, and of other kinds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(HostEvent):
    """A tool call was accepted by the orchestrator (`tool:pre`).

    Attributes:
        changed_by: The module whose hook made another call of it; empty for none.
    """

    call_id: str
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    module_id: str = ""
    changed_by: str = ""


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
        denied_by: The module whose hook refused it; empty where that was none.
        withheld_by: The module whose hook kept its result from the model; `error` holds the reason.
        result_changed_by: The module whose hook changed what the model was given of it.
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
    denied_by: str = ""
    withheld_by: str = ""
    result_changed_by: str = ""
    interrupted: bool = False
    duration_ms: float = 0.0
    diff: str = ""
    path: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagesAdded(HostEvent):
    """Images, or files that a prompt mentions, became part of the conversation, and are stored.

    Attributes:
        call_id: The call whose result they are of; empty for the lane's latest prompt.
        files: As they are mentioned, `path` or `path:3-9`; images are not among them.
    """

    images: tuple[ImageCard, ...]
    call_id: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(HostEvent):
    """The turn is over and every row of it is on disk.

    Attributes:
        silent: It ended well, and the last answer of the model had nothing in it.
        declined: It ended well, and the model declined to give the last answer, or the rest of it.
        denied: Why a hook refused the request to the model, so that the turn ended.
    """

    turn: int
    status: TurnStatus
    duration_ms: float = 0.0
    usage: Usage = field(default_factory=Usage)
    silent: bool = False
    declined: bool = False
    denied: str = ""

    @property
    def remark(self) -> str:
        """What is said of an answer that is none, or none to the end; else empty."""
        if self.denied:
            return f"A hook refused the request to the model: {one_line(self.denied, 500)}"
        if self.declined:
            return "The model declined to answer"
        return "The model answered nothing" if self.silent else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProposed(HostEvent):
    """A turn in plan mode has ended; `SessionClient.carry_out` does what it proposed."""

    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitAsked(HostEvent):
    """A request may pass the session's limit and waits for the user.

    Attributes:
        request_id: Handle for `SessionClient.answer_limit`.
        cost: The limit in US dollars, as decimal text; empty for none.
        tokens: The limit in tokens, read and written; 0 for none.
        used_cost: What was used so far.
        next_cost: What the request is expected to use; None where its price is not known.
    """

    request_id: str
    cost: str = ""
    tokens: int = 0
    used_cost: str | None = None
    used_tokens: int = 0
    next_cost: str | None = None
    next_tokens: int = 0

    @property
    def amounts(self) -> str:
        """What was used of the limit, and what more is expected."""
        parts = [spent_of(self.cost, self.used_cost, self.next_cost)] if self.cost else []
        if self.tokens:
            used = f"{self.used_tokens:,} of {self.tokens:,} tokens used"
            parts.append(f"{used}, about {self.next_tokens:,} more")
        return " · ".join(parts)

    @property
    def said(self) -> str:
        """What it waits for, as a sentence without its stop."""
        return f"{self.why}: {self.amounts}"

    @property
    def why(self) -> str:
        """Whether the limit is passed already or may be now, as a sentence without its stop."""
        spent = bool(self.cost) and Decimal(self.used_cost or 0) > Decimal(self.cost)
        if spent or 0 < self.tokens < self.used_tokens:
            return "The limit is passed"
        return "The next request may pass the limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitResolved(HostEvent):
    """The request waits no more: it goes, it does not, or the limit is another one."""

    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRequested(HostEvent):
    """A stop was acknowledged: graceful first, immediate when asked again."""

    immediate: bool
    running_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRetrying(HostEvent):
    """A request to a model failed and is sent again after a wait; its answer, or none, ends that.

    Attributes:
        attempt: Which try again this is, from 1; 0 when unknown.
        most: How many there will be at most; 0 when unknown.
        delay: Seconds until then.
        problem: What went wrong, one line without its full stop.
        status: The HTTP status; 0 when there was none.
    """

    provider: str = ""
    attempt: int = 0
    most: int = 0
    delay: float = 0.0
    problem: str = ""
    status: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueChanged(HostEvent):
    """What waits: prompts for the running turn to end, steering messages for its next step.

    Attributes:
        items: Prompts, first to be sent first.
        ids: What each of them is called in `SessionClient`.
        steering: Messages the model has not been given yet.
        held: The prompts wait until the user sends one: a turn was stopped, or the session is
            resumed. Else they go by themselves.
    """

    items: tuple[str, ...]
    ids: tuple[str, ...] = ()
    steering: tuple[str, ...] = ()
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SteerApplied(HostEvent):
    """A steering message reached the model at a step boundary."""

    text: str


def wanted_of(tool: str, action: str, payload: str, payload_kind: str) -> str:
    """Return what a call wants on one line; the arguments are those of an `ApprovalRequested`."""
    # The sentence names the files of such a tool; the rest of the JSON is what is in them.
    said = payload_kind == "json" and tool in FILE_TOOLS
    return f"{one_line(action)} {'' if said else one_line(payload)}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(HostEvent):
    """A tool call or hook waits for the user.

    Attributes:
        request_id: Handle for `SessionClient.decide`.
        call_id: The tool call it belongs to, when known.
        tool: The tool's name, empty when a hook asks outside a tool call.
        asker: The module or hook that asks.
        event: The event at which a hook asks; empty where a tool call waits at the gate.
        action: One sentence: `bash wants to run a command`.
        prompt: The asker's own words.
        payload: The exact thing to be allowed: command line, arguments as JSON, or text.
        payload_kind: How to draw `payload`.
        segments: The simple commands of a compound command line.
        diff: Unified diff of the change that would be made, else empty.
        problem: Why the call would fail as it stands, as far as the files tell.
        risk: The word; `reasons` say why.
        cwd: Where it would run.
        paths: Files it names.
        outside: Some path lies outside the workspace.
        why: Rule, hook or default that made it stop.
        options: The asker's own options, when they are not the usual ones.
        timeout: Seconds until `default` is taken; None waits for ever.
        default: What a timeout does.
        unconfined: A yes runs it outside of the sandbox in which others of its mode run, and
            nothing else says so.
        scopes: What may be remembered.
        rule: The rule that remembering would store, verbatim.
        meaning: What that rule speaks of, in words.
        near: Why a standing rule that nearly covers it does not, and which would.
        network: That rule would give commands the network, too, which a sandbox keeps from them.
        kept_in: The file it would be stored in, where it holds longer than the session.
        editable: Its arguments may be changed; see `SessionClient.change_call`.
        began: When its call came, on the host's own clock; what waits is answered in this order. A
            call that was changed keeps the place of what it was.
    """

    request_id: str
    asker: str
    action: str
    prompt: str = ""
    call_id: str = ""
    tool: str = ""
    event: str = ""
    payload: str = ""
    payload_kind: Literal["command", "json", "text", "none"] = "none"
    segments: tuple[Segment, ...] = ()
    diff: str = ""
    problem: str = ""
    risk: Risk = "medium"
    reasons: tuple[str, ...] = ()
    cwd: str = ""
    paths: tuple[str, ...] = ()
    outside: bool = False
    why: str = ""
    options: tuple[str, ...] = ()
    timeout: float | None = None
    default: Literal["allow", "deny"] = "deny"
    unconfined: bool = False
    scopes: tuple[Scope, ...] = ("once",)
    rule: str = ""
    meaning: str = ""
    near: str = ""
    network: bool = False
    kept_in: str = ""
    editable: bool = False
    began: float = 0.0

    @property
    def wanted(self) -> str:
        """What is asked about, on one line: the sentence, and the payload where it says more."""
        return wanted_of(self.tool, self.action, self.payload, self.payload_kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved(HostEvent):
    """A call was decided about: by the user, a standing rule, a mode, the clock or a stop; or
    nobody was there to be asked.

    What a rule or a mode decides comes without an `ApprovalRequested`, unless it waited for the
    user. After the outcome `changed` the call is judged anew, with the arguments the user gave it.
    `rule` is what decided, or what is kept of the user's answer; `mode` is there where it decided.
    `wanted` is what was refused, on one line, where nobody was asked.
    """

    request_id: str
    outcome: ApprovalOutcome
    by: AnsweredBy = "user"
    scope: Scope = "once"
    reason: str = ""
    call_id: str = ""
    tool: str = ""
    rule: str = ""
    mode: Mode | None = None
    wanted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsAsked(HostEvent):
    """An agent asks the user and waits.

    Attributes:
        request_id: Handle for `SessionClient.answer_questions`.
        call_id: The tool call that asks, when known.
        questions: One to four of them, answered together.
    """

    request_id: str
    questions: tuple[Question, ...]
    call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsResolved(HostEvent):
    """The questions wait no more; `reason` says why where they were not answered."""

    request_id: str
    outcome: QuestionsOutcome
    reason: str = ""
    call_id: str = ""
