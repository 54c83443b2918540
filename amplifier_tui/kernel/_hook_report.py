"""Telling observers of an emit: who ran, what each answered, how long it took."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import perf_counter, time
from typing import Any

from amplifier_tui.kernel._hook_models import HookResult, continue_with
from amplifier_tui.kernel._hook_trace import HandlerTrace, HookTrace

logger = logging.getLogger(__name__)

Observer = Callable[[HookTrace], object]


class EmitReport:
    """Collects what the observers are told about one emit."""

    __slots__ = ("_began", "_event", "_observers", "_started", "_traces")

    def __init__(self, observers: tuple[Observer, ...], event: str) -> None:
        self._observers = observers
        self._event = event
        self._traces: list[HandlerTrace] = []
        self._started = time()
        self._began = perf_counter()

    def add(
        self, name: str, began: float, answer: HookResult | None, error: str | None = None
    ) -> None:
        """Note one handler's part; an error without an answer is a handler that raised."""
        ms = (perf_counter() - began) * 1000
        if answer is None:
            verdict, reason = "continue" if error is None else "error", None
        else:
            verdict, reason = answer.action, answer.reason
        self._traces.append(HandlerTrace(name, verdict, ms, error, reason))

    def fail(
        self, name: str, problem: str, data: dict[str, Any], began: float | None = None
    ) -> None:
        """Tell every observer of an emit that came to no result, and whose fault that is."""
        self.add(name, self._began if began is None else began, None, problem)
        self.send(data, continue_with(None))

    def send(self, data: dict[str, Any], result: HookResult) -> None:
        """Tell every observer."""
        ms = (perf_counter() - self._began) * 1000
        trace = HookTrace(self._event, data, result, tuple(self._traces), ms, self._started)
        for observer in self._observers:
            try:
                observer(trace)
            except (Exception, asyncio.CancelledError):
                logger.exception("An observer of the hooks failed on '%s'", self._event)
