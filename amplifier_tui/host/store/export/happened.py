"""What happened between the rows of a conversation: failures, stops, the user's own commands."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.host.events import (
    MAIN_LANE,
    Compacted,
    Failed,
    HostEvent,
    ShellEnded,
    TurnEnded,
)
from amplifier_tui.host.store.export.parts import ExportPart
from amplifier_tui.host.store.turns.outcomes import DISPLAY, read_outcomes

_ENDS: Final = {
    "cancelled": "Stopped by the user.",
    "incomplete": "Ended before the answer was complete.",
    "error": "Failed.",
}


class Happened:
    """Gives each event once, before the first row that came after it.

    Args:
        folder: The stored session.
        first: The first row that is written, counted from 0; what came before is left out.
        outputs: Whether what the user's commands printed is given too.
    """

    def __init__(self, folder: Path, first: int, *, outputs: bool) -> None:
        noted = read_outcomes(folder / DISPLAY)
        self._tools = noted.tools
        items = [(rows, event) for rows, event in noted.others if rows > first or not first]
        # What a rewind took, and taking that back gave again, stands last in the file.
        self._items = sorted(items, key=lambda item: item[0])
        self._next = 0
        self._outputs = outputs
        self._has_failed = False

    def was_denied(self, row: int, call_id: str) -> bool:
        """Whether a call in a row did not run, as the user or a rule refused it."""
        notes = self._tools.get((MAIN_LANE, call_id), ())
        # Its id may be used again in later rows.
        return next((event.denied for rows, event in notes if rows > row), False)

    def before(self, row: int) -> Iterator[ExportPart]:
        """Yield what happened before a row."""
        while self._next < len(self._items) and self._items[self._next][0] <= row:
            yield from self._part(self._items[self._next][1])
            self._next += 1

    def rest(self) -> Iterator[ExportPart]:
        """Yield what happened after the last row."""
        for _, event in self._items[self._next :]:
            yield from self._part(event)
        self._next = len(self._items)

    def _part(self, event: HostEvent) -> Iterator[ExportPart]:
        if event.agent != MAIN_LANE:
            return
        match event:
            case Failed():
                self._has_failed = True
                yield ExportPart("notice", f"{event.message} {event.remedy}".strip())
            case TurnEnded():
                said = event.status == "error" and self._has_failed
                self._has_failed = False
                if (words := _words(event)) and not said:
                    yield ExportPart("notice", words)
            case Compacted():
                how = f"{event.before_tokens} to {event.after_tokens} tokens"
                yield ExportPart("notice", f"The context was compacted from {how}.")
            case ShellEnded():
                printed = event.error or event.output if self._outputs else ""
                yield ExportPart("command", f"$ {event.command}\n{printed}".rstrip("\n"))
            case _:
                pass


def _words(event: TurnEnded) -> str:
    return event.remark if event.denied else _ENDS.get(event.status, event.remark)
