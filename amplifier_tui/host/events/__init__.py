"""What the host tells a front end: frozen events, one class per thing that happened.

The engine thread creates them, the UI thread reads them; nothing mutable crosses. The same
stream feeds the screen, `run --jsonl`, the session store and the tests (`architecture.md`
sections 1 and 3). This package imports only the standard library: it is on the path to the
first frame.

Every text field may hold text from models, tools, bundles or users. It is data: whoever
draws it strips control sequences and never parses it as markup.
"""

from amplifier_tui.host.events.base import HostEvent
from amplifier_tui.host.events.instruments import (
    BudgetChanged,
    Compacted,
    HookTraced,
    LaneClosed,
    LaneOpened,
    TodoChanged,
    UsageChanged,
)
from amplifier_tui.host.events.records import (
    MAIN_LANE,
    ApprovalOutcome,
    BlockKind,
    HandlerTrace,
    Level,
    ModuleKind,
    PlanStep,
    Risk,
    Scope,
    Segment,
    SourceUsage,
    TodoItem,
    TurnStatus,
    Usage,
)
from amplifier_tui.host.events.session import (
    Failed,
    ModuleFailed,
    ModuleLoading,
    ModuleMounted,
    ModuleUnmounted,
    Notice,
    SessionClosed,
    SessionOpened,
)
from amplifier_tui.host.events.turn import (
    ApprovalRequested,
    ApprovalResolved,
    BlockDelta,
    BlockEnded,
    BlockStarted,
    CancelRequested,
    QueueChanged,
    SteerApplied,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)

__all__ = [
    "MAIN_LANE",
    "ApprovalOutcome",
    "ApprovalRequested",
    "ApprovalResolved",
    "BlockDelta",
    "BlockEnded",
    "BlockKind",
    "BlockStarted",
    "BudgetChanged",
    "CancelRequested",
    "Compacted",
    "Failed",
    "HandlerTrace",
    "HookTraced",
    "HostEvent",
    "LaneClosed",
    "LaneOpened",
    "Level",
    "ModuleFailed",
    "ModuleKind",
    "ModuleLoading",
    "ModuleMounted",
    "ModuleUnmounted",
    "Notice",
    "PlanStep",
    "QueueChanged",
    "Risk",
    "Scope",
    "Segment",
    "SessionClosed",
    "SessionOpened",
    "SourceUsage",
    "SteerApplied",
    "TodoChanged",
    "TodoItem",
    "ToolEnded",
    "ToolProgress",
    "ToolStarted",
    "TurnEnded",
    "TurnStarted",
    "TurnStatus",
    "Usage",
    "UsageChanged",
]
