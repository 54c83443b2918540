"""The event inspector: one event's handlers and payload, foldable."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from amplifier_tui.host.events import HookTraced
from amplifier_tui.ui.panes.inspector.json_tree import JsonTree, TreeLine, differences, parse_json
from amplifier_tui.ui.panes.inspector.rows import (
    Row,
    difference_rows,
    inspector_head,
    text_rows,
    tree_row,
)
from amplifier_tui.ui.widgets.messages import CopyRequested, InspectorClosed
from amplifier_tui.ui.widgets.styled import (
    MARGIN,
    PAINT_CLASSES,
    PAINT_CSS,
    SCROLL_CSS,
    Palette,
    fit,
)

DISPLAY_LIMIT = 64 * 1024
"""Characters of a payload that are shown; copies take all that is here."""

View = Literal["payload", "changes"]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the view: made already, or a line of the tree to be drawn when it is seen."""

    row: Row | None = None
    tree: TreeLine | None = None


class EventInspector(ScrollView, can_focus=True):
    """Shows the event given to `show`.

    `j` `k` move, Enter folds, `h` `l` close and open, `y` copies the value, `Y` its path, `=`
    switches between the payload and what hooks changed in it, Esc closes.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES = PAINT_CLASSES
    DEFAULT_CSS = f"""
    EventInspector {{
        height: 1fr;
        background: $surface;
        color: $foreground;
        {SCROLL_CSS}
        {PAINT_CSS}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Down", show=False, id="inspector.down"),
        Binding("k,up", "move(-1)", "Up", show=False, id="inspector.up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="inspector.page_down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="inspector.page_up"),
        Binding("g,home", "move_to(0)", "First", show=False, id="inspector.first"),
        Binding("G,end", "move_to(-1)", "Last", show=False, id="inspector.last"),
        Binding("enter,space", "fold", "Fold", id="inspector.fold"),
        Binding("l,right", "open", "Open", show=False, id="inspector.open"),
        Binding("h,left", "shut", "Close", show=False, id="inspector.shut"),
        Binding("y", "copy", "Copy value", id="inspector.copy"),
        Binding("Y", "copy_path", "Copy path", id="inspector.copy_path"),
        Binding("equals_sign", "changes", "Before/after", id="inspector.changes"),
        Binding("escape", "close", "Close", id="inspector.close"),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._palette = Palette(self)
        self._event: HookTraced | None = None
        self._count = 1
        self._payload = ""
        self._tree: JsonTree | None = None
        self._lines: list[_Line] = []
        self._laid_out = 0
        self._cursor = 0
        self.view: View = "payload"

    @property
    def seq(self) -> int | None:
        """Position in the session's log of the event that is shown."""
        return self._event.seq if self._event is not None else None

    def show(self, event: HookTraced, count: int = 1) -> None:
        """Show an event.

        Args:
            event: As it is in the ring; its payload may be cut off or have left memory.
            count: How many events the row stands for.
        """
        self._event = event
        self._count = count
        self.view = "payload"
        self._take(event.data)

    def set_payload(self, seq: int, payload: str) -> None:
        """Show the full payload, fetched from disk; ignored when another event is shown."""
        if seq == self.seq and payload:
            self._take(payload)

    def on_resize(self) -> None:
        """Lay the lines out for the new width."""
        self._rebuild()

    def notify_style_update(self) -> None:
        """Take the colours of a new theme."""
        super().notify_style_update()
        self._palette.clear()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the viewport."""
        width = self.size.width
        index = y + self.scroll_offset.y
        if index >= len(self._lines):
            return self._palette.strip([], width)
        line = self._lines[index]
        at_cursor = self.has_focus and index == self._cursor
        return self._palette.strip(self._row(line), width, cursor=at_cursor)

    # --- keys and mouse --------------------------------------------------------------------

    def on_focus(self) -> None:
        """Show the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Fold what was clicked."""
        index = event.y + self.scroll_offset.y
        if 0 <= index < len(self._lines):
            self._cursor = index
            self.action_fold()

    def action_move(self, by: int) -> None:
        """Move the cursor by lines."""
        self._put_cursor(self._cursor + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by pages."""
        self._put_cursor(self._cursor + by * max(1, self.size.height - 1))

    def action_move_to(self, index: int) -> None:
        """Move the cursor to the first (0) or last (-1) line."""
        self._put_cursor(index if index >= 0 else len(self._lines) + index)

    def action_fold(self) -> None:
        """Open or close the value under the cursor."""
        line = self._line_at_cursor()
        if line is not None and self._tree is not None:
            self._tree.toggle(line)
            self._rebuild(keep=line)

    def action_open(self) -> None:
        """Open the value under the cursor; go into it when it is open."""
        line = self._line_at_cursor()
        if line is None:
            return
        if line.rest or (line.node.folds and not line.node.expanded):
            self.action_fold()
        elif line.node.folds and line.part is None:
            self.action_move(1)

    def action_shut(self) -> None:
        """Close the value under the cursor, or go to the one it is in."""
        line = self._line_at_cursor()
        if line is None or self._tree is None:
            return
        node = line.node
        if line.part is None and not line.rest and not (node.folds and node.expanded):
            parent = node.parent
            if parent is not None and parent.parent is not None:
                self._go_to(TreeLine(parent))
            return
        if node.parent is not None:
            node.expanded = False
            self._rebuild(keep=TreeLine(node))

    def action_copy(self) -> None:
        """Copy the value under the cursor; above the payload, the whole of it."""
        line = self._line_at_cursor()
        if line is not None and not line.rest:
            self.post_message(CopyRequested(line.node.text(), "value"))
        elif self._payload:
            self.post_message(CopyRequested(self._payload, "payload"))

    def action_copy_path(self) -> None:
        """Copy where the value under the cursor is."""
        line = self._line_at_cursor()
        if line is not None and line.node.path():
            self.post_message(CopyRequested(line.node.path(), "path"))

    def action_changes(self) -> None:
        """Show what hooks changed in the payload, or the payload again."""
        if self._event is not None and self._event.changed:
            self.view = "changes" if self.view == "payload" else "payload"
            self._cursor = 0
            self._rebuild()

    def action_close(self) -> None:
        """Say that the user is done."""
        self.post_message(InspectorClosed())

    # --- lines -----------------------------------------------------------------------------

    def _take(self, payload: str) -> None:
        self._payload = payload
        value, whole = parse_json(payload) if len(payload) <= DISPLAY_LIMIT else (None, False)
        self._tree = JsonTree(value) if whole else None
        self._rebuild()
        self.scroll_home(animate=False)
        self._put_cursor(next((i for i, line in enumerate(self._lines) if line.tree), 0))

    def _rebuild(self, keep: TreeLine | None = None) -> None:
        if not self.is_mounted:
            return
        width = max(1, self.scrollable_content_region.width - MARGIN)
        self._laid_out = width
        self._lines = [_Line(row=row) for row in self._above(width)]
        self._lines += self._body(width)
        self.virtual_size = Size(width, len(self._lines))
        if keep is not None:
            self._go_to(keep)
        self._put_cursor(self._cursor)

    def _above(self, width: int) -> list[Row]:
        event = self._event
        if event is None:
            return [[(fit("Enter on an event shows it here", width), "muted")]]
        rows = inspector_head(event, self._count, width)
        if self.view == "changes":
            rows.append([(fit("changed by hooks · = shows the payload", width), "muted")])
        elif event.changed:
            rows.append([(fit("payload · = shows what hooks changed", width), "muted")])
        size = max(event.size, len(self._payload))
        if self.view == "payload" and len(self._payload) < size:
            held = f"the first {len(self._payload)} of {size} characters"
            words = held if self._payload else f"payload of {size} characters is on disk"
            rows.append([(fit(words, width), "warning")])
        elif self.view == "payload" and len(self._payload) > DISPLAY_LIMIT:
            words = f"{size} characters, the first {DISPLAY_LIMIT} are shown"
            rows.append([(fit(words, width), "warning")])
        return rows

    def _body(self, width: int) -> list[_Line]:
        event = self._event
        if event is None:
            return []
        if self.view == "changes":
            before, known = parse_json(self._payload)
            after, valid = parse_json(event.changed)
            if known and valid:
                rows = difference_rows(differences(before, after), width)
            else:
                rows = [[("after", "key")], *text_rows(event.changed, width)]
            return [_Line(row=row) for row in rows]
        if self._tree is None:
            return [_Line(row=row) for row in text_rows(self._payload[:DISPLAY_LIMIT], width)]
        return [_Line(tree=line) for line in self._tree.lines(width)]

    def _row(self, line: _Line) -> Row:
        if line.tree is not None:
            return tree_row(line.tree, self._laid_out)
        return line.row or []

    def _line_at_cursor(self) -> TreeLine | None:
        if 0 <= self._cursor < len(self._lines):
            return self._lines[self._cursor].tree
        return None

    def _go_to(self, wanted: TreeLine) -> None:
        """Put the cursor on a line of a node: the one meant, else the node's own."""
        own = None
        for index, line in enumerate(self._lines):
            if line.tree is None or line.tree.node is not wanted.node:
                continue
            if line.tree == wanted:
                self._put_cursor(index)
                return
            own = index if own is None else own
        if own is not None:
            self._put_cursor(own)

    def _put_cursor(self, index: int) -> None:
        self._cursor = min(max(0, index), max(0, len(self._lines) - 1))
        top, height = self.scroll_offset.y, max(1, self.size.height)
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False, force=True, immediate=True)
        elif self._cursor >= top + height:
            self.scroll_to(y=self._cursor - height + 1, animate=False, force=True, immediate=True)
        self.refresh()
