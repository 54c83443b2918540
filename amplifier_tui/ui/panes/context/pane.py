"""The context pane: how full the window is, who filled it, and with what, item by item."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.client import ItemCard
from amplifier_tui.host.events import Usage
from amplifier_tui.ui.panes.context.items import item_row, items_head
from amplifier_tui.ui.panes.context.rows import context_rows, full_context_rows, used_rows
from amplifier_tui.ui.panes.events.rows import past_row
from amplifier_tui.ui.state.instruments.budget import BudgetState
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.line_view import LineView, cursor_bindings
from amplifier_tui.ui.widgets.messages import ActionWanted, CompactRequested
from amplifier_tui.ui.widgets.styled import Row

_WIDE = 60
_GROUPS = 5
_ON_ITEMS = (
    ("context.pin", "pin"),
    ("context.drop", "drop"),
    ("context.shorten", "shorten"),
    ("context.undo", "undo"),
    ("context.go", "go to"),
    ("context.list", "back"),
    ("context.preview", "compact"),
)
"""What the foot says while items are listed."""


@dataclass(frozen=True, slots=True)
class _ContextLine:
    """One line; of an item, where it stands for one."""

    row: Row
    item: ItemCard | None = None


class ContextPane(LineView[_ContextLine]):
    """Head, bar, legend and threshold; when wide, everything the report knows; or the items."""

    DEFAULT_CSS = "ContextPane { height: auto; max-height: 100%; }"
    FOOT = (
        ("context.preview", "compact"),
        ("context.list", "items"),
        ("context.instruct", "with instructions"),
    )
    CHANGES = frozenset(
        ("act('pin')", "act('drop')", "act('shorten')", "undo", "compact", "compact(True)")
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *cursor_bindings("context"),
        Binding("p", "act('pin')", "Keep it whole", id="context.pin"),
        Binding("x", "act('drop')", "Leave it out", id="context.drop"),
        Binding("s", "act('shorten')", "Shorten it", id="context.shorten"),
        Binding("u", "undo", "Undo the last of these", id="context.undo"),
        Binding("enter", "act('show')", "Go to it", id="context.go"),
        Binding("c", "compact", "Compact", id="context.preview"),
        Binding("b", "items", "The biggest items", id="context.list"),
        Binding("i", "compact(True)", "Compact with instructions", id="context.instruct"),
    ]

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._clock = clock
        self._budget = BudgetState()
        self._model = ""
        self._used = Usage()
        self._moment: float | None = None
        self._versions: tuple[object, ...] | None = None
        self._listing = False
        self._items: tuple[ItemCard, ...] | None = None
        self._session = ""
        """Whose the items are."""
        self._problem = ""

    def update_from(self, state: SessionState) -> None:
        """Show the state's budget; cheap when it has not changed."""
        budget = state.shown_budget
        used = state.usage.session
        versions = (id(budget), budget.version, state.facts.version, state.moment, used)
        if versions == self._versions:
            return
        self._versions = versions
        if state.facts.session_id != self._session:
            self._session, self._items, self._problem = state.facts.session_id, None, ""
        self._budget, self._moment, self._used = budget, state.moment, used
        self._model = state.facts.model
        if self._listing:
            self.post_message(ActionWanted("context.item", "reload"))
        self.lay_out()

    @property
    def listed(self) -> tuple[ItemCard, ...]:
        """The items that are on screen, by which a number names one; none without a list."""
        return (self._items or ()) if self._listing and self.display else ()

    def show_items(self, items: tuple[ItemCard, ...], problem: str = "") -> None:
        """List items, the biggest first, or say why that can't be done."""
        self._listing, self._items, self._problem = True, items, problem
        self.lay_out()
        if self.cursor_row >= 0:
            # What was left out is small now, and far below.
            self.call_after_refresh(self.show_rows, self.cursor_row)

    def on_mount(self) -> None:
        """Keep the age of the number right while the full form is open."""
        self.set_interval(1.0, self._tick)

    def _foot_words(self) -> tuple[tuple[str, str], ...]:
        return _ON_ITEMS if self._listing else self.FOOT

    def action_compact(self, instruct: bool = False) -> None:
        """Ask for the compaction dialog."""
        self.post_message(CompactRequested(instruct))

    def action_items(self) -> None:
        """List the items, or go back to the sources."""
        if self._listing:
            self._listing, self.cursor_row = False, -1
            self.lay_out()
        else:
            self.post_message(ActionWanted("context.items"))

    def action_act(self, what: str) -> None:
        """Do something with the item under the cursor; what holds of it already is taken back."""
        item = self.rows[self.cursor_row].item if self.cursor_row >= 0 else None
        if item is None:
            if not self._listing:
                self.action_items()
        elif what == "show" and not item.key:
            self.post_message(ActionWanted("context.item", "why It is no row of the conversation."))
        elif item.fixed and what != "show":
            self.post_message(ActionWanted("context.item", f"why {item.fixed}"))
        else:
            self.post_message(ActionWanted("context.item", f"{what} ={item.key}"))

    def action_undo(self) -> None:
        """Take the last decision back."""
        self.post_message(ActionWanted("context.item", "undo"))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the item that was clicked."""
        row = self.clicked_row()
        if row is not None and self.rows[row].item is not None:
            self.put_cursor(row)

    def _make_rows(self, width: int) -> list[_ContextLine]:
        if self._listing:
            return self._item_lines(width)
        if width >= _WIDE:
            rows = full_context_rows(self._budget, width, model=self._model, clock=self._clock)
        else:
            rows = context_rows(self._budget, width, groups=_GROUPS)
        if self._moment is None:
            # Who asks what it costs looks for this line: in the full form it stands at the top.
            at = 2 if width >= _WIDE and self._budget.report is not None else len(rows)
            rows[at:at] = used_rows(self._used, width)
        else:
            rows.insert(0, past_row("Context", self._moment, width))
        return [_ContextLine(row) for row in rows]

    def _item_lines(self, width: int) -> list[_ContextLine]:
        lines = [_ContextLine(row) for row in items_head(self._budget, self._problem, width)]
        items = self._items or ()
        return lines + [_ContextLine(item_row(item, self._budget, width), item) for item in items]

    def _stops_at(self, row: _ContextLine) -> bool:
        return row.item is not None

    def _identity(self, row: _ContextLine) -> tuple[str, str] | None:
        return (row.item.key, row.item.source) if row.item is not None else None

    def _draw_row(self, row: int, width: int) -> Strip:
        return self.palette.strip(self.rows[row].row, width, cursor=self.is_at_cursor(row))

    def _tick(self) -> None:
        if self.is_on_screen and not self._listing and self.content_width() >= _WIDE:
            self.lay_out()
