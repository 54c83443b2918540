"""What the event inspector says, as rows of pieces."""

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import HookTraced
from amplifier_tui.ui.panes.events.rows import clock_time, event_role, spoke
from amplifier_tui.ui.panes.inspector.json_tree import Difference, Node, TreeLine, wrap_cells
from amplifier_tui.ui.state.formats import milliseconds
from amplifier_tui.ui.widgets.styled import Role, Row, fit, pieces_width, spread

_INDENT_LIMIT = 40
_VALUE_LIMIT = 2_000


def inspector_head(row: HookTraced, count: int, width: int) -> list[Row]:
    """Return the lines above the payload: what happened, who handled it."""
    times = f" ×{count}" if count > 1 else ""
    facts = [one_line(row.source), one_line(row.agent), one_line(row.verdict)]
    rows: list[Row] = [
        spread(
            [(one_line(row.event), "strong" if event_role(row) == "text" else "alarm")],
            [(times, "muted"), (f" #{row.seq}", "muted")],
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
        role: Role = "text" if spoke(handler) else "muted"
        verdict_role: Role = "warning" if spoke(handler) else "muted"
        if handler.verdict in ("deny", "error"):
            verdict_role = "error"
        data: Row = [(one_line(handler.verdict), verdict_role)]
        data.append((f"{milliseconds(handler.ms):>8}", "muted"))
        rows.append(spread([("└ ", "muted"), (one_line(handler.name), role)], data, width))
        why = handler.error or handler.reason
        if why:
            rows.append([("  ", "muted"), (fit(one_line(why), max(0, width - 2)), "text")])
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
        shown = value[:_VALUE_LIMIT].strip("\n").replace("\n", " ↵ ")
        return (one_line(shown, _VALUE_LIMIT) or '""', "text")
    if value is None:
        return ("null", "muted")
    if isinstance(value, bool):
        return ("true" if value else "false", "accent")
    return (one_line(str(value)), "primary")
