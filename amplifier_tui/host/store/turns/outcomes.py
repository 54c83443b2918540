"""What the screen knew of stored rows that the rows do not say."""

import logging
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import StoredRows
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.tool_calls import RecordedCall
from amplifier_tui.host.events import (
    ApprovalResolved,
    BlockEnded,
    Compacted,
    Failed,
    HostEvent,
    ItemChosen,
    LaneClosed,
    LaneOpened,
    Notice,
    ShellEnded,
    ShellStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Usage,
    UsageChanged,
)

logger = logging.getLogger(__name__)

DISPLAY: Final = "display.jsonl"
"""What the screen knew of rows and turns that the rows do not say: how long thinking or a tool
took, what that changed, how a turn ended, what was used, so that a resumed session shows it again.
Who allowed or refused what is noted beside it (older sessions have that in `approvals.jsonl`), and
each time the session went back to an earlier turn. Losing the file loses nothing of the
conversation.
"""
KEPT: Final = (
    *(ToolEnded, TurnEnded, Failed, Compacted, ItemChosen, LaneOpened, LaneClosed),
    *(ShellStarted, ShellEnded, UsageChanged, Notice),
)
"""The events it holds; of a `ToolEnded` all but the output, which is in its row, and of notices
those that stand in the conversation."""

_IDS: Final = ("agent", "call_id", "command_id", "lane")

Item = tuple[int, HostEvent]
"""An event with the number of rows there were when it came."""


def is_kept(event: HostEvent) -> bool:
    """Whether an event is noted: one that it holds, and that was not noted before."""
    # At an opening it says what was noted before.
    old = isinstance(event, UsageChanged) and event.turn == Usage()
    other = isinstance(event, Notice) and not event.is_of_conversation
    return isinstance(event, KEPT) and not (other or old or event.replayed)


@dataclass(slots=True)
class Outcomes:
    """What was noted of the turns that were not taken back.

    Attributes:
        tools: By lane and call id, in order.
        decisions: The same, of calls that a rule, a mode or the clock decided about.
        changed: Of calls that ran with other arguments than the model gave; in the same way.
        lanes: What began and ended sub-agents, in order.
        thinking: By the number of rows, how long each block of thinking in the last one took.
        spent: What each turn used, also those that were taken back.
        taken: Ids of the rewinds that stand.
    """

    tools: dict[tuple[str, str], list[tuple[int, ToolEnded]]] = field(default_factory=dict)
    decisions: dict[tuple[str, str], list[tuple[int, ApprovalResolved]]] = field(
        default_factory=dict
    )
    changed: dict[tuple[str, str], list[tuple[int, ToolStarted]]] = field(default_factory=dict)
    lanes: list[Item] = field(default_factory=list)
    thinking: dict[int, list[BlockEnded]] = field(default_factory=dict)
    others: list[Item] = field(default_factory=list)
    spent: list[Usage] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def all(self) -> list[Item]:
        """Return every event with the number of rows there were."""
        tools = [item for items in self.tools.values() for item in items]
        decisions = [item for items in self.decisions.values() for item in items]
        changed = [item for items in self.changed.values() for item in items]
        thinking = [(rows, event) for rows, events in self.thinking.items() for event in events]
        return [*decisions, *tools, *changed, *thinking, *self.lanes, *self.others]

    def ran_with(self, lane: str, call: RecordedCall, row: int) -> tuple[dict[str, Any], str]:
        """Return what a call in a row ran with, and the module whose hook changed that.

        Its id may be used again in later rows.
        """
        key = (lane, call.call_id)
        end = next((rows for rows, _ in self.tools.get(key, ()) if rows > row), None)
        found, by = call.arguments, ""
        for rows, event in self.changed.get(key, ()):
            if rows > row and (end is None or rows <= end):
                found, by = event.arguments, event.changed_by or by
        return found, by


def read_outcomes(path: Path) -> Outcomes:
    """Read what was noted; what can't be read is left out."""
    found = Outcomes()
    try:
        stored = StoredRows(path)
    except OSError as error:
        logger.warning("%s can't be read: %s", path, error)
        return found
    items: list[Item] = []
    taken: dict[str, list[Item]] = {}
    told_used = False
    for _, record in stored.read():
        try:
            if "rewind" in record:
                cut, turn = int(record["row"]), int(record["turn"])
                stays = [goes_along(item, cut, turn) for item in items]
                gone = [item for item, stay in zip(items, stays, strict=True) if not stay]
                taken[str(record["rewind"])] = gone
                items = [item for item, stay in zip(items, stays, strict=True) if stay]
            elif "undo" in record:
                items += taken.pop(str(record["undo"]), [])
            elif (told := record.get("event", record.get("approval"))) is not None:
                event = HostEvent.from_json(told)
                hash(tuple(getattr(event, name, "") for name in _IDS))  # A list is no id.
                if isinstance(event, UsageChanged):
                    found.spent, told_used = [event.session], True
                    continue
                items.append((int(record["row"]), event))
                if isinstance(event, TurnEnded):
                    # Older versions noted what was used here alone, so not of a turn cut short.
                    found.spent += () if told_used else (event.usage,)
                    told_used = False
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            logger.debug("A line of %s can't be read: %s", path, error)
    found.taken = set(taken)
    for rows, event in items:
        if isinstance(event, ToolEnded):
            found.tools.setdefault((event.agent, event.call_id), []).append((rows, event))
        elif isinstance(event, ApprovalResolved):
            texts = (event.call_id, event.agent, event.rule, event.mode or "")
            if event.by in ("rule", "mode", "timeout") and all(isinstance(t, str) for t in texts):
                calls = found.decisions.setdefault((event.agent, event.call_id), [])
                calls.append((rows, event))
        elif isinstance(event, ToolStarted) and isinstance(event.arguments, dict):
            found.changed.setdefault((event.agent, event.call_id), []).append((rows, event))
        elif isinstance(event, BlockEnded):
            found.thinking.setdefault(rows, []).append(event)
        elif isinstance(event, LaneOpened | LaneClosed):
            found.lanes.append((rows, event))
        else:
            found.others.append((rows, event))
    return found


def goes_along(item: Item, cut: int, before_turn: int | None) -> bool:
    """Whether an event is of the first rows of a conversation; at the cut, two turns meet.

    Args:
        cut: How many rows that are.
        before_turn: The first turn that is left out; None for none.
    """
    count, event = item
    if before_turn is None or count != cut:
        return count <= cut
    if isinstance(event, TurnEnded):
        return event.turn < before_turn
    return not isinstance(event, Failed)
