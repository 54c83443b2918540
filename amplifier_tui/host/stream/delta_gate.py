"""Streamed text on its way up: at most 30 pieces a second and block, and no half secrets."""

import asyncio
from collections.abc import Callable
from typing import Final

from amplifier_tui.host.redaction import Redactor

PERIOD: Final = 1 / 30
"""Seconds between two pieces of a block."""

Key = tuple[str, str]
"""Lane and block id."""


class _Waiting:
    __slots__ = ("last", "parts", "timer")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.last = float("-inf")
        self.timer: asyncio.TimerHandle | None = None


class DeltaGate:
    """Holds back what comes faster than a screen needs it.

    The first piece of a block goes through at once. Used on the engine's loop only.

    Args:
        send: Gets key and text, never empty.
        redactor: Says whether the end of a text may be the beginning of a secret; such an end
            waits for more.
    """

    def __init__(self, send: Callable[[Key, str], None], redactor: Redactor) -> None:
        self._send = send
        self._redactor = redactor
        self._waiting: dict[Key, _Waiting] = {}

    def add(self, key: Key, text: str) -> None:
        """Take a piece of a block."""
        if not text:
            return
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting()
        waiting.parts.append(text)
        if waiting.timer is not None:
            return
        loop = asyncio.get_running_loop()
        wait = waiting.last + PERIOD - loop.time()
        if wait <= 0:
            self._pass(key, waiting, loop.time())
        else:
            waiting.timer = loop.call_later(wait, self._due, key)

    def flush(self, lane: str) -> None:
        """Send what waits in a lane: something else is about to follow it."""
        for key, waiting in list(self._waiting.items()):
            if key[0] == lane and waiting.parts:
                self._stop(waiting)
                self._pass(key, waiting, asyncio.get_running_loop().time())

    def end(self, key: Key, *, void: bool = False) -> None:
        """A block has ended: send what waits of it, unless it is void."""
        waiting = self._waiting.pop(key, None)
        if waiting is None:
            return
        self._stop(waiting)
        # It is complete: what looked like the beginning of a secret is none.
        text = self._redactor.text("".join(waiting.parts))
        if text and not void:
            self._send(key, text)

    def close(self) -> None:
        """Send nothing more."""
        for waiting in self._waiting.values():
            self._stop(waiting)
        self._waiting.clear()

    def _due(self, key: Key) -> None:
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting.timer = None
            self._pass(key, waiting, asyncio.get_running_loop().time())

    def _pass(self, key: Key, waiting: _Waiting, now: float) -> None:
        text = "".join(waiting.parts)
        held = self._redactor.unfinished(text)
        waiting.parts = [text[len(text) - held :]] if held else []
        waiting.last = now
        text = self._redactor.text(text[: len(text) - held])
        if text:
            self._send(key, text)

    @staticmethod
    def _stop(waiting: _Waiting) -> None:
        if waiting.timer is not None:
            waiting.timer.cancel()
            waiting.timer = None
