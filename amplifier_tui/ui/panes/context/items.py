"""Rows of single items of the context: what each takes and what became of it."""

from typing import Final

from amplifier_tui.base.text import one_line, short_count
from amplifier_tui.host.client import ItemCard
from amplifier_tui.ui.panes.context.rows import head_row, look_of
from amplifier_tui.ui.state.instruments.budget import BudgetState, source_label
from amplifier_tui.ui.transcript.lines import Span, wrap
from amplifier_tui.ui.widgets.styled import Role, Row, fit, spread

_STATES: Final[dict[str, tuple[str, Role]]] = {
    "pinned": ("pinned", "key"),
    "dropped": ("left out", "warning"),
    "shortened": ("shortened", "warning"),
    "compacted": ("compacted", "muted"),
    "summary": ("summary", "muted"),
}
_SOURCE = 18
_ROOMY = 60


def items_head(budget: BudgetState, problem: str, width: int) -> list[Row]:
    """Return what stands above the items: the total, and why there are none."""
    rows: list[Row] = [head_row(budget, width)]
    said = wrap([Span(one_line(problem, 400))], width) if problem else ()
    return rows + [[("".join(span.text for span in line.spans), "warning")] for line in said]


def item_row(item: ItemCard, budget: BudgetState, width: int) -> Row:
    """Return the row of an item: its source, how it begins, and what it takes now."""
    pattern, tone = look_of(budget, source_label(item.source))
    word, role = _STATES.get(item.state, ("", "muted"))
    whole = f" of {short_count(item.whole)}" if item.whole > item.tokens else ""
    right: Row = [(f"{word}  " if word else "", role), (short_count(item.tokens), "text")]
    right.append((whole, "muted"))
    name = one_line(item.source, 60) or "no name"
    left: Row = [(f"{pattern} ", tone)]
    if width >= _ROOMY:
        left += [(f"{fit(name, _SOURCE):<{_SOURCE}}  ", "text"), (one_line(item.text), "muted")]
    else:
        left += [(f"{name}  ", "text"), (one_line(item.text), "muted")]
    return spread(left, right, width)
