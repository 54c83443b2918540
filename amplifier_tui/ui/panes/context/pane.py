"""The context pane: how full the window is, and who filled it."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.strip import Strip

from amplifier_tui.ui.panes.context.rows import context_rows, full_context_rows, key_row
from amplifier_tui.ui.state.instruments.budget import BudgetState
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.line_view import LineView
from amplifier_tui.ui.widgets.messages import CompactRequested
from amplifier_tui.ui.widgets.styled import Row

_WIDE = 60
_GROUPS = 5


class ContextPane(LineView[Row]):
    """Head, bar, legend and threshold; when wide, everything the report knows.

    `c` shows what compacting would do, `i` with instructions for a summary.
    """

    DEFAULT_CSS = "ContextPane { height: auto; max-height: 100%; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "compact", "Compact", show=False, id="context.preview"),
        Binding(
            "i", "compact(True)", "Compact with instructions", show=False, id="context.instruct"
        ),
    ]

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._clock = clock
        self._budget = BudgetState()
        self._model = ""
        self._versions: tuple[int, int, int] | None = None

    def update_from(self, state: SessionState) -> None:
        """Show the state's budget; cheap when it has not changed."""
        versions = (id(state), state.budget.version, state.facts.version)
        if versions == self._versions:
            return
        self._versions = versions
        self._budget = state.budget
        self._model = state.facts.model
        self.lay_out()

    def on_mount(self) -> None:
        """Keep the age of the number right while the full form is open."""
        self.set_interval(1.0, self._tick)
        self.lay_out()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show the keys while they are heard here."""
        super().watch_has_focus(has_focus)
        self.lay_out()

    def action_compact(self, instruct: bool = False) -> None:
        """Ask for the compaction dialog."""
        self.post_message(CompactRequested(instruct))

    def make_rows(self, width: int) -> list[Row]:
        """Return the compact form or, where there is room, the full one."""
        if width >= _WIDE:
            rows = full_context_rows(self._budget, width, model=self._model, clock=self._clock)
        else:
            rows = context_rows(self._budget, width, groups=_GROUPS)
        return [*rows, key_row(width)] if self.has_focus else rows

    def draw_row(self, row: int, width: int) -> Strip:
        """Draw a row."""
        return self.palette.strip(self.rows[row], width)

    def _tick(self) -> None:
        if self.is_on_screen and self.content_width() >= _WIDE:
            self.lay_out()
