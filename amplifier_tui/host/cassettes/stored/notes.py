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
_DECISION: Final = ("outcome", "by", "rule", "mode", "scope", "reason", "order")


class SessionNotes:
    """Hands out, in their order, what was noted beside the log.

    Raises:
        OSError: It can't be read.
    """

    def __init__(self, folder: Path) -> None:
        self._decisions: dict[tuple[str, str, str], deque[Data]] = defaultdict(deque)
        """By lane and call, or by lane and who asked outside of a call."""
        self._by_user = 0
        self._opened: dict[str, deque[Data]] = defaultdict(deque)
        self._closed: dict[str, deque[str]] = defaultdict(deque)
        self._typed: list[Mapping[str, Any]] = []
        self._steered: deque[str] = deque()
        self._refused: list[tuple[float, str]] = []
        """When prompts failed, and their texts."""
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
            of_call = bool(approval.get("tool"))
            call = str(approval.get("call_id")) if of_call else ""
            if of_call and approval.get("by", "user") == "user":
                self._by_user += 1
                approval = {**approval, "order": self._by_user}
            asker = "" if of_call else str(approval.get("asker"))
            lane = str(approval.get("agent") or MAIN_LANE)
            self._decisions[lane, call, asker].append(approval)
        elif isinstance(event, dict) and event.get("type") == "LaneOpened":
            self._opened[str(event.get("lane"))].append(event)
        elif isinstance(event, dict) and event.get("type") == "LaneClosed":
            self._closed[str(event.get("lane"))].append(str(event.get("status") or "success"))
        elif isinstance(event, dict) and event.get("type") == "Failed" and event.get("prompt"):
            self._refused.append((float(event.get("at") or 0.0), str(event["prompt"])))

    def prompt(self, sent: str) -> Data:
        """Return text and attachments of the next prompt, as typed where that is known."""
        for number, row in enumerate(self._typed):
            if _is_sent(text_of(row.get("content")), sent):
                del self._typed[: number + 1]
                # The output of the user's own commands is in what was sent alone.
                found: Data = {"text": sent if commands_of(row) else typed_prompt(row)}
                attached = metadata_of(row).get("attachments")
                if isinstance(attached, list):
                    found["attachments"] = [str(each) for each in attached]
                return found
        return {"text": sent}

    def refused(self, sent: str, since: float, until: float) -> Data:
        """Return the text of a prompt that was refused, or stopped before its turn began.

        Args:
            since: When it was submitted, in Unix seconds.
            until: When the session went on.
        """
        for number, (at, typed) in enumerate(self._refused):
            if since <= at <= until and _is_sent(typed, sent):
                del self._refused[: number + 1]
                return {"text": typed}
        return self.prompt(sent)

    def steered(self) -> str | None:
        """Return what the user said next to a running turn."""
        return self._steered.popleft() if self._steered else None

    def run(self, lane: str) -> tuple[Data, str]:
        """Return how the next run of an agent was opened, and the status it ended with."""
        opened, closed = self._opened[lane], self._closed[lane]
        return opened.popleft() if opened else {}, closed.popleft() if closed else "success"

    def decided(
        self, lane: str, call: str, until: float, asker: str = ""
    ) -> tuple[Data, Mode | None]:
        """Return what was decided about a call, and the mode then.

        Args:
            until: When the call had ended, in Unix seconds; its id may be used again later.
            asker: Who asked, where it was not about a call.
        """
        found: Data = {}
        mode: Mode | None = None
        noted = self._decisions[lane, call, asker]
        while noted and noted[0]["at"] <= until:
            one = noted.popleft()
            mode = mode or read_mode(one.get("in_mode") or one.get("mode"))
            changed = one.get("changed_to") or found.get("changed_to")
            found = {key: one[key] for key in _DECISION if one.get(key)}
            if changed:
                found["changed_to"] = changed
        return found, mode


def _is_sent(typed: str, sent: str) -> bool:
    """Whether a text is what was sent, or comes in it after the files that it mentions."""
    return bool(typed) and (sent == typed or sent.endswith(f"</context_file>\n\n{typed}"))
