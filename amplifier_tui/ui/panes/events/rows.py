"""How one row of the event log reads at a width."""

import textwrap
from datetime import datetime

from rich.cells import cell_len

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import HandlerTrace, HookTraced
from amplifier_tui.ui.state.formats import milliseconds
from amplifier_tui.ui.state.instruments.budget import BudgetState
from amplifier_tui.ui.state.instruments.modules import Modules
from amplifier_tui.ui.widgets.styled import Role, Row, fit, fit_pieces, pieces_width, spread

_VERDICTS: dict[str, Role] = {
    "deny": "error",
    "error": "error",
    "ask_user": "warning",
    "modify": "accent",
    "inject_context": "primary",
}
_MARKS = {"deny": "✗", "error": "!", "ask_user": "?", "modify": "~", "inject_context": "+"}
"""Verdicts in a narrow row: a mark before the time; letting pass has none."""
_OF_A_MODULE = "module:"
"""How events begin that are about the module they name and nothing else."""
_LEGIBLE = 6
"""Cells in which a module's id, cut, still says something."""
_MS = 6
_NOTABLE_MS = 1.0
_LONG_TIME = 56
_WIDE = 84
_LANE_WIDTH = 12
_NAME_WIDTH = 24
"""Cells in which nearly every event's name can be read, and the space after it."""
_HANDLERS_WIDTH = 14
"""Cells that the handlers keep of theirs for it."""
_VERDICT_WIDTH = 10
_SOURCE_WIDTH = 16


@dataclass(frozen=True, slots=True)
class EventLayout:
    """What fits into `width` cells; `lanes` shows the lane column in the wide form."""

    width: int
    lanes: bool = False

    @property
    def wide(self) -> bool:
        """One line with all columns; else handlers with something to say get child lines."""
        return self.width >= _WIDE


def spoke(handler: HandlerTrace) -> bool:
    """Return True when a handler did more than let the event pass."""
    return handler.verdict not in ("continue", "")


def event_row(row: HookTraced, count: int, layout: EventLayout, previous: float | None) -> Row:
    """Return the line of `count` events; `previous` is the time of the row above, if any."""
    if layout.wide:
        return _wide(row, count, layout, previous)
    width = layout.width
    stamp = clock_time(row.at) if width >= _LONG_TIME else clock_time(row.at)[-6:]
    left: Row = [(f"{stamp} ", "muted")] if width >= 24 else []
    ms = _took(row) if width >= 18 else ""
    source = one_line(row.source)
    name = one_line(row.event)
    times = f" ×{count}" if count > 1 else ""
    mark = _MARKS.get(row.verdict, "")
    room = width - pieces_width(left) - (len(ms) + 1 if ms else 0) - (2 if mark else 0)
    about = f" {source}" if source and name.startswith(_OF_A_MODULE) else ""
    if cell_len(name + times + about) > room:
        # An empty column, or the empty part of it, is the name's.
        short = ms.strip()
        room += len(ms) - len(short) + (ms != "" and not short)
        ms = short
    if source and cell_len(name) + len(times) + cell_len(source) + 1 > room:
        bare = name.removeprefix(_OF_A_MODULE)
        left_over = room - cell_len(bare + times) - 1
        legible = about and left_over >= min(_LEGIBLE, cell_len(source))
        name, source = (bare, fit(source, left_over)) if legible else (name, "")
    gap = " " if mark or ms else ""
    right: Row = [(f"{source}{gap}" if source else "", "muted")]
    right += [(f"{mark} " if mark else "", _VERDICTS.get(row.verdict, "muted")), (ms, "muted")]
    taken = cell_len(source) + 1 if source else 0
    return spread(left + _name(row, name, times, room - taken), right, width)


def handler_row(handler: HandlerTrace, layout: EventLayout) -> Row:
    """Return the child line of a handler that spoke."""
    verdict = one_line(handler.verdict)
    indent = "       └ " if layout.width >= 30 else " └ "
    if layout.width >= _LONG_TIME:
        indent = " " * 6 + indent
    left: Row = [(indent, "muted"), (one_line(handler.label), "muted")]
    why = one_line(handler.error or handler.reason or "")
    right: Row = [(verdict, _VERDICTS.get(handler.verdict, "accent"))]
    if why and layout.width >= _LONG_TIME:
        room = layout.width - pieces_width(left) - cell_len(verdict) - 3
        left.append((f"  {fit(why, max(0, room))}", "muted"))
    return spread(left, right, layout.width)


