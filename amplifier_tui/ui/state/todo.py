"""The agent's plan."""

from amplifier_tui.host.events import MAIN_LANE, HostEvent, TodoChanged, TodoItem
from amplifier_tui.ui.state.section import Section


class Todo(Section):
    """The plan of the main lane; a sub-agent's own plan stays with its lane."""

    HANDLES: tuple[type[HostEvent], ...] = (TodoChanged,)

    def __init__(self) -> None:
        super().__init__()
        self.items: tuple[TodoItem, ...] = ()
        self.by_lane: dict[str, tuple[TodoItem, ...]] = {}

    @property
    def done(self) -> int:
        """How many steps are completed."""
        return sum(item.status == "completed" for item in self.items)

    def clear(self) -> None:
        """Forget the plan, for another session."""
        if self.items or self.by_lane:
            self.items = ()
            self.by_lane = {}
            self.touch()

    def apply(self, event: HostEvent) -> None:
        """Take one event of the session."""
        if not isinstance(event, TodoChanged):
            return
        if event.agent == MAIN_LANE:
            if event.items != self.items:
                self.items = event.items
                self.touch()
        elif self.by_lane.get(event.agent) != event.items:
            self.by_lane[event.agent] = event.items
            self.touch()
