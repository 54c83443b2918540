"""The sub-agents of the session."""

from dataclasses import dataclass

from amplifier_tui.host.events import (
    HostEvent,
    LaneClosed,
    LaneOpened,
    SessionClosed,
    TurnStatus,
)
from amplifier_tui.ui.state.section import Section


@dataclass(slots=True)
class Lane:
    """One sub-agent; `status` is None while it runs, times are Unix seconds."""

    lane: str
    name: str
    parent: str
    instruction: str
    started: float
    ended: float = 0.0
    status: TurnStatus | None = None
    result: str = ""


class AgentLanes(Section):
    """Sub-agents by lane id, in the order they started."""

    HANDLES: tuple[type[HostEvent], ...] = (LaneOpened, LaneClosed, SessionClosed)

    def __init__(self) -> None:
        super().__init__()
        self.by_id: dict[str, Lane] = {}

    @property
    def running(self) -> list[Lane]:
        """The sub-agents that have not ended."""
        return [lane for lane in self.by_id.values() if lane.status is None]

    def name_of(self, lane: str) -> str:
        """Return the short name of a lane; the id itself when it is unknown."""
        known = self.by_id.get(lane)
        return known.name if known is not None and known.name else lane

    def clear(self) -> None:
        """Forget the sub-agents, for another session."""
        if self.by_id:
            self.by_id.clear()
            self.touch()

    def apply(self, event: HostEvent) -> None:
        """Take one event of the session."""
        match event:
            case LaneOpened():
                if event.lane not in self.by_id:
                    self.by_id[event.lane] = Lane(
                        event.lane, event.name, event.parent, event.instruction, event.at
                    )
                    self.touch()
            case LaneClosed():
                self._close(event.lane, event.status, event.result, event.at)
            case SessionClosed():
                for lane in self.running:
                    self._close(lane.lane, "cancelled", "", event.at)
            case _:
                pass

    def _close(self, lane_id: str, status: TurnStatus, result: str, at: float) -> None:
        lane = self.by_id.get(lane_id)
        if lane is None or (lane.status, lane.result) == (status, result):
            return
        lane.status, lane.result, lane.ended = status, result, at
        self.touch()
