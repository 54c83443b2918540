"""What a session goes without since it was opened: a list, and the reason below it."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import ReportItem
from amplifier_tui.ui.dialogs.parts.picker import Picker, marked_match
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
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
"""Rows below the list, while nothing needs more."""
_LONGEST = 10_000
"""Characters of a reason that can be read here."""
_OWNERS = {"program": "", "user": "yours", "project": "the project's", "stranger": "a stranger's"}


class OpeningReport(Picker):
    """Returns the index of the item to copy."""

    TITLE = "Missing, and why"
    CHOOSE = "Copy"
    EMPTY = ("Nothing is missing.", "Nothing matches.")
    ROWS = (3, 14)
    BELOW = _REASON + 1
    DEFAULT_CSS = """
    OpeningReport #reason {
        margin-top: 1;
        scrollbar-size: 1 1;
        scrollbar-gutter: stable;
        scrollbar-color: $scrollbar;
    }
    OpeningReport.-small #reason { margin-top: 0; }
    OpeningReport #reason > Static { height: auto; }
    """

    def __init__(self, items: Sequence[ReportItem]) -> None:
        super().__init__()
        self._items = list(enumerate(items))
        self._goes_on = False
        """The reason has more rows than are shown."""

    def text_of(self, row: str) -> str:
        """Return all that is known about an item, by its row."""
        item = self._items[int(row)][1]
        return "\n".join((f"{item.what}: {item.kind}", *(line for _, line in report_facts(item))))

    def _below(self) -> ComposeResult:
        with VerticalScroll(id="reason", can_focus=False):
            yield Static(markup=False)

    def _choices(self) -> Sequence[KeyChoice]:
        more = (KeyChoice("pgdn", "More", "page(1)"),) if self._goes_on else ()
        return (*super()._choices(), *more)

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
        reason = self._reason
        width = self.query_one("#picker-body").size.width or self.app.size.width
        room = max(10, width - _LABEL - reason.styles.scrollbar_size_vertical)
        lines = list(_facts(self._items[int(row.id)][1], room)) if row else []
        reason.query_one(Static).update(Content("\n").join(lines))
        reason.scroll_home(animate=False)
        place = max(1, self.room() - self._rows_beside())
        wanted = min(place, max(_REASON, len(lines)))
        # Nor does it shrink again for what has a shorter reason.
        self._text_rows = max(self._text_rows, wanted + 1)
        reason.styles.height = min(place, self._text_rows - 1)
        self._goes_on = len(lines) > place
        self.query_one(KeyRow).set_choices(self._choices())
        super()._fit(self.room())

    def _fit(self, rows: int) -> None:
        super()._fit(rows)
        self.call_after_refresh(lambda: self._highlighted(self.rows.row))

    def action_page(self, direction: int) -> None:
        """Scroll the reason by a page, where it does not fit; else move the cursor by one."""
        reason = self._reason
        if not reason.max_scroll_y:
            super().action_page(direction)
            return
        rows = max(1, reason.scrollable_content_region.height - 1)
        reason.scroll_relative(y=direction * rows, animate=False)

    @property
    def _reason(self) -> VerticalScroll:
        return self.query_one("#reason", VerticalScroll)


def _facts(item: ReportItem, width: int) -> Iterator[Content]:
    """Lay out what is known about an item, in lines of `width` cells beside the labels."""
    for label, text in report_facts(item):
        style = "bold" if label == "remedy" else ""
        # What is to be copied, such as a path, is broken at its end alone.
        lines = textwrap.wrap(one_line(text, _LONGEST), width, break_on_hyphens=False)
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
