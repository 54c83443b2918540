"""Rows of the context pane: how full the window is, and who filled it."""

from collections.abc import Callable
from itertools import groupby
from typing import Final

from amplifier_tui.base.text import one_line, short_count, span
from amplifier_tui.host.events import BudgetChanged, Usage
from amplifier_tui.ui.panes.events.rows import why_empty
from amplifier_tui.ui.state.formats import plural, short_model, spent_words
from amplifier_tui.ui.state.instruments.budget import (
    TOOL_SCHEMAS,
    BudgetState,
    Pressure,
    SourceGroup,
    share_cells,
    source_groups,
    source_label,
)
from amplifier_tui.ui.widgets.styled import Piece, Role, Row, fit, pieces_width, spread

_WIDE = 60
_GROUPS = 5


SLOTS: tuple[tuple[str, Role], ...] = (
    ("█", "primary"),
    ("▓", "accent"),
    ("▒", "success"),
    ("░", "key"),
    ("▄", "muted"),
    ("▌", "success"),
    ("▀", "primary"),
    ("╱", "accent"),
    ("▐", "success"),
    ("╳", "key"),
    ("╲", "muted"),
    ("▂", "primary"),
)
"""Pattern and colour of the sources: no two have one pattern, which is all that tells them apart
without colours. None is red, which is for danger."""

MIXED: Final[tuple[str, Role]] = ("▚", "muted")
"""The cell of all sources that would take less than one, and the line of those put together."""

_ASSUMED: Final = "its window is not known: set window of the bundle's context"
_QUIET: Final = 50
"""Turns that fit, above which nothing is said about them."""

_PRESSURE: dict[Pressure, Role] = {
    "calm": "text",
    "rising": "strong",
    "near": "warning",
    "over": "error",
}


def used_rows(used: Usage, width: int) -> list[Row]:
    """Return what a session has used, and how much of it a cache gave."""
    rows: list[Row] = []
    read, written = used.input_tokens, used.output_tokens
    if read or written:
        parts = [f"used {short_count(read)} in", f"{short_count(written)} out", spent_words(used)]
        if width >= _WIDE and used.reasoning_tokens:
            parts[1] += f", {short_count(used.reasoning_tokens)} of it reasoning"
        rows.append([(fit(" · ".join(filter(None, parts)), width), "muted")])
    if used.cache_read_tokens or used.cache_write_tokens:
        share = 100 * used.cache_read_tokens // max(1, read)
        rows.append([(fit(f"{share}% of the input came from the cache", width), "muted")])
    return rows


def context_rows(budget: BudgetState, width: int, *, groups: int) -> list[Row]:
    """Return the compact form, with so many legend lines (`groups`) at most."""
    report = budget.report
    if report is None:
        return [
            spread([("Context", "head")], [], width),
            [(fit(why_empty(budget, "Nothing counted yet"), width), "muted")],
        ]
    shown = source_groups(report.sources, max(1, groups))
    rows = [head_row(budget, width), _bar(budget, report, shown, width)]
    rows += [_legend(budget, group, report, width) for group in shown]
    return [*rows, _foot(budget, report, width), *_warning(report, width)]


def _warning(report: BudgetChanged, width: int) -> list[Row]:
    return [[(fit(f"! {one_line(report.warning)}", width), "warning")]] if report.warning else []


def full_context_rows(
    budget: BudgetState, width: int, *, model: str, clock: Callable[[], float]
) -> list[Row]:
    """Return the full form, for the maximised pane; `clock` gives Unix seconds."""
    report = budget.report
    if report is None:
        return context_rows(budget, width, groups=len(SLOTS))
    shown = source_groups(report.sources, len(SLOTS))
    origin = "counted by the provider" if report.kind == "usage" else "≈ estimated here"
    age = f"{span(clock() - report.at)} ago" if report.at > 0 else ""
    about = " · ".join(part for part in (short_model(one_line(model)), origin, age) if part)
    rows: list[Row] = [
        head_row(budget, width),
        spread([(about, "muted")], [], width),
        [],
        _bar(budget, report, shown, width),
        [],
    ]
    rows += [_legend(budget, group, report, width, details=True) for group in shown]
    if _below_a_cell(report, shown, width):
        rows.append([MIXED, (" less than a cell each", "muted")])
    free = max(0, report.window - report.total)
    if report.window:
        reserve = f"{short_count(report.reserve)} of it reserved for the answer"
        right: Row = [(f"{reserve}   " if report.reserve else "", "muted")]
        right += [(f"{short_count(free):>6}", "text"), ("     ", "muted")]
        rows.append(spread([("· ", "muted"), ("free", "text")], right, width))
    rows += [[], _foot(budget, report, width)]
    if report.assumed:
        rows += [[(fit(_ASSUMED, width), "muted")]]
    delta = budget.turn_delta
    if report.floor:
        rows.append(
            [(fit(f"no compaction goes below {short_count(report.floor)}", width), "muted")]
        )
    if delta:
        sign = "+" if delta > 0 else "−"
        rows.append([(fit(f"this turn {sign}{short_count(abs(delta))}", width), "muted")])
    rows += _warning(report, width)
    return rows + _members(report, width) + _preview(report, width)


