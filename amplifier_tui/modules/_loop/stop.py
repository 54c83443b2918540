"""Stopping a turn: whether the user asked for it, and what the model had said by then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from amplifier_tui.kernel import events
from amplifier_tui.kernel.correlation import is_aside
from amplifier_tui.kernel.hooks import HookTrace
from amplifier_tui.kernel.utils.stream import STREAM_ABORTED, STREAM_BLOCK_DELTA
from amplifier_tui.modules._loop.hook_emitter import HookEmitter


class StopSign:
    """Watches the session's cancellation token, if it has one, for one turn."""

    def __init__(self, coordinator: Any | None, emitter: HookEmitter) -> None:
        self.token = getattr(coordinator, "cancellation", None)
        self._emitter = emitter
        self._announced = False

    @property
    def up(self) -> bool:
        """Whether stopping was asked for."""
        # `is True`: stand-ins for a coordinator answer any attribute with something truthy.
        return getattr(self.token, "is_cancelled", False) is True

    async def seen(self, turn_count: int) -> bool:
        """Return whether to stop; the first time, say so and run the token's callbacks."""
        if not self.up:
            return False
        if not self._announced and self.token is not None:
            self._announced = True
            await self._emitter.emit(
                events.CANCEL_REQUESTED,
                {
                    "orchestrator": self._emitter.orchestrator,
                    "turn_count": turn_count,
                    "state": str(self.token.state),
                    "level": str(self.token.state),
                    "running_tools": sorted(self.token.running_tools),
                    "running_tool_names": list(self.token.running_tool_names),
                },
            )
            await self.token.trigger_callbacks()
        return True


def being_cancelled() -> bool:
    """Whether somebody cancelled the running task; else a ``CancelledError`` was raised by hand."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


Listener = Callable[[str, dict[str, Any]], None]


def observe(hooks: Any, listener: Listener) -> Callable[[], None]:
    """Call ``listener`` with every event of a turn and its data, which it must not change.

    What is asked on the side meanwhile, such as a title, is no part of it.

    Returns:
        A function that ends it. A registry that can't be observed is left alone.
    """
    register = getattr(hooks, "observe", None)
    if not callable(register):
        return lambda: None

    def callback(trace: HookTrace) -> None:
        if not is_aside():
            listener(trace.event, trace.data)

    stop: Callable[[], None] = register(callback)
    return stop


class PartialAnswer:
    """Collects what one call of a provider streams."""

    def __init__(self, hooks: Any) -> None:
        self._hooks = hooks
        self._requests: dict[str, dict[int, list[str]]] = {}
        self._stop: Callable[[], None] = lambda: None

    @property
    def texts(self) -> list[str]:
        """The blocks of text so far, without reasoning and without what was aborted."""
        requests = self._requests.values()
        found = ["".join(pieces) for blocks in requests for _, pieces in sorted(blocks.items())]
        return [text for text in found if text.strip()]

    def __enter__(self) -> PartialAnswer:
        self._stop = observe(self._hooks, self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _listen(self, event: str, data: dict[str, Any]) -> None:
        request = str(data.get("request_id"))
        if event == STREAM_ABORTED:
            self._requests.pop(request, None)
        elif event == STREAM_BLOCK_DELTA and data.get("block_type") == "text":
            blocks = self._requests.setdefault(request, {})
            blocks.setdefault(int(data.get("block_index") or 0), []).append(
                str(data.get("text") or "")
            )
