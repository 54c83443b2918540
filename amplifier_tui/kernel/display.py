"""Showing a hook's ``user_message`` (spec 002, hook result processing)."""

from __future__ import annotations

from typing import Literal, Protocol

__all__ = ["DisplaySystem"]


class DisplaySystem(Protocol):
    """Whoever can show the user a line."""

    def show_message(
        self, message: str, level: Literal["info", "warning", "error"], source: str = "hook"
    ) -> None:
        """Show a message.

        Args:
            message: The text; data, never markup.
            level: How serious it is.
            source: Who says it, e.g. ``"hook:linter"``.
        """
        ...
