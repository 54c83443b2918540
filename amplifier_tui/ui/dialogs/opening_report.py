"""What a session goes without since it was opened: a list, and the reason below it."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import ReportItem
from amplifier_tui.ui.dialogs.parts.picker import Picker, marked_match
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.widgets.pick_list import PickRow

KINDS = {
    "skipped": ("–", "$text-warning"),
    "refused": ("✗", "$text-error"),
    "replaced": ("●", "$text-warning"),
    "failed": ("✗", "$text-error"),
    "unused": ("○", "$text-muted"),
}
"""Glyph and colour of each kind."""

_LABEL = 10
"""Cells of the column of labels."""
_REASON = 8
"""Rows below the list."""
_OWNERS = {"program": "", "user": "yours", "project": "the project's", "stranger": "a stranger's"}


class OpeningReport(Picker):
    """Returns the index of the item to copy."""

    TITLE = "Missing, and why"
    CHOOSE = "Copy"
    EMPTY = ("Nothing is missing.", "Nothing matches.")
    ROWS = (3, 14)
    BELOW = _REASON + 1
    DEFAULT_CSS = """
    OpeningReport #reason { height: 8; margin-top: 1; }
    """

    def __init__(self, items: Sequence[ReportItem]) -> None:
        super().__init__()
        self._items = list(enumerate(items))

    def text_of(self, row: str) -> str:
        """Return all that is known about an item, by its row."""
        item = self._items[int(row)][1]
        return "\n".join((f"{item.what}: {item.kind}", *(line for _, line in report_facts(item))))

    def _below(self) -> ComposeResult:
        yield Static(id="reason", markup=False)

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        found = rank(query, self._items, lambda each: f"{each[1].what} {each[1].kind}")
        return [self._row(index, item, query) for index, item in found]

    def _row(self, index: int, item: ReportItem, query: str) -> PickRow:
        glyph, colour = KINDS[item.kind]
        why = (f"  {one_line(item.why, 300)}", "$text-muted")
        name = marked_match(one_line(item.name, 60), query).stylize("bold")
        left = Content.assemble((f"{glyph} ", colour), name, why)
        return PickRow(str(index), left, Content.styled(item.kind, colour))

    def _highlighted(self, row: PickRow | None) -> None:
        reason = self.query_one("#reason", Static)
        room = max(10, reason.size.width - _LABEL)
        lines = _facts(self._items[int(row.id)][1], room, _REASON) if row else ()
        reason.update(Content("\n").join(lines))

    def _fit(self, rows: int) -> None:
        super()._fit(rows)
        self.call_after_refresh(lambda: self._highlighted(self.rows.row))


def _facts(item: ReportItem, width: int, rows: int) -> Iterator[Content]:
    """Lay out what is known about an item; the reason is cut where it leaves no room."""
    facts = [
        (label, textwrap.wrap(one_line(text, 1_000), width)) for label, text in report_facts(item)
    ]
    others = sum(len(lines) for label, lines in facts if label != "why")
    for label, lines in facts:
        if label == "why" and len(lines) > (room := max(1, rows - others)):
            lines = [*lines[: room - 1], f"{lines[room - 1][: width - 1]}…"]
        style = "bold" if label == "remedy" else ""
        for at, line in enumerate(lines):
            head = ("" if at else label).ljust(_LABEL)
            yield Content.assemble((head, "$text-secondary"), (line, style))


def report_facts(item: ReportItem) -> Iterable[tuple[str, str]]:
    """Yield label and text of what is known about an item; what is not known is left out."""
    owner = _OWNERS.get(item.owner, item.owner)
    by = " · ".join(part for part in (item.asked_by, owner) if part)
    facts = {
        item.part: item.what,
        "why": item.why,
        "remedy": item.remedy,
        "asked by": by,
        "where": item.where,
    }
    return ((label, text) for label, text in facts.items() if text)
