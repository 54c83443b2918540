"""Whether the user asked to stop, and telling everybody once."""

from __future__ import annotations

import asyncio
from typing import Any

from amplifier_tui.kernel import events
from amplifier_tui.modules.loop_streaming.hook_desk import HookDesk


class StopSign:
    """Watches the session's cancellation token for one turn.

    Args:
        coordinator: Whose token; None for no token.
        desk: Where ``cancel:requested`` is emitted.
        name: Name of the orchestrator.
    """

    def __init__(self, coordinator: Any | None, desk: HookDesk, name: str) -> None:
        self.token = getattr(coordinator, "cancellation", None)
        self._desk = desk
        self._name = name
        self._announced = False

    @property
    def up(self) -> bool:
        """Whether stopping was asked for."""
        # `is True`: stand-ins for a coordinator answer any attribute with something truthy.
        return getattr(self.token, "is_cancelled", False) is True

    async def seen(self, turn_count: int) -> bool:
        """Look at the token; the first time it says stop, say so and run its callbacks.

        Args:
            turn_count: Requests to the model so far.

        Returns:
            Whether stopping was asked for.
        """
        if not self.up:
            return False
        if not self._announced and self.token is not None:
            self._announced = True
            await self._desk.tell(
                events.CANCEL_REQUESTED,
                {
                    "orchestrator": self._name,
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
