"""The inspector of one hook event."""

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult

from amplifier_tui.host.events import HookTraced
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow, Sheet
from amplifier_tui.ui.panes.inspector.pane import EventInspector
from amplifier_tui.ui.widgets.messages import InspectorClosed


class EventSheet(Sheet[None]):
    """Hosts the inspector over the conversation.

    Args:
        event: The event to show.
        count: How many events its row stands for.
    """

    AUTO_FOCUS = "EventInspector"
    DEFAULT_CSS = """
    EventSheet EventInspector { background: $panel; height: 1fr; }
    EventSheet KeyRow { margin-top: 1; }
    """

    def __init__(self, event: HookTraced, count: int = 1) -> None:
        super().__init__()
        self._event = event
        self._count = count
        self._payload = ""

    def content(self) -> ComposeResult:
        """Make the inspector and its keys."""
        yield EventInspector()
        yield KeyRow(self._choices())

    def _choices(self) -> Sequence[KeyChoice]:
        choices = [
            KeyChoice("enter", "Fold", "fold"),
            KeyChoice("y", "Copy value", "copy"),
            KeyChoice("Y", "Copy path", "copy_path"),
        ]
        if self._event.changed:
            choices.append(KeyChoice("=", "Before and after", "changes"))
        return [*choices, KeyChoice("esc", "Close", "close")]

    async def choose(self, action: str) -> None:
        """Have the inspector do it."""
        inspector = self.query_one(EventInspector)
        # By itself: what it says from within a handler here would not get past here.
        inspector.call_next(inspector.run_action, action)

    def on_mount(self) -> None:
        """Show the event."""
        inspector = self.query_one(EventInspector)
        inspector.show(self._event, self._count)
        inspector.set_payload(self._event.seq, self._payload)

    def set_payload(self, payload: str) -> None:
        """Show the full payload, once it was fetched from disk."""
        self._payload = payload
        for inspector in self.query(EventInspector):
            inspector.set_payload(self._event.seq, payload)

    def fit(self, rows: int) -> None:
        """Take most of the height: a payload is rarely short."""
        self.sheet.styles.height = rows if self.has_class("-small") else max(8, rows * 3 // 4)

    @on(InspectorClosed)
    def _inspector_closed(self, event: InspectorClosed) -> None:
        event.stop()
        self.finish()
