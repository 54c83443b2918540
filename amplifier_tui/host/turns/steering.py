"""Steering: a message from the user that reaches the model at the next step of a running turn."""

from collections.abc import Callable
from typing import Any, Final

from amplifier_tui.host.store.replay import STEER_HOOK
from amplifier_tui.host.turns.abandoned import is_abandoned
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.models import HookResult

_PRIORITY: Final = 1_000
"""After the modules' own hooks: the user has the last word."""


class Steering:
    """Holds the messages until the orchestrator asks for the next answer.

    Args:
        changed: Called when other messages wait than before.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._waiting: list[str] = []
        self._handed: list[str] = []

    def attach(self, hooks: HookRegistry) -> Callable[[], None]:
        """Listen on a session's hooks; returns what ends it."""
        return hooks.register("provider:request", self._step, _PRIORITY, STEER_HOOK)

    @property
    def waiting(self) -> tuple[str, ...]:
        """What is not part of the conversation yet, in the order in which it was said."""
        return (*self._handed, *self._waiting)

    def add(self, text: str) -> None:
        """Have the model read a message at its next step."""
        self._waiting.append(text)
        self._changed()

    def arrived(self) -> None:
        """What was handed over is a row of the conversation now."""
        if self._handed:
            self._handed.clear()
            self._changed()

    def take_back(self) -> list[str]:
        """Return what did not reach the model: the turn is over."""
        left, self._waiting, self._handed = [*self._handed, *self._waiting], [], []
        return left

    async def _step(self, event: str, data: dict[str, Any]) -> HookResult | None:
        if not self._waiting or is_abandoned():
            return None
        messages, self._waiting = self._waiting, []
        # An orchestrator that ignores injections must not make the user's words vanish.
        self._handed += messages
        return HookResult(
            action="inject_context",
            context_injection="\n\n".join(messages),
            context_injection_role="user",
        )
