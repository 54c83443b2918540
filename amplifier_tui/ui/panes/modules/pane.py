"""The modules pane: what is mounted, what it did, and what is wrong with the rest."""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from amplifier_tui.ui.panes.modules.rows import Row, module_details, module_row, modules_head
from amplifier_tui.ui.state.instruments.module_info import ModuleStatus
from amplifier_tui.ui.state.instruments.modules import Modules
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.messages import CopyRequested
from amplifier_tui.ui.widgets.styled import (
    MARGIN,
    PAINT_CLASSES,
    PAINT_CSS,
    SCROLL_CSS,
    Palette,
    fit,
)


@dataclass(frozen=True, slots=True)
class _Line:
    """One line below the head: a module's own, or one of its open details."""

    key: str
    row: Row
    own: bool


class ModulesPane(ScrollView, can_focus=True):
    """A pinned head over one line per module; Enter opens the details of one in place."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = PAINT_CLASSES
    DEFAULT_CSS = f"""
    ModulesPane {{
        height: auto;
        max-height: 100%;
        background: $surface;
        color: $foreground;
        {SCROLL_CSS}
        {PAINT_CSS}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Down", show=False, id="modules.down"),
        Binding("k,up", "move(-1)", "Up", show=False, id="modules.up"),
        Binding("g,home", "move_to(0)", "First", show=False, id="modules.first"),
        Binding("G,end", "move_to(-1)", "Last", show=False, id="modules.last"),
        Binding("enter,space", "details", "Details", id="modules.details"),
        Binding("y", "copy", "Copy", id="modules.copy"),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._palette = Palette(self)
        self._modules = Modules()
        self._versions: tuple[int, int] | None = None
        self._open: set[str] = set()
        self._cursor = ""
        self._lines: list[_Line] = []
        self._laid_out = 0

    @property
    def cursor(self) -> ModuleStatus | None:
        """The module the cursor is on."""
        return self._modules.by_key.get(self._cursor)

    @property
    def open_details(self) -> frozenset[str]:
        """Keys of the modules whose details are open."""
        return frozenset(self._open)

    def update_from(self, state: SessionState) -> None:
        """Show the state's modules; cheap when they have not changed."""
        versions = (id(state), state.modules.version)
        if versions != self._versions:
            self._versions = versions
            self._modules = state.modules
            self._rebuild()

    def on_mount(self) -> None:
        """Draw the empty state."""
        self._rebuild()

    def on_resize(self) -> None:
        """Lay the lines out for the new width."""
        self._rebuild()

    def notify_style_update(self) -> None:
        """Take the colours of a new theme."""
        super().notify_style_update()
        self._palette.clear()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines at `width`, the head included."""
        return 1 + len(self._build(width))

    def render_line(self, y: int) -> Strip:
        """Draw one line of the viewport; the first one is the head."""
        width = self.size.width
        content = self.scrollable_content_region.width - MARGIN
        if content != self._laid_out:
            self._lines, self._laid_out = self._build(content), content
        if y == 0:
            return self._palette.strip(modules_head(self._modules, content), width)
        index = y - 1 + self.scroll_offset.y
        if index >= len(self._lines):
            return self._palette.strip([], width)
        line = self._lines[index]
        on_cursor = self.has_focus and line.own and line.key == self._cursor
        return self._palette.strip(line.row, width, cursor=on_cursor)

    # --- keys and mouse --------------------------------------------------------------------

    def on_focus(self) -> None:
        """Put the cursor on the first module."""
        if not self._cursor and self._lines:
            self._cursor = self._lines[0].key
        self.refresh()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Open or close the module that was clicked."""
        index = event.y - 1 + self.scroll_offset.y
        if event.y > 0 and 0 <= index < len(self._lines):
            self._cursor = self._lines[index].key
            self.action_details()

    def action_move(self, by: int) -> None:
        """Move the cursor by modules."""
        keys = self._keys()
        if not keys:
            return
        if self._cursor not in keys:
            self._put_cursor(keys[0])
            return
        index = keys.index(self._cursor) + by
        self._put_cursor(keys[min(len(keys) - 1, max(0, index))])

    def action_move_to(self, index: int) -> None:
        """Move the cursor to the first (0) or last (-1) module."""
        keys = self._keys()
        if keys:
            self._put_cursor(keys[index])

    def action_details(self) -> None:
        """Open or close the details of the module under the cursor."""
        if self._cursor in self._modules.by_key:
            self._open ^= {self._cursor}
            self._rebuild()
            self._show_cursor()

    def action_copy(self) -> None:
        """Copy what is known about the module under the cursor."""
        module = self.cursor
        if module is None:
            return
        rows = module_details(module, 1000)
        text = "\n".join("".join(part for part, _ in row).strip() for row in rows)
        self.post_message(CopyRequested(text, "module"))

    # --- lines -----------------------------------------------------------------------------

    def _keys(self) -> list[str]:
        return [line.key for line in self._lines if line.own]

    def _put_cursor(self, key: str) -> None:
        self._cursor = key
        self._show_cursor()
        self.refresh()

    def _show_cursor(self) -> None:
        """Scroll so that the cursor's module and its details are visible below the head."""
        at = [index for index, line in enumerate(self._lines) if line.key == self._cursor]
        room = max(1, self.scrollable_content_region.height - 1)
        if at:
            region = Region(0, at[0], 1, min(len(at), room))
            top = self.scroll_offset.y
            if region.y < top:
                self.scroll_to(y=region.y, animate=False, force=True)
            elif region.bottom > top + room:
                self.scroll_to(y=region.bottom - room, animate=False, force=True)

    def _build(self, width: int) -> list[_Line]:
        if width <= 0:
            return []
        lines: list[_Line] = []
        for module in self._modules.ordered():
            lines.append(_Line(module.key, module_row(module, width), own=True))
            if module.key in self._open:
                details = module_details(module, width)
                lines += [_Line(module.key, row, own=False) for row in details]
        if not lines:
            lines.append(_Line("", [(fit("None mounted yet", width), "muted")], own=False))
        return lines

    def _rebuild(self) -> None:
        if not self.is_mounted:
            return
        self._open &= self._modules.by_key.keys()
        width = self.scrollable_content_region.width - MARGIN
        before = len(self._lines)
        self._lines, self._laid_out = self._build(width), width
        if self._cursor not in self._modules.by_key:
            keys = self._keys()
            self._cursor = keys[0] if keys and self.has_focus else ""
        self.virtual_size = Size(width, 1 + len(self._lines))
        self.refresh(layout=len(self._lines) != before)
