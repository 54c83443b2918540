"""The strip of the sessions that are open in the window."""

from collections.abc import Sequence

from textual import events

from amplifier_tui.ui.state.open_sessions import SessionLook, strip_row
from amplifier_tui.ui.widgets.messages import ActionWanted
from amplifier_tui.ui.widgets.palette import MARGIN, RowWidget


class SessionStrip(RowWidget):
    """Shows the sessions where there is more than one; a click goes to one."""

    DEFAULT_CSS = """
    SessionStrip { display: none; background: $panel; }
    SessionStrip.-shown { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._looks: tuple[SessionLook, ...] = ()
        self._places: list[int] = []

    def show_sessions(self, looks: Sequence[SessionLook]) -> None:
        """Show sessions, in their order; cheap when they look the same."""
        if tuple(looks) != self._looks:
            self._looks = tuple(looks)
            self.set_class(len(looks) > 1, "-shown")
            self._lay_out()

    def on_resize(self) -> None:
        """Fit the row."""
        self._lay_out()

    def on_click(self, event: events.Click) -> None:
        """Go to the session under the pointer."""
        self.go_to(event.x)

    def go_to(self, x: int) -> None:
        """Go to the session that stands at a column."""
        before = [place for place in self._places if place <= x - MARGIN]
        if before:
            self.post_message(ActionWanted("session.show", str(len(before))))

    def _lay_out(self) -> None:
        width = self.size.width - 2 * MARGIN
        if width > 0:
            row, self._places = strip_row(self._looks, width)
            self.say(row)
