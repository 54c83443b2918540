"""What a part of the stream sends, kept for a test to look at."""

from pathlib import Path
from typing import Any

from amplifier_tui.host.events import (
    BlockEnded,
    HostEvent,
)
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.stream.sender import Sender


class Up:
    """What went up."""

    def __init__(self, folder: Path) -> None:
        self.events: list[HostEvent] = []
        self.store = SessionStore(folder, Redactor({}), lambda _: None)
        self.sender = Sender(self.events.append, self.store)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def texts(self) -> dict[str, str]:
        """Return what the screen shows at the end, by block."""
        shown: dict[str, str] = {}
        for event in self.events:
            if isinstance(event, BlockEnded):
                if event.discarded:
                    shown.pop(event.block_id, None)
                else:
                    shown[event.block_id] = event.text
        return shown
