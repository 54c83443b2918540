"""Notes when a request has gone out: one that is stopped before costs nothing."""

from contextvars import ContextVar
from typing import Any

from amplifier_tui.kernel.utils.stream import StreamEmitter

_EMITTER: ContextVar[StreamEmitter | None] = ContextVar("amplifier_tui_sending", default=None)


def note_sending(emitter: StreamEmitter) -> None:
    """Have the emitter know when the request that the running task makes next has gone out."""
    _EMITTER.set(emitter)


async def trace_sending(event: str, info: Any) -> None:
    """The `trace` of a request, which the HTTP client calls at each step of it."""
    emitter = _EMITTER.get()
    if emitter is not None and event.endswith("send_request_body.complete"):
        emitter.sent = True
