"""Telling the model when it comes into plan mode, and when it is out of it again."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from amplifier_tui.host.events import Mode
from amplifier_tui.host.messages import Message, metadata_of, text_of
from amplifier_tui.host.turns.abandoned import is_abandoned
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.models import HookResult

MODE_HOOK: Final = "amplifier-tui-mode"
"""The name what is told is stored under."""
_PRIORITY: Final = 900
"""After the modules' own hooks, before what the user says while the agent works."""

PLAN: Final = (
    "The session is in plan mode: look around and propose, but change nothing. Writing, commands "
    "that do more than read, and the network are denied. When you know enough, end with the plan: "
    "the steps, the files each of them changes, and how the result is to be checked. The user "
    "decides whether it is carried out."
)
OVER: Final = "The session is no longer in plan mode: you may change things again."


class ModeTeller:
    """Tells it as rows of the conversation: what was sent before, and is cached, stays as it was.

    Args:
        mode: Returns the mode that is applied.
    """

    def __init__(self, mode: Callable[[], Mode]) -> None:
        self._mode = mode
        self._plans = False
        """What the model believes."""

    def told(self, messages: Iterable[Message]) -> None:
        """Take note of what a stored conversation says."""
        self._plans = False
        for message in messages:
            if metadata_of(message).get("hook_name") == MODE_HOOK:
                self._plans = text_of(message.get("content")) == PLAN

    def attach(self, hooks: HookRegistry) -> Callable[[], None]:
        """Listen on a session's hooks; returns what ends it."""
        return hooks.register("provider:request", self._step, _PRIORITY, MODE_HOOK)

    async def _step(self, event: str, data: dict[str, Any]) -> HookResult | None:
        plans = self._mode() == "plan"
        if plans == self._plans or is_abandoned():
            return None
        self._plans = plans
        return HookResult(
            action="inject_context",
            context_injection=PLAN if plans else OVER,
            context_injection_role="user",
        )
