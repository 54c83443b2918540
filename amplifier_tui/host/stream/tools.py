"""Tool calls: started, how far they are, what came of them and what they changed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from time import monotonic
from typing import Any, Final

from amplifier_tui.base.jsonl import Row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.sub_sessions import for_people, without_ending
from amplifier_tui.base.messages.tool_calls import RecordedCall, as_arguments, calls_of
from amplifier_tui.host.events import MAIN_LANE, ToolEnded, ToolProgress, ToolStarted
from amplifier_tui.host.gate.approvals.question import ApprovalAnswer, ApprovalQuestion
from amplifier_tui.host.messages import metadata_of, text_of
from amplifier_tui.host.stream.diffs import Snapshot, changes, snapshot
from amplifier_tui.host.stream.results import (
    OUTPUT_LIMIT,
    error_text,
    first_line,
    output_text,
    result_of,
    summary_words,
)
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.hooks.results import WITHHELD

MOST_FILES: Final = 20
"""Files of one call that are looked at before and after."""
_STOPPED: Final = frozenset({"interrupted", "stopped", "cancelled", "not_run"})

Key = tuple[str, str]
"""Lane and call id."""


@dataclass(slots=True)
class _Call:
    tool: str
    arguments: dict[str, Any]
    began: float
    has_id: bool = True
    """Whether its own event gave its id."""
    before: dict[Path, tuple[str, Snapshot]] = field(default_factory=dict)
    denied: str = ""
    denied_by: str = ""
    stopped: str = ""
    """Why nobody is asked about it any more, so that it did not run."""


class Tools:
    """Follows the tool calls of every lane.

    Not every orchestrator says which call an event is about. Such a call is known by its tool and
    arguments, and has the id under which the model asked for it.

    Args:
        module_of: Returns the module that provides a tool; empty when unknown.
    """

    def __init__(
        self,
        sender: Sender,
        workspace: Path,
        module_of: Callable[[str], str] = lambda _: "",
    ) -> None:
        self._sender = sender
        self._redactor = sender.redactor
        self._workspace = workspace
        self._module_of = module_of
        self._open: dict[Key, _Call] = {}
        self._ended: set[Key] = set()
        self._held: dict[Key, str] = {}
        """What is not sent yet of the progress of a call."""
        self._asked: dict[str, RecordedCall] = {}
        self._last: dict[tuple[str, str], Key] = {}
        """By lane and tool, the last call that began without an id."""

    def pre(self, lane: str, data: Mapping[str, Any], changed_by: str = "") -> None:
        """`tool:pre`, and the module whose hook changed the call."""
        key = self._key_of_pre(lane, data)
        call = self._open.get(key)
        if call is None or call.arguments != as_arguments(data.get("tool_input")):
            # The user may have changed what it is to do.
            self._begin(key, data, changed_by)

    def id_of(self, lane: str, data: Mapping[str, Any]) -> str:
        """Return the id of the call that a `tool:pre` is about, which may not have begun."""
        return self._key_of_pre(lane, data)[1]

    def post(self, lane: str, data: Mapping[str, Any], changed_by: str = "") -> None:
        """`tool:post`; `data` as the handlers left it, and the module whose hook changed it."""
        result = result_of(data)
        ok = not (isinstance(result, Mapping) and result.get("success") is False)
        text = output_text(result)
        error, stopped = "", False
        if isinstance(result, Mapping) and not ok:
            given = result.get("error")
            error = first_line(error_text(given) or text) or "failed"
            stopped = _kind(given) in _STOPPED
        self._end(
            *(self._key(lane, data), data),
            ok=ok,
            text=text,
            error=error,
            interrupted=stopped,
            result=result,
            result_changed_by=changed_by,
        )

    def withheld(self, lane: str, data: Mapping[str, Any], reason: str, by: str) -> None:
        """`tool:post` of a call whose result a hook kept from the model; `by` is its module."""
        self._end(
            *(self._key(lane, data), data),
            ok=False,
            text=WITHHELD.format(reason),
            error=first_line(reason),
            withheld_by=by,
        )

    def error(self, lane: str, data: Mapping[str, Any]) -> None:
        """`tool:error`: it failed, was refused, or was stopped."""
        given = data.get("error")
        text = error_text(given)
        kind = _kind(given)
        self._end(
            self._key(lane, data),
            data,
            ok=False,
            text=text,
            error=first_line(text) or "failed",
            denied=data.get("denied") is True or kind == "denied",
            interrupted=kind in _STOPPED,
        )

    def progress(self, lane: str, data: Mapping[str, Any]) -> None:
        """`tool:progress`."""
        found = (data.get(key) for key in ("text", "output", "chunk", "message"))
        text = next((each for each in found if isinstance(each, str)), "")
        if text:
            stamp, key = self._sender.stamp(lane), self._key(lane, data)
            # The beginning of a secret waits for the rest of it.
            text = self._held.pop(key, "") + text
            held = self._redactor.unfinished(text)
            if held:
                self._held[key] = text[-held:]
                text = text[:-held]
            if text:
                text = self._redactor.text(text)
                self._sender.send(ToolProgress(**stamp, call_id=key[1], text=text))

    def refused(self, lane: str, data: Mapping[str, Any], reason: str, by: str = "") -> None:
        """A call was refused, `data` as in `tool:pre`; its end comes with its error or its row.

        Args:
            by: The module whose hook did it.
        """
        call = self._begun(lane, data)
        if call is not None:
            call.denied, call.denied_by = reason or "refused", by

    def granted(self, lane: str, data: Mapping[str, Any]) -> None:
        """A call may run now: its time begins, and the file may have changed meanwhile."""
        call = self._begun(lane, data)
        if call is None:
            return
        call.began = monotonic()
        if call.before:
            call.before = self._look(call.tool, call.arguments)

    def judged(self, question: ApprovalQuestion, answer: ApprovalAnswer) -> None:
        """A question about a call was answered, or timed out: it runs now, or never."""
        if not question.tool:
            return
        data = {
            "tool_call_id": question.call_id,
            "tool_name": question.tool,
            "tool_input": question.arguments,
        }
        if answer.outcome == "allowed":
            self.granted(question.lane, data)
        elif answer.outcome == "denied" or (
            answer.outcome == "timed_out" and not answer.by_default
        ):
            self.refused(question.lane, data, answer.reason)
        elif answer.outcome == "cancelled":
            call = self._begun(question.lane, data)
            if call is not None:
                call.stopped = answer.reason or "stopped"

    def asked_for(self, row: Row) -> None:
        """The model's answer is a row of the main lane: the calls in it are going to begin."""
        asked = {call.call_id: call for call in calls_of(row) if call.call_id}
        if asked:
            self._asked = asked
            self._ended -= {(MAIN_LANE, call_id) for call_id in asked}

    def row_added(self, row: Row) -> None:
        """The result of a call of the main lane is a row: whatever was emitted, it has ended."""
        call_id = str(row.get("tool_call_id") or "")
        key: Key | None = (MAIN_LANE, call_id)
        if key not in self._open and call_id in self._asked:
            asked = self._asked[call_id]
            data = {"tool_name": asked.name, "tool_input": asked.arguments}
            key = self._same(MAIN_LANE, data)
        call = self._open.get(key) if key is not None else None
        if key is None or call is None:
            return
        text = text_of(row.get("content"))
        metadata = metadata_of(row)
        # Not every loop says in the row that the call did not run.
        failed = metadata.get("is_error") is True or bool(call.denied or call.stopped)
        self._end(
            key,
            {"tool_name": call.tool},
            ok=not failed,
            text=text,
            error=first_line(call.denied or call.stopped or text) if failed else "",
            denied=bool(call.denied) or metadata.get("denied") is True,
            interrupted=metadata.get("interrupted") is True or bool(call.stopped),
        )

    def turn_over(self, lane: str) -> None:
        """End the calls of a lane that nobody ended."""
        for key, call in list(self._open.items()):
            if key[0] == lane:
                self._end(
                    key,
                    {"tool_name": call.tool},
                    ok=False,
                    error=first_line(call.denied) or "stopped",
                    denied=bool(call.denied),
                    interrupted=not call.denied,
                )
        self._ended = {key for key in self._ended if key[0] != lane}

    def _key(self, lane: str, data: Mapping[str, Any]) -> Key:
        """Return the call an event is about, one that has begun if there is one."""
        given = self._given(lane, data) or self._same(lane, data)
        if given is not None:
            return given
        # A hook may have changed its arguments.
        tool = str(data.get("tool_name") or "tool")
        known = self._last.get((lane, tool), (lane, tool))
        return next((key for key, _ in self._without_id(lane, tool)), known)

    def _key_of_pre(self, lane: str, data: Mapping[str, Any]) -> Key:
        return self._given(lane, data) or self._same(lane, data) or self._new_key(lane, data)

    def _begun(self, lane: str, data: Mapping[str, Any]) -> _Call | None:
        key = self._given(lane, data) or self._same(lane, data)
        return self._open.get(key) if key is not None else None

    @staticmethod
    def _given(lane: str, data: Mapping[str, Any]) -> Key | None:
        call_id = data.get("tool_call_id")
        return (lane, call_id) if isinstance(call_id, str) and call_id else None

    def _without_id(self, lane: str, tool: str) -> list[tuple[Key, _Call]]:
        return [
            (key, call)
            for key, call in self._open.items()
            if key[0] == lane and call.tool == tool and not call.has_id
        ]

    def _same(self, lane: str, data: Mapping[str, Any]) -> Key | None:
        """Return the open call of a tool and arguments that has no id of its own."""
        arguments = as_arguments(data.get("tool_input"))
        calls = self._without_id(lane, str(data.get("tool_name") or ""))
        return next((key for key, call in calls if call.arguments == arguments), None)

    def _new_key(self, lane: str, data: Mapping[str, Any]) -> Key:
        tool = str(data.get("tool_name") or "tool")
        arguments = as_arguments(data.get("tool_input"))
        waiting = [
            call
            for call in self._asked.values()
            if lane == MAIN_LANE and call.name == tool and not self._has_begun((lane, call.call_id))
        ]
        same = [call for call in waiting if call.arguments == arguments]
        number = len(self._without_id(lane, tool))
        unnamed = f"{tool}#{number}" if number else tool
        found = next((call.call_id for call in (*same, *waiting)), unnamed)
        self._last[lane, tool] = (lane, found)
        return lane, found

    def _has_begun(self, key: Key) -> bool:
        return key in self._open or key in self._ended

    def _begin(self, key: Key, data: Mapping[str, Any], changed_by: str = "") -> _Call:
        tool = str(data.get("tool_name") or "")
        arguments = as_arguments(data.get("tool_input"))
        call = _Call(tool, arguments, monotonic(), has_id=self._given(key[0], data) is not None)
        call.before = self._look(tool, arguments)
        asked = self._asked.get(key[1]) if key[0] == MAIN_LANE else None
        changed = key in self._open or (asked is not None and asked.arguments != arguments)
        self._open[key] = call
        self._ended.discard(key)
        event = ToolStarted(
            **self._sender.stamp(key[0]),
            call_id=key[1],
            tool=tool,
            arguments=self._redactor.fields(arguments),
            module_id=self._module_of(tool),
            changed_by=changed_by,
        )
        self._sender.send(event)
        if changed or changed_by:
            # The row has what the model asked for.
            self._sender.store.add_outcome(self._sender.store.rows, event)
        return call

    def _end(
        self,
        key: Key,
        data: Mapping[str, Any],
        *,
        ok: bool,
        text: str = "",
        error: str = "",
        denied: bool = False,
        interrupted: bool = False,
        result: Any = None,
        withheld_by: str = "",
        result_changed_by: str = "",
    ) -> None:
        if key not in self._open and key in self._ended:
            return  # A loop may report an error and a result for the same call.
        call = self._open.get(key) or self._begin(key, data)
        del self._open[key]
        self._ended.add(key)
        self._held.pop(key, None)
        denied = denied or (bool(call.denied) and not ok)
        diff, path = self._changes(call) if not denied else ("", "")
        text = self._redactor.text(text)
        self._sender.send(
            ToolEnded(
                **self._sender.stamp(key[0]),
                call_id=key[1],
                tool=call.tool,
                ok=ok,
                output=text[:OUTPUT_LIMIT],
                output_size=len(text),
                error=self._redactor.text(error),
                denied=denied,
                denied_by=call.denied_by if denied else "",
                withheld_by=withheld_by,
                result_changed_by=result_changed_by,
                interrupted=interrupted and not denied,
                # A call that was refused has not run: what passed is the time of the answer.
                duration_ms=0.0 if denied else (monotonic() - call.began) * 1000,
                diff=self._redactor.text(diff),
                path=path or next(iter(self._paths(call)), ""),
                summary=""
                if not ok
                else summary_words(result, without_ending(for_people(text)), diff),
            )
        )

    def _paths(self, call: _Call) -> Iterable[str]:
        from amplifier_tui.host.gate.approvals.subject import read_subject
        from amplifier_tui.host.gate.places import locate

        subject = read_subject(call.tool, call.arguments)
        return (locate(path, self._workspace).shown for path in subject.paths[:1])

    def _look(self, tool: str, arguments: dict[str, Any]) -> dict[Path, tuple[str, Snapshot]]:
        from amplifier_tui.host.gate.approvals.subject import changed_paths, read_subject
        from amplifier_tui.host.gate.places import locate

        subject = read_subject(tool, arguments)
        found = {}
        for written in changed_paths(subject)[:MOST_FILES]:
            place = locate(written, self._workspace)
            found[place.path] = (place.shown, snapshot(place.path))
        return found

    def _changes(self, call: _Call) -> tuple[str, str]:
        diffs: list[str] = []
        first = ""
        for path, (shown, before) in call.before.items():
            diff = changes(shown, before, snapshot(path))
            if diff:
                diffs.append(diff)
                first = first or shown
        return "".join(diffs), first


def _kind(error: Any) -> str:
    return str(error.get("type") or "") if isinstance(error, Mapping) else ""
