"""`display.jsonl`: what the screen knew of rows and turns that the rows do not say.

How long a tool took, what it changed, how a turn ended: a resumed session shows them as the live
one did. Losing the file loses nothing of the conversation.
"""

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from amplifier_tui.host.events import (
    Compacted,
    Failed,
    HostEvent,
    ToolEnded,
    TurnEnded,
)
from amplifier_tui.host.store.files import AppendFile, OnTrouble
from amplifier_tui.host.store.rows import decode_row

logger = logging.getLogger(__name__)

FILE_NAME: Final = "display.jsonl"
KEPT: Final = (ToolEnded, TurnEnded, Failed, Compacted)
"""The events it holds; of a `ToolEnded` all but the output, which is in its row."""


class OutcomeFile:
    """Appends outcomes.

    Args:
        path: The file.
        on_trouble: See `AppendFile`.
    """

    def __init__(self, path: Path, on_trouble: OnTrouble | None = None) -> None:
        self._file = AppendFile(path, on_trouble)

    def append(self, rows: int, event: HostEvent) -> None:
        """Note an event that came when there were `rows` rows."""
        if isinstance(event, ToolEnded):
            event = replace(event, output="")
        data = {"row": rows, "event": event.to_json()}
        self._file.append(json.dumps(data, ensure_ascii=False).encode("utf-8", "backslashreplace"))

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
    for line in _lines(path):
        record = decode_row(line)
        try:
            event = HostEvent.from_json(record["event"]) if record else None
            rows = int(record["row"]) if record else 0
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            logger.debug("A line of %s can't be read: %s", path, error)
            continue
        if isinstance(event, ToolEnded):
            found.tools.setdefault((event.agent, event.call_id), []).append((rows, event))
        elif event is not None:
            found.others.append((rows, event))
    return found


def _lines(path: Path) -> Iterable[bytes]:
    try:
        return path.read_bytes().splitlines()
    except FileNotFoundError:
        return ()
    except OSError as error:
        logger.warning("%s can't be read: %s", path, error)
        return ()
