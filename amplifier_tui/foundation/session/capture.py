"""Keeping what a session says of itself while it runs."""

from collections.abc import Callable
from typing import Any


class TurnCapture:
    """Keeps what the orchestrator said when its last turn ended (`orchestrator:complete`).

    Args:
        hooks: The session's hook registry.
        name: Name of the handler; it runs after all others.
    """

    def __init__(self, hooks: Any, name: str = "foundation:capture") -> None:
        self._last: dict[str, Any] = {}
        self.stop: Callable[[], None] = hooks.register(
            "orchestrator:complete", self._note, priority=999, name=name
        )
        """Ends it; what was kept stays."""

    @property
    def status(self) -> str:
        """E.g. "success" or "cancelled"; "success" if nothing was said."""
        return self._last.get("status") or "success"

    @property
    def turn_count(self) -> int:
        """How often the model was asked in the turn; 1 if nothing was said."""
        return self._last.get("turn_count") or 1

    @property
    def metadata(self) -> dict[str, Any]:
        """What else the orchestrator said."""
        return self._last.get("metadata") or {}

    def as_result(self, session_id: str, output: str) -> dict[str, Any]:
        """Return what spawning a session returns."""
        return {
            "output": output,
            "session_id": session_id,
            "status": self.status,
            "turn_count": self.turn_count,
            "metadata": self.metadata,
        }

    def _note(self, event: str, data: dict[str, Any]) -> None:
        self._last = data
