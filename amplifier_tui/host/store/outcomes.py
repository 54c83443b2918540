"""`display.jsonl`: what the screen knew of rows and turns that the rows do not say.

How long a tool took, what it changed, how a turn ended: a resumed session shows them as the live
one did. Who allowed or refused what is noted beside them, for those who want to know later (older
sessions have that in `approvals.jsonl`). Losing the file loses nothing of the conversation.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import StoredRows, encode_row
from amplifier_tui.host.events import (
    Compacted,
    Failed,
    HostEvent,
    ToolEnded,
    TurnEnded,
)
from amplifier_tui.host.store.session_file import OnTrouble, SessionFile

logger = logging.getLogger(__name__)

FILE_NAME: Final = "display.jsonl"
KEPT: Final = (ToolEnded, TurnEnded, Failed, Compacted)
"""The events it holds; of a `ToolEnded` all but the output, which is in its row."""


class OutcomeFile:
    """Appends outcomes.

    Args:
        path: The file.
        on_trouble: See `SessionFile`.
    """

    def __init__(self, path: Path, on_trouble: OnTrouble | None = None) -> None:
        self._file = SessionFile(path, on_trouble)

    def append(self, rows: int, event: HostEvent) -> None:
        """Note an event that came when there were `rows` rows."""
        if isinstance(event, ToolEnded):
            event = replace(event, output="")
        self._file.append(encode_row({"row": rows, "event": event.to_json()}))

    def audit(self, rows: int, entry: Mapping[str, Any]) -> None:
        """Note who allowed or refused what when there were `rows` rows; nothing reads it back."""
        self._file.append(encode_row({"row": rows, "approval": entry}))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@dataclass(slots=True)
class Outcomes:
    """What was noted.

    Attributes:
        tools: By lane and call id, each with the number of rows there were, in order.
        others: With the number of rows there were, in order.
    """

    tools: dict[tuple[str, str], list[tuple[int, ToolEnded]]] = field(default_factory=dict)
    others: list[tuple[int, HostEvent]] = field(default_factory=list)


def read_outcomes(path: Path) -> Outcomes:
    """Read what was noted; what can't be read is left out."""
    found = Outcomes()
    try:
        stored = StoredRows(path)
    except OSError as error:
        logger.warning("%s can't be read: %s", path, error)
        return found
    for _, record in stored.read():
        if "event" not in record:
            continue
        try:
            event = HostEvent.from_json(record["event"])
            rows = int(record["row"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            logger.debug("A line of %s can't be read: %s", path, error)
            continue
        if isinstance(event, ToolEnded):
            found.tools.setdefault((event.agent, event.call_id), []).append((rows, event))
        else:
            found.others.append((rows, event))
    return found
