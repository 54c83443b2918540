"""Drains a session's client on the UI loop, in steps between which keys get their turn."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import TYPE_CHECKING

from amplifier_tui.ui.app import pace

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.host.events import HostEvent

BATCH = 1_000
"""Events applied in one go; a backlog is worked off in steps so that keys get their turn."""


class Feed:
    """Drains the client when it has something new; `sink` gets each batch, on the UI loop."""

    def __init__(self, client: SessionClient, sink: Callable[[list[HostEvent]], None]) -> None:
        self._client = client
        self._sink = sink
        self._loop: asyncio.AbstractEventLoop | None = None
        # A callback scheduled from the engine thread would run in that thread's context, where
        # Textual does not know its app.
        self._context = contextvars.copy_context()
        self._woken = False
        self._next = 0.0
        self._period = pace.stream_period()

    def start(self) -> None:
        """Begin; called on the UI loop, inside the app."""
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._client.set_waker(self._wake)
        self._wake()

    def stop(self) -> None:
        """Take no more events."""
        self._loop = None
        self._client.set_waker(None)

    def flush(self) -> None:
        """Hand over everything that is there, now."""
        while events := self._client.drain(BATCH):
            self._sink(events)

    def _wake(self) -> None:
        """Ask for a batch; called from any thread, often."""
        loop = self._loop
        if loop is None or self._woken:
            return
        self._woken = True
        try:
            loop.call_soon_threadsafe(self._schedule, context=self._context)
        except RuntimeError:
            # The loop closed between the check and the call: the program is ending.
            self._loop = None

    def _schedule(self) -> None:
        if self._loop is not None:
            self._loop.call_at(
                max(self._next, self._loop.time()), self._drain, context=self._context
            )

    def _drain(self) -> None:
        loop = self._loop
        if loop is None:
            return
        # Reset first: what arrives while this batch is applied wakes again.
        self._woken = False
        began = loop.time()
        events = self._client.drain(BATCH)
        if events:
            self._sink(events)
        # A batch that took long is followed by a longer pause, in which keys are handled.
        self._next = began + max(self._period, (loop.time() - began) * 2)
        if len(events) >= BATCH and not self._woken:
            # There may be more, and nobody wakes for that.
            self._woken = True
            self._schedule()
