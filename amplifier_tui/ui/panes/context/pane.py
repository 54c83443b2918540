"""The context pane: how full the window is, and who filled it."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from amplifier_tui.ui.panes.context.rows import (
    Row,
    context_rows,
    full_context_rows,
    key_row,
)
from amplifier_tui.ui.state.instruments.budget import BudgetState
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.messages import CompactRequested
from amplifier_tui.ui.widgets.styled import MARGIN, PAINT_CLASSES, PAINT_CSS, SCROLL_CSS, Palette

_WIDE = 60
_GROUPS = 5


class ContextPane(ScrollView, can_focus=True):
    """Head, bar, legend and threshold; when wide or `full`, everything the report knows.

    `c` shows what compacting would do, `i` with instructions for a summary.

    Args:
        clock: Unix seconds, for the age of the number.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES = PAINT_CLASSES
    DEFAULT_CSS = f"""
    ContextPane {{
        height: auto;
        max-height: 100%;
        background: $surface;
        color: $foreground;
        {SCROLL_CSS}
        {PAINT_CSS}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "compact", "Compact", show=False, id="context.preview"),
        Binding(
            "i", "compact(True)", "Compact with instructions", show=False, id="context.instruct"
        ),
    ]

    full: var[bool] = var(False)
    """Show the full form whatever the width."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._clock = clock
        self._palette = Palette(self)
        self._budget = BudgetState()
        self._model = ""
        self._versions: tuple[int, int, int] | None = None
        self._rows: list[Row] = []
        self._rows_width = 0

    def update_from(self, state: SessionState) -> None:
        """Show the state's budget; cheap when it has not changed."""
        versions = (id(state), state.budget.version, state.facts.version)
        if versions == self._versions:
            return
        self._versions = versions
        self._budget = state.budget
        self._model = state.facts.model
        self._rebuild()

    def watch_full(self) -> None:
        """Switch the form."""
        self._rebuild()

    def on_mount(self) -> None:
        """Keep the age of the number right while the full form is open."""
        self.set_interval(1.0, self._tick)
        self._rebuild()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show the keys while they are heard here."""
        super().watch_has_focus(has_focus)
        self._rebuild()

    def action_compact(self, instruct: bool = False) -> None:
        """Ask for the compaction dialog."""
        self.post_message(CompactRequested(instruct))

    def on_resize(self) -> None:
        """Lay the rows out for the new width."""
        self._rebuild()

    def notify_style_update(self) -> None:
        """Take the colours of a new theme."""
        super().notify_style_update()
        self._palette.clear()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of rows at `width`."""
        return len(self._build(width))

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        width = self.scrollable_content_region.width - MARGIN
        if width != self._rows_width:
            self._rows, self._rows_width = self._build(width), width
        row = y + self.scroll_offset.y
        pieces = self._rows[row] if row < len(self._rows) else []
        return self._palette.strip(pieces, self.size.width)

    def _build(self, width: int) -> list[Row]:
        if width <= 0:
            return []
        if self.full or width >= _WIDE:
            rows = full_context_rows(self._budget, width, model=self._model, clock=self._clock)
        else:
            rows = context_rows(self._budget, width, groups=_GROUPS)
        return [*rows, key_row(width)] if self.has_focus else rows

    def _rebuild(self) -> None:
        if not self.is_mounted:
            return
        width = self.scrollable_content_region.width - MARGIN
        before = len(self._rows)
        self._rows, self._rows_width = self._build(width), width
        self.virtual_size = Size(width, len(self._rows))
        self.refresh(layout=len(self._rows) != before)

    def _tick(self) -> None:
        if self.is_on_screen and (self.full or self._rows_width >= _WIDE):
            self._rebuild()
