"""A bare app around the widgets under test, with one state and no clock of its own."""

from collections.abc import Callable, Iterable
from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from amplifier_tui.host.events import HostEvent
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.line_view import LineView
from amplifier_tui.ui.widgets.messages import (
    ActionWanted,
    CompactRequested,
    CopyRequested,
    InspectorClosed,
    InspectRequested,
)
from amplifier_tui.ui.widgets.palette import CURSOR_MARK
from tests.ui.state.make import NOW


class Stage(App[None]):
    """Shows widgets, feeds those that take a state, and keeps what they post."""

    def __init__(self, *widgets: Widget, events: Iterable[HostEvent] = ()) -> None:
        super().__init__()
        self.widgets = widgets
        self.state = SessionState(clock=lambda: NOW)
        self.state.apply(events)
        self.posted: list[Message] = []

    def compose(self) -> ComposeResult:
        yield from self.widgets

    def on_mount(self) -> None:
        self.feed()

    def feed(self, *events: HostEvent) -> None:
        self.state.apply(events)
        for widget in self.widgets:
            update = getattr(widget, "update_from", None)
            if update is not None:
                update(self.state)

    def on_inspect_requested(self, message: InspectRequested) -> None:
        self.posted.append(message)

    def on_compact_requested(self, message: CompactRequested) -> None:
        self.posted.append(message)

    def on_copy_requested(self, message: CopyRequested) -> None:
        self.posted.append(message)

    def on_inspector_closed(self, message: InspectorClosed) -> None:
        self.posted.append(message)

    def on_action_wanted(self, message: ActionWanted) -> None:
        self.posted.append(message)


def text(widget: Widget) -> list[str]:
    """What the widget shows, line by line, without the margin, trailing blanks and its keys."""
    rows = widget.size.height - (widget.foot if isinstance(widget, LineView) else 0)
    lines = [widget.render_line(y).text for y in range(rows)]
    assert all(line[:1] in ("", " ", CURSOR_MARK) for line in lines)
    return [line[1:].rstrip() for line in lines]


def foot(view: LineView[Any]) -> str:
    """The keys that a view names."""
    return view.render_line(view.size.height - 1).text.strip() if view.foot else ""


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Let the app work until the condition holds; the suite's time limit ends a vain wait."""
    while not condition():
        await pilot.pause(0.01)
