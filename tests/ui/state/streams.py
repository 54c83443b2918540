"""Random streams of host events, hostile in order, number and content."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from amplifier_tui.base.capabilities.questions import Question
from amplifier_tui.host import events as host

_IDS = st.sampled_from(["a", "b", "c", ""])
_NAMES = st.sampled_from(["bash", "read", "", "\x1b[31mred", "[red]x[/]"])
_TEXT = st.one_of(
    st.sampled_from(
        ["", " ", "hello", '{"path": "x"}', "\x1b]8;;x\x07link", "漢字 👍🏽\r\n", "\u202e"]
    ),
    st.text(max_size=8),
)
_NUMBER = st.sampled_from([-5, 0, 1, 999, 10**12])
_AMOUNT = st.sampled_from([-1.0, 0.0, 0.5, 1e18])
_TURN_STATUS = st.sampled_from(["success", "incomplete", "cancelled", "error"])
_VERDICT = st.sampled_from(["continue", "deny", "modify", "inject_context", "ask_user", "error"])
_EVENT_NAME = st.sampled_from(
    ["tool:pre", "llm:stream_block_delta", "content_block:delta", "llm:response", "x:error"]
)
_KINDS = st.sampled_from(["text", "thinking", "tool_use"])
_MODULE_KINDS = st.sampled_from(["provider", "tool", "hook", "unknown"])
_MODULES = st.sampled_from(["tool-bash", "provider-x", "hooks-a"])
_REPORTS = [
    (),
    tuple(
        host.ReportItem(what="tool-bash", kind=kind, part="tool", why="x", where="f:1")
        for kind in ("failed", "replaced")
    ),
    (
        host.ReportItem(what="\x1b[31mred", kind="unused", part="provider", why="no key"),
        host.ReportItem(what="https://h/x.git@main", kind="skipped", part="include", why=""),
    ),
]
_COMMANDS = st.builds(host.CommandCard, group=_NAMES, name=_NAMES, description=_TEXT)
_NAMED = st.lists(_NAMES, max_size=2).map(tuple)

_USAGE = st.builds(
    host.Usage, input_tokens=_NUMBER, cost=st.sampled_from([None, "0.42", "x", "NaN", "1e99"])
)
_HANDLERS = st.lists(
    st.builds(host.HandlerTrace, name=_NAMES, verdict=_VERDICT, ms=_AMOUNT, reason=_TEXT),
    max_size=2,
).map(tuple)
_SOURCES = st.lists(
    st.builds(
        host.SourceUsage,
        source=st.sampled_from(["user", "assistant", "tools:a", "tool:read", "bundle:x", "漢"]),
        tokens=_NUMBER,
    ),
    max_size=8,
).map(tuple)
_PLAN = st.lists(
    st.builds(
        host.PlanStep,
        action=st.just("drop"),
        source=_NAMES,
        rows=_NUMBER,
        before=_NUMBER,
        after=_NUMBER,
    ),
    max_size=2,
).map(tuple)

_FIELDS: dict[type[host.HostEvent], dict[str, SearchStrategy[Any]]] = {
    host.SessionOpened: {
        "bundle": _NAMES,
        "cwd": _TEXT,
        "directory": _TEXT,
        "resumed": st.booleans(),
        "model": _NAMES,
        "branch": _TEXT,
    },
    host.SessionClosed: {},
    host.SessionHeld: {
        "owner": _NAMES,
        "since": _AMOUNT,
        "free": st.booleans(),
        "prompt": _TEXT,
    },
    host.Rewound: {
        "turn": st.sampled_from([1, 2]),
        "scope": st.sampled_from(["conversation", "files", "both"]),
        "undone": st.booleans(),
        "prompt": _TEXT,
        "restored": _NAMED,
    },
    host.BranchChanged: {"branch": _TEXT},
    host.SavingChanged: {"problem": _TEXT},
    host.TitleChanged: {"title": _TEXT, "description": _TEXT, "tags": _NAMED},
    host.Failed: {"kind": _NAMES, "message": _TEXT, "retryable": st.booleans(), "missing": _NAMED},
    host.Notice: {
        "level": st.sampled_from(["info", "warning", "error"]),
        "text": _TEXT,
        "until": st.sampled_from(["", "opened", "answer", "compacted"]),
    },
    host.ModeChanged: {"mode": st.sampled_from(["plan", "ask", "edits", "auto"])},
    host.CommandsChanged: {"commands": st.lists(_COMMANDS, max_size=3).map(tuple)},
    host.ModelChanged: {"provider": _NAMES, "model": _NAMES, "effort": _NAMES, "efforts": _NAMED},
    host.ModuleLoading: {"module_id": _MODULES, "kind": _MODULE_KINDS},
    host.ModuleMounted: {
        "module_id": _MODULES,
        "kind": _MODULE_KINDS,
        "provides": _NAMED,
        "detail": _TEXT,
        "ms": _AMOUNT,
    },
    host.ModuleFailed: {
        "module_id": _MODULES,
        "kind": _MODULE_KINDS,
        "error": _TEXT,
        "missing": _NAMED,
    },
    host.ProviderRetrying: {
        "provider": _NAMES,
        "attempt": _NUMBER,
        "most": _NUMBER,
        "delay": _AMOUNT,
        "problem": _TEXT,
    },
    host.OpeningReported: {"ready": st.integers(0, 2), "items": st.sampled_from(_REPORTS)},
    host.ModuleDegraded: {
        "module_id": _MODULES,
        "kind": _MODULE_KINDS,
        "failed": st.sampled_from([(), ("a: it ended",)]),
        "of": st.integers(1, 3),
    },
    host.ModuleLeftOut: {
        "module_id": _MODULES,
        "kind": _MODULE_KINDS,
        "sources": st.sampled_from([(), ("weather",)]),
    },
    host.ModuleChangeWaits: {
        "module_id": _MODULES,
        "kind": _MODULE_KINDS,
        "change": st.sampled_from(["", "switched off"]),
        "at_rest": st.booleans(),
    },
    host.ModuleChanging: {
        "module_id": _MODULES,
        "kind": _MODULE_KINDS,
        "change": st.sampled_from(["", "mounted", "reloaded"]),
    },
    host.EngineBlocked: {"module": _MODULES, "over": st.booleans()},
    host.ModuleUnmounted: {"module_id": _MODULES, "kind": _MODULE_KINDS},
    host.TurnStarted: {"turn": st.sampled_from([1, 2]), "prompt": _TEXT},
    host.TurnEnded: {"turn": st.sampled_from([1, 2]), "status": _TURN_STATUS},
    host.BlockStarted: {"block_id": _IDS, "kind": _KINDS, "name": _NAMES},
    host.BlockDelta: {"block_id": _IDS, "text": _TEXT},
    host.BlockEnded: {
        "block_id": _IDS,
        "kind": _KINDS,
        "text": _TEXT,
        "interrupted": st.booleans(),
        "discarded": st.booleans(),
    },
    host.ToolStarted: {"call_id": _IDS, "tool": _NAMES, "module_id": _MODULES},
    host.ToolProgress: {"call_id": _IDS, "text": _TEXT},
    host.ToolEnded: {
        "call_id": _IDS,
        "tool": _NAMES,
        "ok": st.booleans(),
        "denied": st.booleans(),
        "output": _TEXT,
        "duration_ms": _AMOUNT,
    },
    host.ApprovalRequested: {
        "request_id": _IDS,
        "asker": _NAMES,
        "action": _TEXT,
        "call_id": _IDS,
        "tool": _NAMES,
    },
    host.QuestionsAsked: {
        "request_id": _IDS,
        "questions": st.lists(
            st.builds(Question, question=_TEXT, header=_NAMES), min_size=1, max_size=2
        ).map(tuple),
        "call_id": _IDS,
    },
    host.QuestionsResolved: {
        "request_id": _IDS,
        "outcome": st.sampled_from(["answered", "declined", "withdrawn"]),
        "call_id": _IDS,
    },
    host.ApprovalResolved: {
        "request_id": _IDS,
        "outcome": st.sampled_from(["allowed", "denied", "timed_out", "cancelled"]),
    },
    host.TrustAsked: {"request_id": _IDS, "title": _TEXT},
    host.TrustAnswered: {"request_id": _IDS},
    host.LimitAsked: {"request_id": _IDS, "used_tokens": _NUMBER},
    host.LimitResolved: {"request_id": _IDS},
    host.LimitChanged: {"cost": st.sampled_from(["", "5"]), "tokens": _NUMBER},
    host.LocalServersFound: {
        "servers": st.lists(
            st.builds(host.LocalServer, name=_NAMES, url=_TEXT, models=_NAMED), max_size=2
        ).map(tuple)
    },
    host.PlanProposed: {"turn": st.sampled_from([1, 2])},
    host.CancelRequested: {"immediate": st.booleans()},
    host.QueueChanged: {
        "items": st.lists(_TEXT, max_size=2).map(tuple),
        "steering": st.lists(_TEXT, max_size=2).map(tuple),
    },
    host.SteerApplied: {"text": _TEXT},
    host.ImagesAdded: {
        "call_id": _IDS,
        "images": st.tuples(st.builds(host.ImageCard, key=_IDS, media_type=_TEXT, name=_TEXT)),
    },
    host.ShellStarted: {"command_id": _IDS, "command": _TEXT, "told": st.booleans()},
    host.ShellProgress: {"command_id": _IDS, "text": _TEXT},
    host.ShellEnded: {
        "command_id": _IDS,
        "command": _TEXT,
        "output": _TEXT,
        "exit_code": st.integers(-9, 2),
        "stopped": st.booleans(),
    },
    host.JobChanged: {
        "job_id": _IDS,
        "command": _TEXT,
        "running": st.booleans(),
        "state": _TEXT,
        "tail": _TEXT,
        "no_network": st.booleans(),
    },
    host.ShellWaiting: {"command_ids": st.lists(_IDS, max_size=2).map(tuple)},
    host.TerminalWanted: {"command": _TEXT},
    host.HandlerHolds: {
        "event": _EVENT_NAME,
        "handler": _NAMES,
        "module": _NAMES,
        "tool": _NAMES,
        "call_id": _IDS,
        "over": st.booleans(),
    },
    host.HookTraced: {
        "seq": st.integers(0, 50),
        "event": _EVENT_NAME,
        "source": _NAMES,
        "verdict": _VERDICT,
        "handlers": _HANDLERS,
        "count": st.sampled_from([1, 3]),
        "data": _TEXT,
        "duration_ms": _AMOUNT,
    },
    host.BudgetChanged: {
        "total": _NUMBER,
        "window": _NUMBER,
        "trigger": _NUMBER,
        "reserve": _NUMBER,
        "sources": _SOURCES,
        "preview": _PLAN,
        "turns_left": st.sampled_from([None, 0, 1, 9]),
        "warning": _TEXT,
    },
    host.UsageChanged: {"session": _USAGE, "provider": _NAMES, "model": _NAMES},
    host.Compacted: {"before_tokens": _NUMBER, "after_tokens": _NUMBER, "rows": _NUMBER},
    host.TodoChanged: {
        "items": st.lists(
            st.builds(host.TodoItem, content=_TEXT, status=st.just("pending")), max_size=2
        ).map(tuple)
    },
    host.LaneOpened: {"lane": st.sampled_from(["lane1", "main"]), "name": _NAMES},
    host.ItemChosen: {"choice": st.sampled_from(["pin", "drop", "shorten", ""])},
    host.LaneUsed: {"lane": st.sampled_from(["lane1", "main"])},
    host.LaneClosed: {"lane": st.sampled_from(["lane1", "main"]), "status": _TURN_STATUS},
}


def _events(kind: type[host.HostEvent]) -> SearchStrategy[host.HostEvent]:
    return st.builds(
        kind,
        session_id=st.sampled_from(["s1", "s1", "s1", "s2", "lane1", ""]),
        agent=st.sampled_from(["main", "main", "lane1"]),
        at=st.sampled_from([0.0, 1.0, 2.0, -1.0, 1e20]),
        replayed=st.sampled_from([False, False, True]),
        **_FIELDS[kind],
    )


ANY_EVENT: SearchStrategy[host.HostEvent] = st.one_of([_events(kind) for kind in _FIELDS])
"""Any event; a test asserts that no kind of event is missing here."""

COVERED = frozenset(_FIELDS)

STREAM: SearchStrategy[list[host.HostEvent]] = st.lists(ANY_EVENT, max_size=40)
