"""What of a conversation has to be the same, with names in the place of ids."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from acp import schema

from amplifier_tui.base.text import clean
from amplifier_tui.host.events import (
    MAIN_LANE,
    BlockDelta,
    BudgetChanged,
    CancelRequested,
    CommandsChanged,
    HookTraced,
    HostEvent,
    JobChanged,
    LaneOpened,
    LimitChanged,
    ModeChanged,
    ModelChanged,
    ModuleLoading,
    ModuleMounted,
    Notice,
    SessionClosed,
    ToolProgress,
    ToolStarted,
    UsageChanged,
)
from amplifier_tui.ui.state.conversation.entries import TextEntry, ToolEntry
from amplifier_tui.ui.state.session import SessionState
from tests.fronts.stage import Held, session_of

_TIMES = frozenset(
    (
        "at",
        "began",
        "ms",
        "duration_ms",
        "timestamp",
        "seq",
        "timeout",
        "started",
        "seconds",
        "took",
    )
)
_LEFT_OUT = (ModuleLoading, ModuleMounted, SessionClosed, JobChanged)
_BESIDE = (
    *(HookTraced, BudgetChanged, UsageChanged, ModeChanged, ModelChanged, LimitChanged),
    *(CommandsChanged, Notice),
)
"""What has no place in the conversation: it is said when it is known."""
_NOT_BEGUN = "calls that did not begin"
_SECTIONS = (
    *("facts", "conversation", "modules", "budget", "usage", "approvals", "questions", "trust"),
    *("queue", "todo", "commands", "jobs", "activity"),
)
_MOMENTS = _TIMES | {"version", "turn_began_with", "since", "began", "ended"}
"""What depends on the clock; the budget of before a turn is known where there was time for it."""
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27,}|call_[0-9a-f]{16}|\b(?=[a-f]*\d)[0-9a-f]{12,16}\b")
_PORT = re.compile(r"127\.0\.0\.1:\d+")
_LASTED = re.compile(r" after \d+(\.\d+)? (s|ms)\b")
"""What is said of how long something took, where it took long enough."""
_SECONDS = re.compile(r"\d+(\.\d+)? (s|ms)\b")


class Names:
    """Has words in the place of what is another one each time: ids, folders, times."""

    def __init__(self, held: Held) -> None:
        self._folder = str(held.folder)
        self._lanes = {session_of(held.events): "<session>"}
        for event in held.events:
            if isinstance(event, LaneOpened):
                self._lanes.setdefault(event.lane, f"<agent {len(self._lanes)}>")

    def of(self, value: Any) -> Any:
        """Return JSON-native data with such words, without moments and durations."""
        if isinstance(value, Mapping):
            return {self.of(key): self.of(each) for key, each in value.items() if key not in _TIMES}
        if isinstance(value, list | tuple):
            return [self.of(each) for each in value]
        if not isinstance(value, str):
            return value
        text = value.replace(self._folder, "<folder>")
        for lane, name in self._lanes.items():
            text = text.replace(lane, name)
        return _PORT.sub("<server>", _SECONDS.sub("N s", _LASTED.sub("", _ID.sub("<id>", text))))


def ledger(held: Held) -> list[Any]:
    """Return the rows on disk."""
    names = Names(held)
    return [names.of(row) for row in held.rows]


def told(held: Held, *, traces: bool = True) -> dict[str, list[Any]]:
    """Return the events in the order of what they are about.

    Of the conversation that is each lane, each call, and each kind of news beside it: calls go on
    side by side. The pieces of a stream are one. How often the budget is said depends on how long
    a turn takes, so the last word counts; how a stream was cut into deltas is not looked at.

    Args:
        traces: With what hooks were told, which depends on the very moment of a stop.
    """
    names, found = Names(held), dict[str, list[Any]]()
    calls: dict[str, str] = {}
    streams: dict[tuple[str, str], dict[str, Any]] = {}
    for event in held.events:
        if isinstance(event, _LEFT_OUT) or (isinstance(event, HookTraced) and not traces):
            continue
        row = names.of(event.to_json())
        lane = names.of(event.agent)
        if isinstance(event, ToolStarted):
            about = json.dumps([lane, event.tool, row["arguments"]])
            count = sum(each.startswith(about) for each in calls.values())
            calls[event.call_id] = f"{about} {count}"
        lines = found.setdefault(_place(event, lane, calls), [])
        match event:
            case BlockDelta() | ToolProgress():
                stream = (lane, getattr(event, "block_id", "") or getattr(event, "call_id", ""))
                if stream in streams:
                    streams[stream]["text"] += row["text"]
                    continue
                streams[stream] = row
            case HookTraced(event="llm:stream_block_delta"):
                continue
            case HookTraced():
                handlers = [[each.name, each.verdict] for each in event.handlers]
                row = {"event": event.event, "verdict": event.verdict, "handlers": handlers}
            case BudgetChanged():
                lines.clear()
            case CancelRequested(immediate=True) if lines and lines[-1]["type"] == row["type"]:
                # At the screen one stops at once with a second stop.
                lines.pop()
        lines.append(row)
    # Of calls side by side any may be answered first.
    found.get(_NOT_BEGUN, []).sort(key=lambda row: str(row["tool"]))
    return found


def _place(event: HostEvent, lane: str, calls: Mapping[str, str]) -> str:
    match event:
        case HookTraced():
            return f"traces of {event.source} in {lane}"
        case _ if isinstance(event, _BESIDE):
            return f"{type(event).__name__} in {lane}"
    call = getattr(event, "call_id", "")
    return calls.get(call, call and _NOT_BEGUN) or lane


def shown(state: SessionState, held: Held) -> Any:
    """Return everything public of what a screen shows."""
    found = {name: _plain(getattr(state, name)) for name in _SECTIONS}
    # Of calls side by side any may be answered first.
    found["approvals"]["recent"].sort(key=lambda answer: answer["tool"])
    return Names(held).of(found)


def read_on_screen(state: SessionState) -> list[Any]:
    """Return what the agent of a session said and called, as the screen has it."""
    main = [entry for entry in state.entries if entry.agent == MAIN_LANE]
    words = "".join(clean(entry.text) for entry in main if isinstance(entry, TextEntry))
    calls = [entry for entry in main if isinstance(entry, ToolEntry)]
    # Of calls side by side any may begin first, in another run another one.
    return [words, *sorted("completed" if each.state == "ok" else "failed" for each in calls)]


def read_in_editor(updates: Iterable[Any]) -> list[Any]:
    """Return what the agent of a session said and called, as an editor was sent it."""
    words, calls = "", dict[str, str]()
    for update in updates:
        match update:
            case schema.AgentMessageChunk():
                words += update.content.text
            case schema.ToolCallStart():
                calls[update.tool_call_id] = str(update.status)
            case schema.ToolCallProgress(status=str(status)):
                calls[update.tool_call_id] = status
    return [words, *sorted(calls.values())]


def _plain(value: Any) -> Any:
    """Return plain data of an object and everything in it, but for what only times and draws."""
    if isinstance(value, HostEvent):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Iterable):
        return [_plain(each) for each in value]
    if callable(value):
        return None
    known = {*getattr(value, "__dict__", ()), *_slots(type(value))}
    names = sorted(name for name in known - _MOMENTS if not name.startswith("_"))
    return {name: _plain(getattr(value, name)) for name in names if not name.endswith("_ms")}


def _slots(kind: type[Any]) -> list[str]:
    return [name for each in kind.__mro__ for name in getattr(each, "__slots__", ())]


def differences(one: Any, other: Any) -> str:
    """Return what differs, line by line; empty for nothing."""
    lines = [
        json.dumps(each, indent=1, sort_keys=True, ensure_ascii=False).splitlines()
        for each in (one, other)
    ]
    return "\n".join(difflib.unified_diff(*lines, lineterm="", n=6)) if one != other else ""
