"""Tool calls as conversation entries: from the first streamed argument to the result."""

import json
from dataclasses import field
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.sub_sessions import for_people, without_ending
from amplifier_tui.host import events
from amplifier_tui.ui.state.conversation.entries import EntryList, ToolEntry, ToolState
from amplifier_tui.ui.state.section import Handlers, assign, on, told

OUTPUT_LIMIT = 64 * 1024
"""Characters of live output that are kept, from the end."""

SMALL_DIFF = 16
"""Lines of a diff, headers included, that is shown without being asked for."""

_OPEN: frozenset[ToolState] = frozenset({"running", "waiting"})

CallKey = tuple[str, str]
"""Lane and call id: some servers number the calls of every answer from zero."""


@dataclass(slots=True)
class _Call:
    entry: ToolEntry
    requests: set[str] = field(default_factory=set)
    """Approval requests that hold the call."""
    began: float = 0.0
    """When the orchestrator reported its start; its line counts from the user's grant."""
    ended: bool = False


class ToolLines(Handlers):
    """Keeps one `ToolEntry` per call.

    A call shows up as soon as the model begins to write it (a `tool_use` block). The block does
    not know the call's id, so the line is adopted by the first call of the same lane and tool
    that starts, asks or ends.
    """

    def __init__(self, entries: EntryList) -> None:
        self._entries = entries
        self._calls: dict[CallKey, _Call] = {}
        self._open_calls: dict[CallKey, _Call] = {}
        self._requests: dict[str, CallKey] = {}
        self._preparing: list[tuple[str, ToolEntry]] = []
        self._decided: dict[CallKey, dict[str, Any]] = {}
        """What was decided about calls that have not begun, as values of their entries."""

    def prepare(self, agent: str, block_id: str, tool: str, at: float) -> ToolEntry:
        """Add a line for a call that the model begins to write."""
        entry = ToolEntry(
            key=f"tool:{block_id}", agent=agent, tool=tool, preparing=True, started=at
        )
        self._entries.add(entry)
        self._preparing.append((block_id, entry))
        return entry

    def write_arguments(self, entry: ToolEntry, text: str) -> None:
        """Append streamed JSON to a line that is being prepared."""
        if entry.preparing and text:
            entry.argument_text += text
            self._entries.update(entry)

    def finish_arguments(self, entry: ToolEntry, text: str, at: float) -> None:
        """Take the complete arguments of a line that is being prepared."""
        if not entry.preparing:
            return
        text = text or entry.argument_text
        arguments = parse_arguments(text) or entry.arguments
        self._tell(entry, argument_text=text, arguments=arguments, written=at)

    def discard(self, entry: ToolEntry) -> None:
        """Take a line out whose block was void; a call that started keeps its line."""
        if entry.preparing:
            self._preparing = [item for item in self._preparing if item[1] is not entry]
            self._entries.remove(entry)

    @on(events.ToolStarted)
    def _started(self, event: events.ToolStarted) -> None:
        key = (event.agent, event.call_id)
        call = self._calls.get(key)
        if call is not None and call.ended and call.began not in (0.0, event.at):
            call = None  # The id is used again for another call.
        if call is None:
            call = self._open(key, event.tool, event.arguments)
        call.began = event.at
        self._tell(call.entry, **self._decided.pop(key, {}))
        self._tell(
            call.entry,
            tool=event.tool or call.entry.tool,
            arguments=event.arguments or call.entry.arguments,
            changed_by=event.changed_by or call.entry.changed_by,
            started=event.at,
        )

    @on(events.HandlerHolds, live=True)
    def _held(self, event: events.HandlerHolds) -> None:
        # The call begins when its hooks have answered.
        key = (event.agent, event.call_id)
        call = self._calls.get(key)
        if event.tool and event.call_id and call is None and not event.over:
            call = self._open(key, event.tool, {}, started=event.at)
        if call is not None and not call.ended:
            self._tell(call.entry, held_by="" if event.over else event.module or event.handler)

    @on(events.ToolProgress)
    def _progressed(self, event: events.ToolProgress) -> None:
        call = self._calls.get((event.agent, event.call_id))
        if call is None or call.ended or not event.text:
            return
        entry = call.entry
        entry.output_size += len(event.text)
        entry.output = (entry.output + event.text)[-OUTPUT_LIMIT:]
        self._entries.update(entry)

    @on(events.ToolEnded)
    def _ended(self, event: events.ToolEnded) -> None:
        key = (event.agent, event.call_id)
        call = self._calls.get(key) or self._open(key, event.tool, {}, started=0.0)
        self._close(key, call)
        output = without_ending(for_people(event.output))
        self._tell(
            call.entry,
            tool=event.tool or call.entry.tool,
            state=_end_state(event),
            output=output,
            output_size=(event.output_size if output == event.output else 0) or len(output),
            expanded=bool(event.diff) and event.diff.count("\n") <= SMALL_DIFF,
            **told(event, "error", "denied_by", "withheld_by", "result_changed_by"),
            **told(event, "diff", "summary", "duration_ms"),
        )

    @on(events.ImagesAdded)
    def _images_added(self, event: events.ImagesAdded) -> None:
        call = self._calls.get((event.agent, event.call_id))
        if call is not None:
            self._tell(call.entry, images=event.images)

    @on(events.ApprovalRequested, live=True)
    def _asked(self, event: events.ApprovalRequested) -> None:
        # A call may ask before the orchestrator reports its start.
        if not event.call_id or event.request_id in self._requests:
            return
        key = (event.agent, event.call_id)
        call = self._calls.get(key)
        if call is None:
            if not event.tool:
                return
            call = self._open(key, event.tool, {}, started=event.at)
        if call.ended:
            return
        self._requests[event.request_id] = key
        call.requests.add(event.request_id)
        self._tell(call.entry, state="waiting")

    @on(events.QuestionsAsked, live=True)
    def _questions(self, event: events.QuestionsAsked) -> None:
        call = self._calls.get((event.agent, event.call_id))
        if call is not None and not call.ended:
            self._tell(call.entry, state="waiting")

    @on(events.QuestionsResolved, live=True)
    def _questions_resolved(self, event: events.QuestionsResolved) -> None:
        call = self._calls.get((event.agent, event.call_id))
        if call is not None and not call.ended:
            self._tell(call.entry, state="running", started=event.at)

    @on(events.ApprovalResolved)
    def _answered(self, event: events.ApprovalResolved) -> None:
        # A grant lets the call run unless another request holds it; so does a change, which is
        # judged anew and asked about again if need be.
        key = self._requests.pop(event.request_id, None)
        if event.call_id:
            self._mark((event.agent, event.call_id), event)
        call = self._calls.get(key) if key is not None else None
        if call is None:
            return
        call.requests.discard(event.request_id)
        if call.ended:
            return
        if event.outcome in ("allowed", "changed"):
            if not call.requests:
                self._tell(call.entry, state="running", started=event.at)
            return
        state = "interrupted" if event.outcome == "cancelled" else "denied"
        self._tell(call.entry, state=state, error=event.reason or call.entry.error)

    def _mark(self, key: CallKey, event: events.ApprovalResolved) -> None:
        """Say with a call, which may not have begun, that no person decided about it."""
        values: dict[str, Any] = {}
        if event.outcome == "allowed" and event.by in ("rule", "mode"):
            name = event.rule if event.by == "rule" else str(event.mode or "")
            values["allowed_by"] = f"{event.by} {name}".rstrip()
        elif event.outcome == "allowed" and event.by == "timeout":
            values["allowed_by"] = "nobody answered in time: allowed"
        elif event.outcome == "timed_out":
            values["timed_out"] = True
        call = self._calls.get(key)
        if call is not None and not call.ended:
            self._tell(call.entry, **values)
        elif values:
            self._decided[key] = values

    def settle(self, agent: str | None = None) -> None:
        """Mark every call of a lane (None: of all) that will not end any more as interrupted."""
        for _, entry in self._preparing:
            if agent is None or entry.agent == agent:
                self._tell(entry, state="interrupted", preparing=False, written=0.0)
        self._preparing = [item for item in self._preparing if item[1].preparing]
        for key, call in list(self._open_calls.items()):
            if agent in (None, key[0]):
                self._close(key, call)
                if call.entry.state in _OPEN:
                    self._tell(call.entry, state="interrupted")

    def _open(
        self, key: CallKey, tool: str, arguments: dict[str, Any], started: float = 0.0
    ) -> _Call:
        agent, call_id = key
        written = [
            item for item in self._preparing if item[1].agent == agent and item[1].tool == tool
        ]
        if written:
            chosen = min(
                written,
                key=lambda item: (
                    not (call_id and call_id in item[0]),
                    not (arguments and item[1].arguments == arguments),
                ),
            )
            self._preparing.remove(chosen)
            entry = chosen[1]
            self._tell(entry, preparing=False, call_id=call_id, argument_text="", written=0.0)
        else:
            entry = ToolEntry(
                key=f"tool:{call_id}", agent=agent, tool=tool, call_id=call_id, started=started
            )
            self._entries.add(entry)
        call = self._calls[key] = self._open_calls[key] = _Call(entry)
        return call

    def _close(self, key: CallKey, call: _Call) -> None:
        call.ended = True
        self._open_calls.pop(key, None)

    def _tell(self, entry: ToolEntry, **values: object) -> None:
        if assign(entry, **values):
            self._entries.update(entry)


def parse_arguments(text: str) -> dict[str, Any]:
    """Return the arguments in a `tool_use` block's text, empty when they are not an object.

    Both the bare arguments and a whole call (`{"name": …, "input": {…}}`) are understood.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    if "name" in value:
        for name in ("input", "arguments"):
            inner = value.get(name)
            if isinstance(inner, dict):
                return inner
    return value


def _end_state(event: events.ToolEnded) -> ToolState:
    if event.denied:
        return "denied"
    if event.interrupted:
        return "interrupted"
    return "ok" if event.ok else "failed"
