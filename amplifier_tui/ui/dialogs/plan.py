"""The agent's plan, step by step."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import TodoItem
from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines, TextLine

_MARKS: dict[str, tuple[str, str]] = {
    "completed": ("✓", "$text-muted"),
    "in_progress": ("◐", "$text-accent bold"),
    "pending": ("·", ""),
}


class PlanSheet(Sheet[None]):
    """Shows the plan; any of its keys closes it.

    Args:
        items: The steps in order.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,ctrl+t", "close", show=False, priority=True)
    ]
    AUTO_FOCUS = "#plan"
    DEFAULT_CSS = """
    PlanSheet #plan-head { text-style: bold; color: $text-secondary; margin-bottom: 1; }
    PlanSheet #plan { background: $panel; }
    """

    def __init__(self, items: tuple[TodoItem, ...]) -> None:
        super().__init__()
        self._items = items

    def content(self) -> ComposeResult:
        """Make the head and the steps."""
        done = sum(item.status == "completed" for item in self._items)
        yield Static(Content(f"Plan   {done} of {len(self._items)}"), id="plan-head")
        lines = []
        for item in self._items:
            mark, style = _MARKS[item.status]
            text = item.content
            if item.status == "in_progress" and item.active_form:
                text = item.active_form
            lines.append(TextLine(one_line(text, 500), style, lead=f" {mark} "))
        yield ScrollLines(lines or [TextLine("No plan yet.", "$text-muted")], 3, id="plan")

    def fit(self, rows: int) -> None:
        """Let the steps scroll when there are many."""
        self.query_one(ScrollLines).styles.max_height = max(2, rows - 4)
