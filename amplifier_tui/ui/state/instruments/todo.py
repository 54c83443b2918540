"""The agent's plan."""

from amplifier_tui.host import events
from amplifier_tui.ui.state.section import FieldSection, on


class Todo(FieldSection):
    """The plan of the main lane; a sub-agent's own is not shown."""

    def reset(self) -> None:
        """Forget the plan."""
        self.items: tuple[events.TodoItem, ...] = ()

    @on(events.TodoChanged, main=True)
    def _changed(self, event: events.TodoChanged) -> None:
        self.items = event.items
