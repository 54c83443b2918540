"""Stopping a session: a token every loop looks at."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from enum import StrEnum

from amplifier_tui.base.python import awaited
from amplifier_tui.kernel.mounting.callbacks import cancel_requests, is_genuine_cancellation
from amplifier_tui.kernel.mounting.changes import add_shared

logger = logging.getLogger(__name__)

CancelCallback = Callable[[], Awaitable[object] | object]


class CancellationState(StrEnum):
    """How hard the session was asked to stop. Equal to its value, and prints as it."""

    NONE = "none"
    GRACEFUL = "graceful"
    IMMEDIATE = "immediate"


class CancellationToken:
    """Says whether to stop, knows which tools are running, and tells child tokens."""

    def __init__(self) -> None:
        self._state = CancellationState.NONE
        self._running: dict[str, str] = {}
        self._children: list[CancellationToken] = []
        self._callbacks: list[CancelCallback] = []

    @property
    def state(self) -> CancellationState:
        """How hard to stop; compares equal to ``"none"``, ``"graceful"``, ``"immediate"``."""
        return self._state

    @property
    def is_cancelled(self) -> bool:
        """Whether stopping was asked for at all."""
        return self._state is not CancellationState.NONE

    @property
    def is_graceful(self) -> bool:
        """Whether running tools may finish."""
        return self._state is CancellationState.GRACEFUL

    @property
    def is_immediate(self) -> bool:
        """Whether to stop without waiting for running tools."""
        return self._state is CancellationState.IMMEDIATE

    @property
    def running_tools(self) -> set[str]:
        """Ids of the tool calls that run now (a copy)."""
        return set(self._running)

    @property
    def running_tool_names(self) -> list[str]:
        """Names of the tools that run now, oldest call first."""
        return list(self._running.values())

    def request_graceful(self) -> bool:
        """Ask to stop after the running tools; tell whether this changed the state."""
        return self._advance(CancellationState.GRACEFUL, self._state is CancellationState.NONE)

    def request_immediate(self) -> bool:
        """Ask to stop now; tell whether this changed the state."""
        return self._advance(CancellationState.IMMEDIATE, not self.is_immediate)

    def request_cancellation(self) -> None:
        """Ask to stop after the running tools."""
        self.request_graceful()

    def _advance(self, state: CancellationState, changes: bool) -> bool:
        if changes:
            # Before the children are told: a cycle of tokens ends here.
            self._state = state
            for child in tuple(self._children):
                child._follow(state)
        return changes

    def _follow(self, state: CancellationState) -> None:
        if state is CancellationState.IMMEDIATE:
            self.request_immediate()
        elif state is CancellationState.GRACEFUL:
            self.request_graceful()

    def reset(self) -> None:
        """Go on: no request, no running tools. Children and callbacks stay as they are."""
        self._state = CancellationState.NONE
        self._running.clear()

    def register_tool_start(self, tool_call_id: str, tool_name: str) -> None:
        """Note that a tool call runs."""
        self._running[tool_call_id] = tool_name

    def register_tool_complete(self, tool_call_id: str) -> None:
        """Note that a tool call ended; an unknown id is ignored."""
        self._running.pop(tool_call_id, None)

    def register_child(self, child: CancellationToken) -> None:
        """Pass every request on to ``child``, the present one at once."""
        if child not in self._children:
            self._children.append(child)
        child._follow(self._state)

    def unregister_child(self, child: CancellationToken) -> None:
        """Stop passing requests to ``child``; an unknown child is ignored."""
        if child in self._children:
            self._children.remove(child)

    def on_cancel(self, callback: CancelCallback) -> None:
        """Call ``callback``, sync or async, from :meth:`trigger_callbacks`."""
        add_shared(self._callbacks, callback)

    async def trigger_callbacks(self) -> None:
        """Run every callback. What they raise is logged.

        The first ``KeyboardInterrupt``, ``SystemExit`` or cancellation of this very task is raised
        after all callbacks ran.
        """
        fatal: BaseException | None = None
        baseline = cancel_requests()
        for callback in tuple(self._callbacks):
            try:
                await awaited(callback())
            except asyncio.CancelledError as error:
                if is_genuine_cancellation(baseline):
                    fatal = fatal or error
                else:
                    logger.warning("Cancellation callback %r was cancelled", callback)
            except Exception:
                logger.exception("Cancellation callback %r failed", callback)
            except BaseException as error:
                fatal = fatal or error
        if fatal is not None:
            raise fatal
