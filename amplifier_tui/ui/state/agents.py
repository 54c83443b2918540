"""The agents of the session: its sub-agents, and the plan each of them follows."""

from dataclasses import dataclass, replace

from amplifier_tui.host.events import (
    MAIN_LANE,
    LaneClosed,
    LaneOpened,
    SessionClosed,
    TodoChanged,
    TodoItem,
    TurnStatus,
)
from amplifier_tui.ui.state.section import FieldSection, on


@dataclass(frozen=True, slots=True)
class Lane:
    """One sub-agent; `status` is None while it runs."""

    lane: str
    name: str
    status: TurnStatus | None = None


class AgentLanes(FieldSection):
    """Sub-agents by lane id, in the order they started."""

    def reset(self) -> None:
        """Forget the sub-agents."""
        self.by_id: dict[str, Lane] = {}

    @property
    def running(self) -> list[Lane]:
        """The sub-agents that have not ended."""
        return [lane for lane in self.by_id.values() if lane.status is None]

    def name_of(self, lane: str) -> str:
        """Return the short name of a lane; the id itself when it is unknown."""
        known = self.by_id.get(lane)
        return known.name if known is not None and known.name else lane

    @on(LaneOpened)
    def _opened(self, event: LaneOpened) -> None:
        self.by_id.setdefault(event.lane, Lane(event.lane, event.name))

    @on(LaneClosed)
    def _closed(self, event: LaneClosed) -> None:
        if event.lane in self.by_id:
            self.by_id[event.lane] = replace(self.by_id[event.lane], status=event.status)

    @on(SessionClosed)
    def _session_closed(self, event: SessionClosed) -> None:
        for lane in self.running:
            self.by_id[lane.lane] = replace(lane, status="cancelled")


class Todo(FieldSection):
    """The plan of the main lane; a sub-agent's own plan stays with its lane."""

    def reset(self) -> None:
        """Forget the plans."""
        self.items: tuple[TodoItem, ...] = ()
        self.by_lane: dict[str, tuple[TodoItem, ...]] = {}

    @property
    def done(self) -> int:
        """How many steps are completed."""
        return sum(item.status == "completed" for item in self.items)

    @on(TodoChanged)
    def _changed(self, event: TodoChanged) -> None:
        if event.agent == MAIN_LANE:
            self.items = event.items
        else:
            self.by_lane[event.agent] = event.items
