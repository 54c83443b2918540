"""The modules pane: what is mounted, what it did, and what is wrong with the rest."""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from amplifier_tui.ui.panes.modules.rows import module_details, module_row, modules_head
from amplifier_tui.ui.state.instruments.modules import Modules, ModuleStatus
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.line_view import LineView, cursor_bindings
from amplifier_tui.ui.widgets.messages import CopyRequested
from amplifier_tui.ui.widgets.styled import Row, fit


@dataclass(frozen=True, slots=True)
class _ModuleLine:
    """One line below the head: a module's own, or one of its open details."""

    key: str
    row: Row
    own: bool


class ModulesPane(LineView[_ModuleLine]):
    """A pinned head over one line per module; Enter opens the details of one in place."""

    PINNED = 1
    DEFAULT_CSS = "ModulesPane { height: auto; max-height: 100%; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        *cursor_bindings("modules"),
        Binding("enter,space", "details", "Details", id="modules.details"),
        Binding("y", "copy", "Copy", id="modules.copy"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._modules = Modules()
        self._versions: tuple[int, int] | None = None
        self._open: set[str] = set()

    @property
    def cursor(self) -> ModuleStatus | None:
        """The module the cursor is on."""
        row = self.cursor_row
        return self._modules.by_key.get(self.rows[row].key) if row >= 0 else None

    def update_from(self, state: SessionState) -> None:
        """Show the state's modules; cheap when they have not changed."""
        versions = (id(state), state.modules.version)
        if versions != self._versions:
            self._versions = versions
            self._modules = state.modules
            self._open &= self._modules.by_key.keys()
            self.lay_out()

    def on_mount(self) -> None:
        """Draw the empty state."""
        self.lay_out()

    def make_rows(self, width: int) -> list[_ModuleLine]:
        """Return a line for each module, and the open details below theirs."""
        lines: list[_ModuleLine] = []
        for module in self._modules.ordered():
            lines.append(_ModuleLine(module.key, module_row(module, width), own=True))
            if module.key in self._open:
                details = module_details(module, width)
                lines += [_ModuleLine(module.key, row, own=False) for row in details]
        none: Row = [(fit("None mounted yet", width), "muted")]
        return lines or [_ModuleLine("", none, own=False)]

    def stops_at(self, row: _ModuleLine) -> bool:
        """Let the cursor be on modules, not on their details."""
        return row.own

    def identity(self, row: _ModuleLine) -> str:
        """Return the module's key."""
        return row.key

    def draw_pinned(self, width: int) -> Strip:
        """Draw the head."""
        return self.palette.strip(modules_head(self._modules, self.content_width()), width)

    def draw_row(self, row: int, width: int) -> Strip:
        """Draw a line below the head."""
        return self.palette.strip(self.rows[row].row, width, cursor=self.is_at_cursor(row))

    def on_click(self, event: events.Click) -> None:
        """Open or close the module that was clicked."""
        row = self.clicked_row(event)
        if row is not None:
            self.cursor_row = self.find_row(self.rows[row].key)
            self.action_details()

    def action_details(self) -> None:
        """Open or close the details of the module under the cursor."""
        if self.cursor is not None:
            self._open ^= {self.cursor.key}
            self.lay_out()
            self.put_cursor(self.cursor_row)

    def put_cursor(self, row: int) -> None:
        """Put the cursor on a module and bring it into view with its details."""
        self.cursor_row = row
        self.show_rows(row, sum(line.key == self.rows[row].key for line in self.rows))
        self.refresh()

    def action_copy(self) -> None:
        """Copy what is known about the module under the cursor."""
        if self.cursor is not None:
            rows = module_details(self.cursor, 1000)
            text = "\n".join("".join(part for part, _ in row).strip() for row in rows)
            self.post_message(CopyRequested(text, "module"))
