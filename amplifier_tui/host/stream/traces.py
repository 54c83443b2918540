"""The event log: every emit on disk, and a row of it on the screen."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import MAIN_LANE, HandlerTrace, HookTraced
from amplifier_tui.host.store.event_log import EventLogFile
from amplifier_tui.host.stream.handler_failures import HandlerFailures
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.hooks import HookTrace

SHOWN: Final = 64 * 1024
"""Characters of a payload a row carries; all of it is on disk."""
RUN: Final = 0.1
"""Seconds of stream deltas that make one row."""
_RUNS: Final = frozenset({"llm:stream_block_delta", "content_block:delta", "thinking:delta"})
_STRENGTH: Final = ("deny", "ask_user", "inject_context", "modify", "error", "continue")
_ABOUT: Final = (
    "tool_name",
    "module_id",
    "provider",
    "orchestrator",
    "agent",
    "agent_name",
    "asker",
    "source",
)


@dataclass(slots=True)
class _Run:
    """Deltas that have not been written yet."""

    first: HookTrace
    data: dict[str, Any]
    timer: asyncio.TimerHandle
    count: int = 0
    ms: float = 0.0
    texts: list[str] = field(default_factory=list)


class Traces:
    """Writes the event log and sends its rows.

    Args:
        failures: Tells of the handlers that failed.
    """

    def __init__(self, sender: Sender, failures: HandlerFailures) -> None:
        self._sender = sender
        self._failures = failures
        self._log = sender.store.log
        self._redactor = sender.redactor
        self._runs: dict[str, _Run] = {}

    def take(self, trace: HookTrace, lane: str) -> None:
        """Take one emit of a lane."""
        if trace.event in _RUNS and all(h.verdict == "continue" for h in trace.handlers):
            self._lengthen(trace, lane)
            return
        self._flush(lane)
        self._write(trace, lane, trace.data, trace.ms, 1)

    def close(self) -> None:
        """Write what waits."""
        for lane in list(self._runs):
            self._flush(lane)

    def _lengthen(self, trace: HookTrace, lane: str) -> None:
        run = self._runs.get(lane)
        if run is not None and not _same(run, trace):
            self._flush(lane)
            run = None
        if run is None:
            timer = asyncio.get_running_loop().call_later(RUN, self._flush, lane)
            run = self._runs[lane] = _Run(trace, dict(trace.data), timer)
        run.count += 1
        run.ms += trace.ms
        run.texts.append(str(trace.data.get("text") or trace.data.get("delta") or ""))

    def _flush(self, lane: str) -> None:
        run = self._runs.pop(lane, None)
        if run is None:
            return
        run.timer.cancel()
        data = run.data
        if run.count > 1:
            data["text"] = "".join(run.texts)
        self._write(run.first, lane, data, run.ms, run.count)

    def _write(
        self, trace: HookTrace, lane: str, data: Mapping[str, Any], ms: float, count: int
    ) -> None:
        text = self._redactor.json(data)
        changed = self._changed(trace)
        handlers = tuple(
            HandlerTrace(
                name=h.name,
                verdict=h.verdict,
                ms=h.ms,
                error=None if h.error is None else self._redactor.text(h.error),
                reason=None if h.reason is None else self._redactor.text(h.reason),
                module="" if h.module == h.name else h.module,
            )
            for h in trace.handlers
        )
        verdict = _strongest(handlers, trace)
        facts: dict[str, Any] = {
            "event": trace.event,
            "session_id": data.get("session_id") or self._sender.session_id,
            "lane": lane,
            "verdict": verdict,
            "ms": round(ms, 3),
            "handlers": [
                {
                    "name": h.name,
                    "verdict": h.verdict,
                    "ms": round(h.ms, 3),
                    **({"error": h.error} if h.error else {}),
                    **({"reason": h.reason} if h.reason else {}),
                    **({"module": h.module} if h.module else {}),
                }
                for h in handlers
            ],
        }
        if count > 1:
            facts["count"] = count
        number = self._log.append(facts, text, changed)
        row = HookTraced(
            session_id=self._sender.session_id,
            agent=lane,
            at=trace.started,
            seq=number,
            event=trace.event,
            source=_about(data),
            verdict=verdict,
            duration_ms=ms,
            handlers=handlers,
            count=count,
            data=text[:SHOWN],
            size=len(text),
            changed=changed[:SHOWN],
            call_id=str(data.get("tool_call_id") or ""),
        )
        self._sender.send(row)
        self._failures.take(row)

    def _changed(self, trace: HookTrace) -> str:
        after = trace.result.data
        goes = trace.result.action in ("continue", "ask_user", "inject_context")
        if not goes or after is None or after is trace.data:
            return ""
        if not any(h.verdict == "modify" for h in trace.handlers) or after == trace.data:
            return ""
        return self._redactor.json(after)


REPLAYED: Final = 500
"""Rows of the log of a resumed session that are shown."""
_LARGEST: Final = 2**53
_REPLAYED_SIZE: Final = 4 * 1024


def stored_traces(log: EventLogFile, session_id: str) -> list[HookTraced]:
    """Return the end of a stored log as events; rows of another program are left out."""
    rows = log.tail(REPLAYED)
    return [replayed(row, session_id) for row in rows if isinstance(row.get("seq"), int)]


def replayed(
    row: Mapping[str, Any], session_id: str, most: int | None = _REPLAYED_SIZE
) -> HookTraced:
    """Return a row of a stored log as an event.

    Args:
        most: Characters of its payloads; None for all.
    """
    data = row.get("data")
    text = json.dumps(data, ensure_ascii=False)
    changed = json.dumps(row["changed"], ensure_ascii=False) if "changed" in row else ""
    data = data if isinstance(data, Mapping) else {}
    handlers = row.get("handlers")
    try:
        at = datetime.fromisoformat(str(row.get("ts"))).timestamp()
    except (ValueError, OverflowError):
        at = 0.0
    return HookTraced(
        session_id=session_id,
        agent=str(row.get("lane") or MAIN_LANE),
        at=at,
        replayed=True,
        seq=row["seq"],
        event=str(row.get("event") or ""),
        source=_about(data),
        verdict=str(row.get("verdict") or "continue"),
        duration_ms=_number(row.get("ms")),
        handlers=tuple(
            HandlerTrace(
                name=str(each.get("name") or ""),
                verdict=str(each.get("verdict") or ""),
                ms=_number(each.get("ms")),
                error=_text(each.get("error")),
                reason=_text(each.get("reason")),
                module=str(each.get("module") or ""),
            )
            for each in (handlers if isinstance(handlers, list) else ())
            if isinstance(each, Mapping)
        ),
        count=max(1, int(_number(row.get("count")))),
        data=text[:most],
        size=len(text),
        changed=changed[:most],
        call_id=str(data.get("tool_call_id") or ""),
    )


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or not -_LARGEST < value < _LARGEST:
        return 0.0
    return float(value)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _same(run: _Run, trace: HookTrace) -> bool:
    keys = ("request_id", "block_index")
    return run.first.event == trace.event and all(
        run.data.get(k) == trace.data.get(k) for k in keys
    )


def _strongest(handlers: tuple[HandlerTrace, ...], trace: HookTrace) -> str:
    verdicts = {h.verdict for h in handlers} or {trace.result.action}
    return next((verdict for verdict in _STRENGTH if verdict in verdicts), "continue")


def _about(data: Mapping[str, Any]) -> str:
    found = (data.get(key) for key in _ABOUT)
    return next((value[:200] for value in found if isinstance(value, str) and value), "")
