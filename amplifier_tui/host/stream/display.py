"""What hooks tell the user (`user_message`), on its way to the status bar."""

import logging
from collections.abc import Callable
from typing import Any, Final

from amplifier_tui.host.approvals.surfaces import lane_of_task
from amplifier_tui.host.events import HostEvent, Level, Notice
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.stream.sender import Stamp

logger = logging.getLogger(__name__)

_LEVELS: Final[dict[str, Level]] = {"info": "info", "warning": "warning", "error": "error"}
TEXT_LIMIT: Final = 4_000


class Display:
    """The kernel's `DisplaySystem` (spec 002, hook result processing).

    Args:
        send: Takes the notices.
        stamp: Gives the fields of an event of a lane that happens now.
        redactor: Keeps secrets out of them.
    """

    def __init__(
        self,
        send: Callable[[HostEvent], None],
        stamp: Callable[[str], Stamp],
        redactor: Redactor,
    ) -> None:
        self._send = send
        self._stamp = stamp
        self._redactor = redactor

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """Show a message; see `kernel.display.DisplaySystem`."""
        text = self._redactor.text(str(message))[:TEXT_LIMIT]
        self._send(
            Notice(
                **self._stamp(lane_of_task()),
                level=_LEVELS.get(str(level), "info"),
                text=text,
                source=str(source),
            )
        )

    def push_nesting(self, *args: Any, **kwargs: Any) -> None:
        """A sub-agent begins to speak. Nothing to do: its lane says so already."""

    def pop_nesting(self, *args: Any, **kwargs: Any) -> None:
        """A sub-agent has ended. Nothing to do: its lane says so already."""
