"""What the modules pane says, as rows of pieces."""

import textwrap

from rich.cells import cell_len

from amplifier_tui.base.text import clean, one_line
from amplifier_tui.ui.state.formats import milliseconds, short_model
from amplifier_tui.ui.state.instruments.modules import Modules, ModuleState, ModuleStatus
from amplifier_tui.ui.widgets.styled import Role, Row, fit, pieces_width, spread

_GLYPHS: dict[ModuleState, tuple[str, Role]] = {
    "loading": ("◐", "warning"),
    "ready": ("●", "success"),
    "failed": ("✗", "error"),
}
_MIN_NAME = 14
_WIDE_NAME = 26
_WIDE = 72
_LABEL = 10


def modules_head(modules: Modules, width: int) -> Row:
    """Return the head line: how many are ready, loading, failed."""
    counts: list[tuple[int, str, Role]] = [
        (modules.count("ready"), "ready", "muted"),
        (modules.count("loading"), "loading", "warning"),
        (modules.count("failed"), "failed", "error"),
    ]
    right: Row = []
    for count, word, role in counts:
        if not count:
            continue
        if right:
            right.append((" · ", "muted"))
        number: Role = "text" if role == "muted" else role
        right += [(str(count), number), (f" {word}", role)]
    return spread([("Modules", "head")], right, width)


def module_row(module: ModuleStatus, width: int) -> Row:
    """Return the line of one module."""
    glyph, role = _GLYPHS[module.state]
    name = one_line(module.module_id)
    if module.instance:
        name += f" {one_line(module.instance)}"
    left: Row = [(f"{glyph} ", role), (name, "text")]
    room = max(0, width - pieces_width(left) - 1)
    if width >= _WIDE:
        right = _wide_data(module, width)
    else:
        right = _data(module, max(room, width - 2 - min(len(name), _MIN_NAME) - 1))
    return spread(left, right, width)


def _data(module: ModuleStatus, room: int) -> Row:
    """Return the right column, least important parts left out until it fits."""
    if module.state == "failed":
        return [(fit(failure_word(module), room), "muted")] if room > 4 else []
    if module.state == "loading":
        return [("loading", "muted")] if room >= 7 else []
    wanted: list[Row] = []
    if module.kind == "provider":
        model = short_model(one_line(module.model))
        ms = milliseconds(module.last_ms) if module.last_ms else ""
        both = " ".join(part for part in (model, ms) if part)
        wanted = [[(part, "muted")] for part in (both, model, ms) if part]
    elif module.trouble:
        wanted = [[("handler failed", "warning")], [("failed", "warning")]]
    elif module.calls and module.kind == "tool":
        wanted = [[(f"{_times(module.calls):>5}", "muted")]]
    elif module.calls:
        wanted = [[(_times(module.calls), "muted")]]
    return next((pieces for pieces in wanted if pieces_width(pieces) <= room), [])


def _wide_data(module: ModuleStatus, width: int) -> Row:
    if module.state == "failed":
        # The kind's column, and at least a readable part of the name, are not given up.
        room = width - 2 - min(cell_len(one_line(module.module_id)), _WIDE_NAME) - 1 - 14
        return [(fit(failure_word(module), room), "muted"), (f"  {module.kind:<12}", "muted")]
    cells: Row = []
    if module.state == "loading":
        cells.append(("loading  ", "muted"))
    if module.model:
        cells.append((f"{short_model(one_line(module.model))}  ", "muted"))
    if module.trouble:
        cells.append(("handler failed  ", "warning"))
    cells += [
        (f"{_times(module.calls) if module.calls else '':>6}", "muted"),
        (f"{milliseconds(module.last_ms) if module.last_ms else '':>9}", "muted"),
        (f"  {module.kind:<12}", "muted"),
    ]
    return cells


def _times(calls: int) -> str:
    return f"{calls}×" if calls < 10_000 else f"{calls // 1000}k×"


def failure_word(module: ModuleStatus) -> str:
    """Return what is wrong with a failed module in a few words."""
    if module.missing:
        return f"no {one_line(module.missing[0])}"
    error = one_line(module.error).strip()
    for end in (": ", ". ", "; ", " ("):
        head, _, rest = error.partition(end)
        # `ImportError: No module named x` says more behind its colon.
        if end == ": " and head.replace(".", "").isidentifier() and rest:
            error = rest
            continue
        error = head
    return error.rstrip(".") or "failed"


def module_details(module: ModuleStatus, width: int) -> list[Row]:
    """Return the block that opens under a module's line."""
    lines: list[tuple[str, str, Role]] = [
        ("id", module.module_id, "text"),
        ("kind", module.kind, "text"),
        ("from", module.origin, "text"),
        ("source", module.source, "text"),
        ("version", module.version, "text"),
        ("about", module.detail, "text"),
        ("model", module.model, "text"),
        ("provides", ", ".join(module.provides), "text"),
        ("listens", ", ".join(module.events), "text"),
        ("mounted", f"in {milliseconds(module.mount_ms)}" if module.mount_ms else "", "text"),
        ("calls", _calls(module), "text"),
        ("error", module.error, "error"),
        ("missing", ", ".join(module.missing), "error"),
        ("handler", module.trouble, "warning"),
        ("remedy", module.remedy, "strong"),
        ("so", "the session cannot run without it" if module.fatal else "", "error"),
    ]
    rows: list[Row] = []
    for label, value, role in lines:
        if value:
            rows += _wrapped(label, value, role, width)
    return rows


def _calls(module: ModuleStatus) -> str:
    if not module.calls:
        return ""
    last = f", the latest took {milliseconds(module.last_ms)}" if module.last_ms else ""
    return f"{module.calls}{last}"


def _wrapped(label: str, value: str, role: Role, width: int) -> list[Row]:
    indent = 2 + _LABEL if width >= 30 else 4
    room = max(4, width - indent)
    parts = [
        part
        for line in clean(value).expandtabs(4).split("\n")
        for part in (textwrap.wrap(line, room) or [""])
    ]
    heading: Row = [("  ", "text"), (label, "muted")]
    if width < 30:
        return [heading, *([(" " * indent, "text"), (part, role)] for part in parts)]
    rows: list[Row] = []
    for part in parts:
        prefix = heading if not rows else []
        pad = indent - pieces_width(prefix)
        rows.append([*prefix, (" " * pad, "text"), (part, role)])
    return rows
