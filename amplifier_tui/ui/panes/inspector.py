"""The event inspector: one event's handlers and payload, foldable."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import HookTraced
from amplifier_tui.ui.panes.events.rows import clock_time, event_role, spoke
from amplifier_tui.ui.panes.json_tree import (
    Difference,
    JsonTree,
    Node,
    TreeLine,
    differences,
    parse_json,
    wrap_cells,
)
from amplifier_tui.ui.state.formats import milliseconds
from amplifier_tui.ui.widgets.line_view import LineView, cursor_bindings
from amplifier_tui.ui.widgets.messages import CopyRequested, InspectorClosed
from amplifier_tui.ui.widgets.styled import Role, Row, fit, pieces_width, spread
from amplifier_tui.ui.widgets.text_lines import LINE_END

DISPLAY_LIMIT = 64 * 1024
"""Characters of a payload that are shown; copies take all that is here."""

View = Literal["payload", "changes"]


_InspectorLine = Row | TreeLine
"""A line of the view: made already, or one of the tree, which is drawn when it is seen."""


class EventInspector(LineView[_InspectorLine]):
    """Shows one event: its payload, or (`=`) what hooks changed in it."""

    DEFAULT_CSS = "EventInspector { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        *cursor_bindings("inspector"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="inspector.page_down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="inspector.page_up"),
        Binding("enter,space", "fold", "Fold", id="inspector.fold"),
        Binding("l,right", "open", "Open", show=False, id="inspector.open"),
        Binding("h,left", "shut", "Close", show=False, id="inspector.shut"),
        Binding("y", "copy", "Copy value", id="inspector.copy"),
        Binding("Y", "copy_path", "Copy path", id="inspector.copy_path"),
        Binding("equals_sign", "changes", "Before/after", id="inspector.changes"),
        Binding("escape", "close", "Close", id="inspector.close"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._event: HookTraced | None = None
        self._payload = ""
        self._to_payload = False
        self._tree: JsonTree | None = None
        self.view: View = "payload"

    @property
    def seq(self) -> int | None:
        """Position in the session's log of the event that is shown."""
        return self._event.seq if self._event is not None else None

    def show(self, event: HookTraced) -> None:
        """Show an event of the log."""
        self._event = event
        self.view = "payload"
        self._take(event.data)

    def set_payload(self, seq: int, payload: str) -> None:
        """Show the full payload, fetched from disk; ignored when another event is shown."""
        if seq == self.seq and payload:
            self._take(payload)

    def on_click(self, event: events.Click) -> None:
        """Fold what was clicked."""
        row = self.clicked_row()
        if row is not None:
            self.cursor_row = row
            self.action_fold()

    def action_fold(self) -> None:
        """Open or close the value under the cursor."""
        line = self._line_at_cursor()
        if line is not None and self._tree is not None:
            self._tree.toggle(line)
            self._go_to(line)

    def action_open(self) -> None:
        """Open the value under the cursor; go into it when it is open."""
        line = self._line_at_cursor()
        if line is not None and (line.rest or (line.node.folds and not line.node.expanded)):
            self.action_fold()
        elif line is not None and line.node.folds and line.part is None:
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
            self._go_to(TreeLine(node))

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
            self.cursor_row = 0
            self.lay_out()

    def action_close(self) -> None:
        """Say that the user is done."""
        self.post_message(InspectorClosed())

    def _make_rows(self, width: int) -> list[_InspectorLine]:
        return [*self._above(width), *self._body(width)]

    def _identity(self, row: _InspectorLine) -> TreeLine | None:
        return row if isinstance(row, TreeLine) else None

    def _draw_row(self, row: int, width: int) -> Strip:
        line = self.rows[row]
        pieces = tree_row(line, self.content_width()) if isinstance(line, TreeLine) else line
        return self.palette.strip(pieces, width, cursor=self.is_at_cursor(row))

    def _take(self, payload: str) -> None:
        self._payload = payload
        value, whole = parse_json(payload) if len(payload) <= DISPLAY_LIMIT else (None, False)
        self._tree = JsonTree(value) if whole else None
        self._to_payload = True
        self.lay_out()

    def lay_out(self) -> None:
        """Make the lines anew; for a new payload, with the cursor on its first line."""
        super().lay_out()
        if self._to_payload and self.rows:
            self._to_payload = False
            self.scroll_home(animate=False)
            lines = enumerate(self.rows)
            self.put_cursor(next((at for at, line in lines if isinstance(line, TreeLine)), 0))

    def _above(self, width: int) -> list[Row]:
        event = self._event
        if event is None:
            return [[(fit("Enter on an event shows it here", width), "muted")]]
        rows = inspector_head(event, width)
        if event.changed:
            words = "payload · = shows what hooks changed"
            if self.view == "changes":
                words = "changed by hooks · = shows the payload"
            rows.append([(fit(words, width), "muted")])
        size = max(event.size, len(self._payload))
        if self.view == "payload" and len(self._payload) < size:
            held = f"the first {len(self._payload)} of {size} characters"
            words = held if self._payload else f"payload of {size} characters is on disk"
        elif self.view == "payload" and len(self._payload) > DISPLAY_LIMIT:
            words = f"{size} characters, the first {DISPLAY_LIMIT} are shown"
        else:
            return rows
        return [*rows, [(fit(words, width), "warning")]]

    def _body(self, width: int) -> Sequence[_InspectorLine]:
        event = self._event
        if event is None:
            return []
        if self.view == "changes":
            before, known = parse_json(self._payload)
            after, valid = parse_json(event.changed)
            if known and valid:
                return difference_rows(differences(before, after), width)
            return [[("after", "key")], *text_rows(event.changed, width)]
        if self._tree is None:
            return text_rows(self._payload[:DISPLAY_LIMIT], width)
        return self._tree.lines(width)

    def _line_at_cursor(self) -> TreeLine | None:
        row = self.cursor_row
        return self._identity(self.rows[row]) if 0 <= row < len(self.rows) else None

    def _go_to(self, wanted: TreeLine) -> None:
        """Make the rows anew and go to a line of a node, else to the node's first one."""
        self.lay_out()
        row = self.find_row(wanted)
        if row < 0:
            lines = ((at, self._identity(line)) for at, line in enumerate(self.rows))
            row = next((at for at, line in lines if line and line.node is wanted.node), -1)
        if row >= 0:
            self.put_cursor(row)


