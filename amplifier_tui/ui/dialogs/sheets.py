"""Sheets that only show something: the agent's plan, a problem, and one hook event."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import clean, one_line
from amplifier_tui.host.events import HookTraced
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow, Sheet
from amplifier_tui.ui.panes.inspector import EventInspector
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.messages import CopyRequested, InspectorClosed
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from amplifier_tui.ui.widgets.text_lines import TextLine

_MARKS: dict[str, tuple[str, str]] = {
    "completed": ("✓", "$text-muted"),
    "in_progress": ("◐", "$text-accent bold"),
    "pending": ("·", ""),
}


class PlanSheet(Sheet[None]):
    """Shows the plan; any of its keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,ctrl+t", "close", show=False, priority=True)
    ]
    AUTO_FOCUS = "#plan"
    DEFAULT_CSS = """
    PlanSheet #plan-head { text-style: bold; color: $text-secondary; margin-bottom: 1; }
    PlanSheet #plan { background: $panel; }
    PlanSheet KeyRow { margin-top: 1; }
    """

    def __init__(self, state: SessionState) -> None:
        super().__init__()
        self._state = state
        self._items = state.todo.items

    def _content(self) -> ComposeResult:
        yield Static(self._head(), id="plan-head")
        yield ScrollLines(self._lines(), 3, id="plan")
        yield KeyRow((KeyChoice("esc", "Close", "close"),))

    @on(events.Mount)
    def _begin_at_step(self) -> None:
        self.call_after_refresh(self._show_step)

    def _show_step(self) -> None:
        """Bring the step in progress into view."""
        status = [item.status for item in self._items]
        if "in_progress" in status:
            lines = self.query_one(ScrollLines)
            lines.bring_into_view(lines.row_of(status.index("in_progress")))

    def state_changed(self) -> None:
        """Show the plan as it is now, from where it was read; give way to who asks the user."""
        if self._state.approvals.pending or self._state.questions.pending:
            self.finish(None)
            return
        if self._state.todo.items == self._items or not self.query(ScrollLines):
            return
        self._items = self._state.todo.items
        self.query_one("#plan-head", Static).update(self._head())
        lines = self.query_one(ScrollLines)
        top = lines.scroll_offset.y
        lines.set_lines(self._lines())
        lines.scroll_to(y=top, animate=False)

    def _head(self) -> Content:
        done = sum(item.status == "completed" for item in self._items)
        return Content(f"Plan   {done} of {len(self._items)}")

    def _lines(self) -> list[TextLine]:
        lines = []
        for item in self._items:
            mark, style = _MARKS[item.status]
            text = item.content
            if item.status == "in_progress" and item.active_form:
                text = item.active_form
            lines.append(TextLine(one_line(text, 500), style, lead=f" {mark} "))
        return lines or [TextLine("No plan yet.", "$text-muted")]

    def _fit(self, rows: int) -> None:
        self.query_one(ScrollLines).styles.max_height = max(2, rows - 6)


class ProblemSheet(Sheet[None]):
    """Shows what is wrong with something, to the last character, and what helps."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "close", show=False, priority=True),
        Binding("y", "copy", show=False),
    ]
    IN_PLACE = True
    AUTO_FOCUS = "#problem"
    DEFAULT_CSS = """
    ProblemSheet #problem-head { text-style: bold; color: $text-secondary; margin-bottom: 1; }
    ProblemSheet #problem { height: auto; background: $panel; }
    ProblemSheet KeyRow { margin-top: 1; }
    """

    def __init__(self, title: str, problem: str, remedy: str) -> None:
        super().__init__()
        self._title = title
        self._problem = problem
        self._remedy = remedy

    def _content(self) -> ComposeResult:
        yield Static(Content(one_line(self._title, 200)), id="problem-head")
        problem = Content.styled(clean(self._problem), "$text-error")
        with VerticalScroll(id="problem"):
            yield Static(Content("\n\n").join([problem, Content(self._remedy)]), markup=False)
        yield KeyRow((KeyChoice("y", "Copy", "copy"), KeyChoice("esc", "Back", "close")))

    def action_copy(self) -> None:
        """Copy what is wrong."""
        self.post_message(CopyRequested(clean(self._problem), "problem"))

    def _fit(self, rows: int) -> None:
        self.query_one("#problem").styles.max_height = max(2, rows - 6)


class EventSheet(Sheet[None]):
    """Hosts the inspector over the conversation."""

    AUTO_FOCUS = "EventInspector"
    DEFAULT_CSS = """
    EventSheet EventInspector { background: $panel; height: 1fr; }
    EventSheet KeyRow { margin-top: 1; }
    """

    def __init__(self, event: HookTraced) -> None:
        super().__init__()
        self._event = event
        self._payload = ""

    def _content(self) -> ComposeResult:
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

    async def _choose(self, action: str) -> None:
        inspector = self.query_one(EventInspector)
        # By itself: what it says from within a handler here would not get past here.
        inspector.call_next(inspector.run_action, action)

    def on_mount(self) -> None:
        """Show the event."""
        inspector = self.query_one(EventInspector)
        inspector.show(self._event)
        inspector.set_payload(self._event.seq, self._payload)

    def set_payload(self, payload: str) -> None:
        """Show the full payload, once it was fetched from disk."""
        self._payload = payload
        for inspector in self.query(EventInspector):
            inspector.set_payload(self._event.seq, payload)

    def _fit(self, rows: int) -> None:
        self.sheet.styles.height = rows if self.has_class("-small") else max(8, rows * 3 // 4)

    @on(InspectorClosed)
    def _inspector_closed(self, event: InspectorClosed) -> None:
        event.stop()
        self.finish()
