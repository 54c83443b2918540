"""What a session's log does not say: decisions, runs of agents, and what the user typed."""

from collections import defaultdict, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import StoredRows
from amplifier_tui.host.events import MAIN_LANE, Mode
from amplifier_tui.host.gate.modes import read_mode
from amplifier_tui.host.messages import (
    commands_of,
    is_from_hook,
    is_steering,
    metadata_of,
    text_of,
    typed_prompt,
)
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.turns.outcomes import DISPLAY

Data = dict[str, Any]
_DECISION: Final = ("outcome", "by", "rule", "mode", "scope", "reason")


class SessionNotes:
    """Hands out, in their order, what was noted beside the log.

    Raises:
        OSError: It can't be read.
    """

    def __init__(self, folder: Path) -> None:
        self._decisions: dict[tuple[str, str], deque[Data]] = defaultdict(deque)
        self._opened: dict[str, deque[Data]] = defaultdict(deque)
        self._closed: dict[str, deque[str]] = defaultdict(deque)
        self._typed: list[Mapping[str, Any]] = []
        self._steered: deque[str] = deque()
        for _, noted in StoredRows(folder / DISPLAY).read():
            self._take(noted.get("approval"), noted.get("event"))
        for _, row in StoredRows(folder / TRANSCRIPT).read():
            if row.get("role") != "user":
                continue
            if is_steering(row):
                self._steered.append(typed_prompt(row))
            elif not is_from_hook(row):
                self._typed.append(row)

    def _take(self, approval: Any, event: Any) -> None:
        if isinstance(approval, dict) and isinstance(approval.get("at"), int | float):
            key = str(approval.get("agent") or MAIN_LANE), str(approval.get("call_id"))
            self._decisions[key].append(approval)
        elif isinstance(event, dict) and event.get("type") == "LaneOpened":
            self._opened[str(event.get("lane"))].append(event)
        elif isinstance(event, dict) and event.get("type") == "LaneClosed":
            self._closed[str(event.get("lane"))].append(str(event.get("status") or "success"))

    def prompt(self, sent: str) -> Data:
        """Return text and attachments of the next prompt, as typed where that is known."""
        for number, row in enumerate(self._typed):
            if sent and text_of(row.get("content")) == sent:
                del self._typed[: number + 1]
                # The output of the user's own commands is in what was sent alone.
                found: Data = {"text": sent if commands_of(row) else typed_prompt(row)}
                attached = metadata_of(row).get("attachments")
                if isinstance(attached, list):
                    found["attachments"] = [str(each) for each in attached]
                return found
        return {"text": sent}

    def steered(self) -> str | None:
        """Return what the user said next to a running turn."""
        return self._steered.popleft() if self._steered else None

    def run(self, lane: str) -> tuple[Data, str]:
        """Return how the next run of an agent was opened, and the status it ended with."""
        opened, closed = self._opened[lane], self._closed[lane]
        return opened.popleft() if opened else {}, closed.popleft() if closed else "success"

    def decided(self, lane: str, call: str, until: float) -> tuple[Data, Mode | None]:
        """Return what was decided about a call, and the mode then.

        Args:
            until: When the call had ended, in Unix seconds; its id may be used again later.
        """
        found: Data = {}
        mode: Mode | None = None
        noted = self._decisions[lane, call]
        while noted and noted[0]["at"] <= until:
            one = noted.popleft()
            mode = mode or read_mode(one.get("in_mode") or one.get("mode"))
            changed = one.get("changed_to") or found.get("changed_to")
            found = {key: one[key] for key in _DECISION if one.get(key)}
            if changed:
                found["changed_to"] = changed
        return found, mode
