"""Tool calls: started, how far they are, what came of them and what they changed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Final

from amplifier_tui.base.jsonl import Row
from amplifier_tui.base.sub_sessions import for_people
from amplifier_tui.base.tool_calls import as_arguments
from amplifier_tui.host.events import MAIN_LANE, ToolEnded, ToolProgress, ToolStarted
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
    before: dict[Path, tuple[str, Snapshot]] = field(default_factory=dict)
    denied: str = ""


class Tools:
    """Follows the tool calls of every lane.

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

    def pre(self, lane: str, data: Mapping[str, Any]) -> None:
        """`tool:pre`."""
        key = self._key(lane, data)
        if key not in self._open:
            self._begin(key, data)

    def post(self, lane: str, data: Mapping[str, Any]) -> None:
        """`tool:post`; `data` as the handlers left it."""
        result = result_of(data)
        ok = not (isinstance(result, Mapping) and result.get("success") is False)
        text = output_text(result)
        error = ""
        if not ok:
            given = error_text(result.get("error")) if isinstance(result, Mapping) else ""
            error = first_line(given or text) or "failed"
        self._end(self._key(lane, data), data, ok=ok, text=text, error=error, result=result)

    def error(self, lane: str, data: Mapping[str, Any]) -> None:
        """`tool:error`: it failed, was refused, or was stopped."""
        given = data.get("error")
        text = error_text(given)
        kind = str(given.get("type") or "") if isinstance(given, Mapping) else ""
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
            stamp, (_, call_id) = self._sender.stamp(lane), self._key(lane, data)
            text = self._redactor.text(text)
            self._sender.send(ToolProgress(**stamp, call_id=call_id, text=text))

    def refused(self, lane: str, call_id: str, reason: str) -> None:
        """A call was refused; its end comes with its error or its row."""
        call = self._open.get((lane, call_id))
        if call is not None:
            call.denied = reason or "refused"

    def granted(self, lane: str, call_id: str) -> None:
        """A call may run now: its time begins, and the file may have changed meanwhile."""
        call = self._open.get((lane, call_id))
        if call is None:
            return
        call.began = monotonic()
        if call.before:
            call.before = self._look(call.tool, call.arguments)

    def row_added(self, row: Row) -> None:
        """The result of a call of the main lane is a row: whatever was emitted, it has ended."""
        call_id = str(row.get("tool_call_id") or "")
        key = (MAIN_LANE, call_id)
        call = self._open.get(key)
        if call is None:
            return
        text = text_of(row.get("content"))
        metadata = metadata_of(row)
        failed = metadata.get("is_error") is True or bool(call.denied)
        self._end(
            key,
            {"tool_name": call.tool},
            ok=not failed,
            text=text,
            error=first_line(call.denied or text) if failed else "",
            denied=bool(call.denied) or metadata.get("denied") is True,
            interrupted=metadata.get("interrupted") is True,
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
        call_id = data.get("tool_call_id")
        if isinstance(call_id, str) and call_id:
            return lane, call_id
        # A loop that gives no ids runs one call of a tool at a time.
        return lane, f"{data.get('tool_name') or 'tool'}"

    def _begin(self, key: Key, data: Mapping[str, Any]) -> _Call:
        tool = str(data.get("tool_name") or "")
        arguments = as_arguments(data.get("tool_input"))
        call = _Call(tool, arguments, monotonic())
        call.before = self._look(tool, arguments)
        self._open[key] = call
        self._ended.discard(key)
        self._sender.send(
            ToolStarted(
                **self._sender.stamp(key[0]),
                call_id=key[1],
                tool=tool,
                arguments=self._redactor.fields(arguments),
                module_id=self._module_of(tool),
            )
        )
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
    ) -> None:
        if key not in self._open and key in self._ended:
            return  # A loop may report an error and a result for the same call.
        call = self._open.get(key) or self._begin(key, data)
        del self._open[key]
        self._ended.add(key)
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
                interrupted=interrupted and not denied,
                duration_ms=(monotonic() - call.began) * 1000,
                diff=self._redactor.text(diff),
                path=path or next(iter(self._paths(call)), ""),
                summary="" if not ok else summary_words(result, for_people(text), diff),
            )
        )

    def _paths(self, call: _Call) -> Iterable[str]:
        from amplifier_tui.host.gate.describe import read_subject
        from amplifier_tui.host.gate.risk import locate

        subject = read_subject(call.tool, call.arguments)
        return (locate(path, self._workspace).shown for path in subject.paths[:1])

    def _look(self, tool: str, arguments: dict[str, Any]) -> dict[Path, tuple[str, Snapshot]]:
        from amplifier_tui.host.gate.describe import changed_paths, read_subject
        from amplifier_tui.host.gate.risk import locate

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
