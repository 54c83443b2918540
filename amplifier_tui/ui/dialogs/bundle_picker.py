"""The bundle picker: every bundle that can be found, and what the highlighted one would mount."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from amplifier_tui.base.text import one_line, short_count
from amplifier_tui.host.client import BundleCard, BundlePreview, BundleState, PlannedModule
from amplifier_tui.ui.dialogs.parts.picker import AskingPicker, marked_match
from amplifier_tui.ui.dialogs.parts.row_about import RowAbout, is_cut
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.dialogs.sheets import ProblemSheet
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.widgets.content_lines import ContentLines
from amplifier_tui.ui.widgets.pick_list import LazyRows, PickRow

STATES: dict[BundleState, tuple[str, str, str]] = {
    "ready": ("✓", "$text-success", "ready"),
    "incomplete": ("!", "$text-warning", "opens without a part of it"),
    "needs_key": ("!", "$text-warning", "needs a key"),
    "not_fetched": ("↓", "$text-muted", "not fetched yet"),
    "invalid": ("✗", "$text-error", "invalid"),
}
"""Glyph, colour and words of each state."""

_LABEL = 14
"""Cells of the first column."""

_KINDS = ("orchestrator", "context", "provider", "tool", "hook")
_PLACE = re.compile(r"^(?:/|[A-Za-z]:\\)[^\n]{0,4096}?:(?:(\d+):)? ")
"""Path and line, as they stand before the words of an error."""
_NARROW = 90
"""Columns below which the preview is left out."""


class BundlePicker(AskingPicker[BundleCard]):
    """Returns the name of the bundle to open; `carry` says whether the conversation comes along."""

    TITLE = "Bundles"
    PLACEHOLDER = "Type to filter by name or description"
    CHOOSE = "Switch"
    WHAT = "bundles"
    KEY = "name"
    EMPTY = ("No bundle was found.", "No bundle matches.")
    ROWS = (20, 20)
    ON_ROW = frozenset({"choose", "toggle_carry"})
    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "toggle_carry", show=False)]
    DEFAULT_CSS = """
    BundlePicker PickList { width: 2fr; }
    BundlePicker ContentLines { width: 3fr; margin: 0 0 0 3; }
    BundlePicker.-alone ContentLines { display: none; }
    """

    def __init__(
        self,
        ask: Callable[[], Future[tuple[BundleCard, ...]]],
        preview: Callable[[str], Future[BundlePreview]],
    ) -> None:
        super().__init__(ask)
        self._ask_preview = preview
        self._previews: dict[str, BundlePreview] = {}
        self.carry = True

    def _aside(self) -> ComposeResult:
        yield ContentLines()

    def _below(self) -> ComposeResult:
        yield RowAbout()

    def _choices(self) -> Sequence[KeyChoice]:
        words = "Conversation comes along" if self.carry else "Start with an empty conversation"
        choose, close = super()._choices()
        if self._broken() is not None:
            return (replace(choose, words="What is wrong"), close)
        return (choose, KeyChoice("tab", words, "toggle_carry"), close)

    def _broken(self) -> BundleCard | None:
        """The bundle under the cursor, if it cannot be opened."""
        card = self.card if self.is_mounted else None
        return card if card is not None and card.state == "invalid" else None

    def _first(self) -> str:
        return next((name for name, card in self.cards.items() if card.active), "")

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        cards = rank(query, self.cards.values(), lambda card: f"{card.name} {card.description}")
        return LazyRows(cards, lambda card: self._row(card, query), lambda card: card.name)

    def _row(self, card: BundleCard, query: str) -> PickRow:
        glyph, colour, _ = STATES[card.state]
        name = one_line(card.name, 60)
        about = (one_line(card.description), "$text-muted")
        if card.state == "invalid":
            about = (_brief(card.error), "$text-error")
        elif card.state == "incomplete":
            about = (_brief(card.error), "$text-warning")
        title = marked_match(name, query).stylize("bold")
        left = Content.assemble((glyph, colour), " ", title, "  ", about)
        right = Content.styled(one_line(card.origin, 40), "$text-muted")
        if card.active:
            right = Content.styled("active", "$text-primary")
        return PickRow(card.name, left, right)

    def _highlighted(self, row: PickRow | None) -> None:
        self.query_one(KeyRow).set_choices(self._choices())
        self.query_one(RowAbout).tell(self._about(row) if row is not None else ())
        if row is None:
            self._show([])
        elif row.id in self._previews:
            self._show(preview_rows(self._previews[row.id], self._width))
        else:
            self._load_preview(row.id)

    def _about(self, row: PickRow) -> Sequence[Content]:
        """Return what the preview would say of a row, where there is none: why its mark, what."""
        card = self.cards[row.id]
        why, style = _why(card)
        reason = [Content.styled(why, style)] if why else []
        told = is_cut(self.rows, row) and card.state not in ("invalid", "incomplete")
        return [*reason, *([Content(one_line(card.description))] if told else [])]

    def _fit(self, rows: int) -> None:
        super()._fit(rows)
        alone = self.app.size.width < _NARROW
        self.query_one(RowAbout).take((2 if self.has_class("-small") else 3) if alone else 0)
        # What is cut is known after the layout.
        self.call_after_refresh(lambda: self._highlighted(self.rows.row))

    @work(group="preview", exclusive=True)
    async def _load_preview(self, name: str) -> None:
        asked = self._ask_preview(name)
        if not asked.done():
            self._show(card_rows(self.cards[name], self._width))
        try:
            preview = await self.answer_of(asked)
        except Exception as error:
            problem = Content.styled(one_line(str(error), 1_000), "$text-error")
            self._show([*card_rows(self.cards[name], self._width), Content(), problem])
            return
        self._previews[name] = preview
        if self.rows.row_id == name:
            self._show(preview_rows(preview, self._width))

    @property
    def _width(self) -> int:
        return max(20, self.query_one(ContentLines).content_width())

    def _show(self, rows: Sequence[Content]) -> None:
        self.query_one(ContentLines).set_lines(rows)

    def _shape(self) -> None:
        super()._shape()
        self.set_class(self.app.size.width < _NARROW, "-alone")

    def _chosen(self, row: PickRow) -> None:
        broken = self._broken()
        if broken is None:
            super()._chosen(row)
        else:
            title = f"{broken.name} cannot be opened"
            remedy = "Correct that, then open the list of bundles again."
            self.app.push_screen(ProblemSheet(title, broken.error, remedy))

    def action_toggle_carry(self) -> None:
        """Take the conversation along, or not."""
        self.carry = not self.carry
        self.query_one(KeyRow).set_choices(self._choices())


def _brief(error: str) -> str:
    """Return an error for a short row: the line and the words; the preview has the path."""
    place = _PLACE.match(error)
    if place is None:
        return one_line(error)
    line = f"line {place[1]}: " if place[1] else ""
    return f"{line}{one_line(error[place.end() :])}"


def preview_rows(preview: BundlePreview, width: int) -> list[Content]:
    """Lay a preview out."""
    rows = [*card_rows(preview.card, width, preview.version), Content()]
    without = tuple(f"{item.name}: {item.why}" for item in preview.report)
    lost = _names("would lack", without, "$text-warning")
    rows += [*(row.truncate(width, ellipsis=True) for row in lost), *([Content()] if lost else [])]
    for kind in sorted({m.kind for m in preview.modules}, key=_order):
        for at, module in enumerate(m for m in preview.modules if m.kind == kind):
            label = one_line(kind, _LABEL - 2) if at == 0 else ""
            rows.append(_module_row(label, module, preview.card.name, width))
    if preview.modules:
        rows.append(Content())
    rows += _names("agents", preview.agents)
    rows += _names("context", preview.context_files)
    if preview.base_tokens:
        words = f"≈ {short_count(preview.base_tokens)} tokens before the first word"
        rows.append(_labelled("size", Content.styled(words, "$text-muted")))
    return rows


def card_rows(card: BundleCard, width: int, version: str = "") -> list[Content]:
    """Return what the list itself knows about a bundle."""
    glyph, colour, words = STATES[card.state]
    name = Content.assemble(
        (one_line(card.name, 80), "bold"),
        (f"  {one_line(version, 20)}" if version else "", "$text-muted"),
    )
    state = Content.assemble(
        (f"{glyph} {words}", colour),
        (f" · {one_line(card.origin)}" if card.origin else "", "$text-muted"),
    )
    rows = _spread(name, state, width)
    if card.description:
        rows.append(Content.styled(one_line(card.description), "$text-muted"))
    if card.missing:
        rows.append(Content.styled(_needed(card), "$text-warning"))
    if card.error:
        style = "$text-error" if card.state == "invalid" else "$text-warning"
        rows.append(Content.styled(one_line(card.error, 1_000), style))
    return rows


def _needed(card: BundleCard) -> str:
    return f"Set {', '.join(one_line(name, 60) for name in card.missing)} to use it."


def _why(card: BundleCard) -> tuple[str, str]:
    """Return in a line why a bundle can't be opened, or opens with less, and the style of that."""
    if card.error:
        style = "$text-error" if card.state == "invalid" else "$text-warning"
        return one_line(card.error.strip().partition("\n")[0], 1_000), style
    return (_needed(card) if card.missing else ""), "$text-warning"