_HANDLER_ROLES: tuple[tuple[Role, Role], ...] = (("muted", "muted"), ("text", "warning"))
"""Of a handler's name and verdict, if it was silent and if it spoke."""
_INDENT_LIMIT = 40
_VALUE_LIMIT = 2_000


def inspector_head(row: HookTraced, width: int) -> list[Row]:
    """Return the lines above the payload: what happened, who handled it."""
    facts = [one_line(row.source), one_line(row.agent), one_line(row.verdict)]
    rows: list[Row] = [
        spread(
            [(one_line(row.event), "strong" if event_role(row) == "text" else "alarm")],
            [(f" #{row.seq}", "muted")],
            width,
        ),
        spread(
            [(" · ".join(fact for fact in facts if fact), "muted")],
            [(f"{clock_time(row.at)}  {milliseconds(row.duration_ms):>6}", "muted")],
            width,
        ),
    ]
    if row.handlers:
        rows.append([])
    for handler in row.handlers:
        role, verdict_role = _HANDLER_ROLES[spoke(handler)]
        if handler.verdict in ("deny", "error"):
            verdict_role = "error"
        data: Row = [(one_line(handler.verdict), verdict_role)]
        data.append((f"{milliseconds(handler.ms):>8}", "muted"))
        rows.append(spread([("└ ", "muted"), (one_line(handler.label), role)], data, width))
        why = one_line(handler.problem or handler.reason or "")
        # The place in a module's code stands at the end of what went wrong.
        lines = wrap_cells(why, max(1, width - 2)) if handler.error else [fit(why, width - 2)]
        rows += [[("  ", "muted"), (line, "text")] for line in lines if line]
    rows.append([])
    return rows


def tree_row(line: TreeLine, width: int) -> Row:
    """Return one line of the JSON tree."""
    node = line.node
    if line.rest:
        indent = "  " * min(node.depth, _INDENT_LIMIT)
        return [(fit(f"{indent}  … {line.rest} more, enter shows them", width), "primary")]
    indent = "  " * min(max(0, node.depth - 1), _INDENT_LIMIT)
    if line.part is not None:
        return [(indent + "    ", "muted"), (line.part, "text")]
    glyph = ("▾ " if node.expanded else "▸ ") if node.folds else "  "
    pieces: Row = [(indent + glyph, "muted")]
    if node.key is not None:
        key = str(node.key) if isinstance(node.key, int) else one_line(node.key)
        pieces += [(key, "key"), (": " if not node.is_container else " ", "muted")]
    room = max(1, width - pieces_width(pieces))
    value, role = _value(node)
    pieces.append((fit(value, room), role))
    return pieces


def difference_rows(found: list[Difference], width: int) -> list[Row]:
    """Return what a hook changed: the path, then the value before and after."""
    rows: list[Row] = []
    for change in found:
        rows.append([(one_line(change.path) or "payload", "key")])
        if change.before is not None:
            rows += _signed("−", change.before, "error", width)
        if change.after is not None:
            rows += _signed("+", change.after, "success", width)
        rows.append([])
    return rows or [[("Before and after are the same", "muted")]]


def text_rows(text: str, width: int) -> list[Row]:
    """Return a payload that is no JSON, wrapped as it is."""
    return [[(part, "text")] for part in wrap_cells(text, width)]


def _signed(sign: str, value: str, role: Role, width: int) -> list[Row]:
    rows = text_rows(value[:_VALUE_LIMIT], max(1, width - 2))
    marked: list[Row] = [
        [(f"{sign} " if index == 0 else "  ", role), (row[0][0], role)]
        for index, row in enumerate(rows)
    ]
    if len(value) > _VALUE_LIMIT:
        marked.append([(f"  … {len(value) - _VALUE_LIMIT} characters more", "muted")])
    return marked


def _value(node: Node) -> tuple[str, Role]:
    value = node.value
    if isinstance(value, dict):
        return (f"{{{len(value)}}}" if value else "{}", "muted")
    if isinstance(value, list):
        return (f"[{len(value)}]" if value else "[]", "muted")
    if isinstance(value, str):
        if node.is_text and node.expanded:
            return (f"{len(value)} characters", "muted")
        # A line break inside a value is seen: two commands never read as one.
        shown = value[:_VALUE_LIMIT].strip("\n").replace("\n", f" {LINE_END} ")
        return (one_line(shown, _VALUE_LIMIT) or '""', "text")
    if value is None:
        return ("null", "muted")
    if isinstance(value, bool):
        return ("true" if value else "false", "accent")
    return (one_line(str(value)), "primary")
