"""What an observer of the hook registry is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amplifier_tui.kernel._hook_models import HookResult


@dataclass(frozen=True, slots=True)
class HandlerTrace:
    """One handler's part in an emit.

    Args:
        name: The name it is registered under.
        verdict: The action it answered with, or ``"error"``.
        ms: Milliseconds it took.
        error: What went wrong: it raised, or its answer was no hook result.
        reason: The reason it gave.
    """

    name: str
    verdict: str
    ms: float
    error: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class HookTrace:
    """One emit, after its handlers ran.

    Args:
        event: Name of the event.
        data: The data as the handlers saw it, defaults and timestamp included. Read it at once:
            values in it belong to the emitter, who may change them later.
        result: What the emit returned.
        handlers: The handlers that ran, in order.
        ms: Milliseconds of the whole emit.
        started: When it started, in Unix time.
    """

    event: str
    data: dict[str, Any]
    result: HookResult
    handlers: tuple[HandlerTrace, ...]
    ms: float
    started: float