def _order(kind: str) -> tuple[int, str]:
    return (_KINDS.index(kind) if kind in _KINDS else len(_KINDS), kind)


def _spread(left: Content, right: Content, width: int) -> list[Content]:
    """Put two pieces at the ends of a row, or on two rows when it is too short."""
    gap = width - left.cell_length - right.cell_length
    if gap < 2:
        return [left, right]
    return [Content.assemble(left, " " * gap, right)]


def _labelled(label: str, body: Content) -> Content:
    return Content.assemble((label.ljust(_LABEL), "$text-secondary"), body)


def _module_row(label: str, module: PlannedModule, bundle: str, width: int) -> Content:
    body = Content.assemble(
        one_line(module.module_id, 80),
        (f"  {one_line(module.detail, 60)}" if module.detail else "", "$text-muted"),
    )
    left = _labelled(label, body).truncate(width, ellipsis=True)
    origin = Content.styled(one_line(module.origin, 80), "$text-muted")
    room = width - left.cell_length - 2
    if module.origin in ("", bundle) or room < 6:
        return left
    return _spread(left, origin.truncate(room, ellipsis=True), width)[0]


def _names(label: str, names: tuple[str, ...], style: str = "") -> list[Content]:
    return [
        _labelled(label if at == 0 else "", Content.styled(one_line(name, 300), style))
        for at, name in enumerate(names)
    ]