def head_row(budget: BudgetState, width: int) -> Row:
    """Return the first line: what the next request takes of the window."""
    report = budget.report
    if report is None:
        return spread([("Context", "head")], [], width)
    about = "≈ " if report.kind == "estimated" else ""
    right: Row = [
        (about, "muted"),
        (short_count(report.total), _PRESSURE[budget.pressure]),
        (f" of {short_count(report.window)}" if report.window else " tokens", "muted"),
    ]
    percent = budget.percent
    if percent is not None and width >= 48:
        right.append((f"  {percent}%", _PRESSURE[budget.pressure]))
    return spread([("Context", "head")], right, width)


def look_of(budget: BudgetState, label: str) -> tuple[str, Role]:
    """Return pattern and colour of a source; its own for as long as the session is open."""
    slot = budget.slot_of(label)
    return MIXED if slot is None else SLOTS[slot % len(SLOTS)]


def _below_a_cell(report: BudgetChanged, shown: list[SourceGroup], width: int) -> list[SourceGroup]:
    whole = max(1, report.window or report.total)
    return [group for group in shown if group.tokens * width < whole]


def _bar(budget: BudgetState, report: BudgetChanged, shown: list[SourceGroup], width: int) -> Row:
    small = _below_a_cell(report, shown, width)
    own = [group for group in shown if group not in small]
    looks = [*(look_of(budget, group.label) for group in own), MIXED]
    amounts = [*(group.tokens for group in own), sum(group.tokens for group in small)]
    given = share_cells(amounts, report.window or report.total, width)
    cells: list[Piece] = []
    for look, count in zip(looks, given, strict=True):
        cells += [look] * count
    cells += [("·", "muted")] * (width - len(cells))
    if report.trigger and report.window and 0 < report.trigger <= report.window:
        at = min(width - 1, report.trigger * width // report.window)
        if 0 <= at < len(cells):
            cells[at] = ("│", "error")
    return [(text * len(list(same)), role) for (text, role), same in groupby(cells)]


def _legend(
    budget: BudgetState,
    group: SourceGroup,
    report: BudgetChanged,
    width: int,
    *,
    details: bool = False,
) -> Row:
    pattern, role = look_of(budget, group.label)
    percent = round(group.tokens * 100 / max(1, report.total))
    right: Row = [(f"{short_count(group.tokens):>6}", "text"), (f"{percent:>4}%", "muted")]
    if details:
        noun = "tool" if group.label == TOOL_SCHEMAS else "message"
        notes = [plural(group.messages, noun)] if group.messages else []
        if group.compacted:
            notes.append("shortened")
        right.insert(0, (" · ".join(notes) + "   ", "muted"))
    return spread([(f"{pattern} ", role), (one_line(group.label), "text")], right, width)


def _foot(budget: BudgetState, report: BudgetChanged, width: int) -> Row:
    words = f"compacts at {short_count(report.trigger)}" if report.trigger else "never compacts"
    if report.assumed and report.trigger:
        words += " (assumed)"
    left: Row = [(words, "warning" if budget.pressure in ("near", "over") else "muted")]
    if report.turns_left is None or report.turns_left > _QUIET or not report.trigger:
        return spread(left, [], width)
    right: Row = [(f"≈ {plural(report.turns_left, 'turn')}", "muted")]
    fits = pieces_width(left) + pieces_width(right) < width
    return spread(left, right if fits else [], width)


def _members(report: BudgetChanged, width: int) -> list[Row]:
    """The sources one by one, where the legend has put several together."""
    folded = [s for s in report.sources if source_label(s.source) != s.source and s.tokens > 0]
    many = source_groups(report.sources, len(SLOTS))
    if many and many[-1].members > 1:
        named = {group.label for group in many}
        folded += [s for s in report.sources if source_label(s.source) not in named]
    if len(folded) < 2:
        return []
    seen = dict.fromkeys(sorted(folded, key=lambda source: -source.tokens))
    rows: list[Row] = [[], [("Of which", "head")]]
    for source in seen:
        right: Row = [(f"{short_count(source.tokens):>6}", "muted"), ("     ", "muted")]
        rows.append(spread([("  ", "text"), (one_line(source.source), "muted")], right, width))
    return rows


_BECOME: Final = {
    **dict.fromkeys(("truncate", "stub", "squeeze"), "shortened"),
    "drop": "left out",
    "summary": "summarised",
}


def become(action: str) -> str:
    """Return what messages have become after a step of a compaction."""
    return _BECOME.get(action, one_line(action, 20))


def _preview(report: BudgetChanged, width: int) -> list[Row]:
    """What a compaction would do now."""
    if not report.preview:
        return []
    saved = sum(step.before - step.after for step in report.preview)
    right: Row = [(f"−{short_count(max(0, saved))}", "text")]
    rows: list[Row] = [[], spread([("If compacted now", "head")], right, width)]
    for step in report.preview:
        what = f"{plural(step.rows, 'message')} {become(step.action)}"
        words = f"{one_line(step.source)}  {what}"
        right = [(f"{short_count(step.before)} → {short_count(step.after)}", "muted")]
        rows.append(spread([("  ", "text"), (words, "muted")], right, width))
    return rows
