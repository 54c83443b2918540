"""What the panes show: hook log, budget, usage, plan, lanes."""

from dataclasses import field
from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events.base import HostEvent
from amplifier_tui.host.events.records import (
    MAIN_LANE,
    HandlerTrace,
    PlanStep,
    SourceUsage,
    TodoItem,
    TurnStatus,
    Usage,
)


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
class HandlerHolds(HostEvent):
    """A hook handler takes long, and what is emitted to it waits.

    Attributes:
        event: Event name.
        handler: The handler's name.
        module: Key of the module it is of; empty where it is of none.
        tool: The tool whose call waits; empty where none does. `call_id` is that call's.
        over: It has ended.
    """

    event: str
    handler: str
    module: str = ""
    tool: str = ""
    call_id: str = ""
    over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetChanged(HostEvent):
    """The context budget by source.

    Attributes:
        total: Tokens in the next request.
        window: The model's context window; 0 when unknown.
        assumed: Nobody says how much fits: what compaction goes by is a guess.
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
    assumed: bool = False
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
    """The view of the conversation was compacted; the stored history is unchanged.

    Attributes:
        left_out: How many of the rows are left out whole; the others are shortened.
        summary: What stands in the place of the rows; empty where a rule shortened them.
        replaced: A line for each row: what was done to it, who said it, how it begins.
    """

    before_tokens: int
    after_tokens: int
    rows: int = 0
    left_out: int = 0
    strategy: str = ""
    summary: str = ""
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChosen(HostEvent):
    """The user decided about one item of the context, from the next request on.

    Attributes:
        item: What it is, in words.
        choice: `pin`, `drop` or `shorten`; empty where that was taken back.
    """

    item: str
    choice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoChanged(HostEvent):
    """The agent's plan, whole."""

    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneOpened(HostEvent):
    """A sub-agent started; its events carry its session id as `agent`.

    `call_id` is the tool call of the parent that asked for it; empty when it is not known. Of a
    stored one, `earlier` rows of the task are not replayed.
    """

    lane: str
    name: str
    parent: str = MAIN_LANE
    instruction: str = ""
    call_id: str = ""
    earlier: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneClosed(HostEvent):
    """A sub-agent ended."""

    lane: str
    status: TurnStatus = "success"
    result: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneUsed(HostEvent):
    """What a sub-agent that works has used so far."""

    lane: str
    usage: Usage