def clock_time(at: float) -> str:
    """Return the local time of day as `12:04:07.311`."""
    try:
        return datetime.fromtimestamp(at).strftime("%H:%M:%S.%f")[:-3]
    except (OverflowError, OSError, ValueError):
        return "--:--:--.---"


def why_empty(shown: Modules | BudgetState, words: str) -> str:
    """Return what a pane says that has nothing to show; `words` where there is nothing as yet."""
    if not shown.known:
        return "Known only since the resume"
    return "Known only where it is open" if shown.elsewhere else words


def past_row(title: str, moment: float, width: int) -> Row:
    """Return the banner of a pane that shows a past moment, in Unix seconds."""
    words = f"as of {clock_time(moment)[:8]}"
    esc: Row = [("esc", "strong"), (" now", "muted")]
    return spread([(title, "head"), (f" {words}", "warning")], esc, width)


def _name(row: HookTraced, name: str, times: str, room: int) -> Row:
    return [(fit(name, max(0, room - len(times))), event_role(row)), (times, "muted")]


def event_role(row: HookTraced) -> Role:
    """Return the colour of an event's name: only what wants attention has one."""
    if row.verdict in ("deny", "error") or row.event.endswith((":error", "_failed", "_aborted")):
        return "error"
    if row.event == "approval:granted":
        return "success"
    return "warning" if row.event.startswith(("approval:", "policy:", "cancel:")) else "text"


def _wide(row: HookTraced, count: int, layout: EventLayout, previous: float | None) -> Row:
    delta = "" if previous is None else _difference(row.at - previous)
    cells: Row = [(clock_time(row.at), "muted"), (f"{delta:>8}", "muted"), ("  ", "muted")]
    if layout.lanes:
        cells += _cell(one_line(row.agent), _LANE_WIDTH, "muted")
    fixed = pieces_width(cells) + _SOURCE_WIDTH + _VERDICT_WIDTH + 8
    rest = layout.width - fixed
    event_width = min(30, max(18, rest // 2, min(_NAME_WIDTH, rest - _HANDLERS_WIDTH)))
    times = f" ×{count}" if count > 1 else ""
    source = one_line(row.source)
    # Where nothing stands in the next column, that is the name's, too.
    both = event_width + (0 if source else _SOURCE_WIDTH)
    name = _name(row, one_line(row.event), times, both - 2)
    cells += [*name, (" " * (both - pieces_width(name)), "text")]
    cells += _cell(source, _SOURCE_WIDTH, "muted") if source else []
    # `inject` says it; the handler's own words follow in the last column.
    verdict = one_line(row.verdict).removesuffix("_context")
    cells += _cell(verdict, _VERDICT_WIDTH, _VERDICTS.get(row.verdict, "muted"))
    cells += [(_took(row), "muted"), ("  ", "muted")]
    return fit_pieces([*cells, *_handlers(row)], layout.width)


def _took(row: HookTraced) -> str:
    """The column of durations; what took less than a millisecond is told by the inspector."""
    return f"{milliseconds(row.duration_ms) if row.duration_ms >= _NOTABLE_MS else '':>{_MS}}"


def _cell(text: str, width: int, role: Role) -> Row:
    cut = fit(text, width - 2)
    return [(cut + " " * (width - cell_len(cut)), role)]


def _difference(seconds: float) -> str:
    if abs(seconds) < 0.0005:
        return "+0"
    if abs(seconds) < 9.9995:
        return f"{seconds:+.3f}"
    if abs(seconds) < 9999.5:
        return f"{seconds:+.1f}" if abs(seconds) < 999.95 else f"{seconds:+.0f}"
    return ">+2 h" if seconds > 0 else "<−2 h"


def _handlers(row: HookTraced) -> Row:
    """Return the handlers: those that spoke first, with what they said."""
    pieces: Row = []
    for handler in sorted(row.handlers, key=lambda h: not spoke(h)):
        if pieces:
            pieces.append((", ", "muted"))
        pieces.append((one_line(handler.label), "text" if spoke(handler) else "muted"))
        if spoke(handler):
            verdict = one_line(handler.verdict)
            pieces.append((f" {verdict}", _VERDICTS.get(handler.verdict, "accent")))
            why = one_line(handler.error or handler.reason or "")
            pieces.append((f" {why}" if why else "", "muted"))
    return pieces


def empty_words(width: int, *, filtered: bool) -> list[str]:
    """Return why no event is shown, or (`filtered`) none passes, in lines of `width` cells."""
    if filtered:
        return [fit("No event passes the filter", width)]
    words = "No events yet — they appear when a turn starts"
    lines = textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False)
    return [fit(line, width) for line in lines]
