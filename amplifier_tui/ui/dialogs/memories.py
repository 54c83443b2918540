"""What was remembered, newest first; and forgetting it."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from amplifier_tui.base.text import clean, one_line
from amplifier_tui.host.client import MemoryCard
from amplifier_tui.ui.dialogs.parts.picker import AskingPicker
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.state.formats import ago
from amplifier_tui.ui.widgets.pick_list import PickRow

_TEXT = 2_000


class MemoryList(AskingPicker[MemoryCard]):
    """Returns the id of the memory to copy. Its keys are letters: the filter opens with `/`."""

    TITLE = "Memories"
    PLACEHOLDER = "/ filters"
    CHOOSE = "Copy"
    WHAT = "memories"
    EMPTY = ("Nothing was remembered yet: /remember does.", "No memory matches.")
    ROWS = (4, 16)
    BELOW = 4
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d,delete", "forget", show=False),
        Binding("slash", "filter", show=False),
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
    ]
    DEFAULT_CSS = """
    MemoryList #memory-text {
        height: auto;
        max-height: 3;
        margin-top: 1;
        color: $text-muted;
    }
    """

    def __init__(
        self,
        ask: Callable[[], Future[tuple[MemoryCard, ...]]],
        forget: Callable[[int], None],
    ) -> None:
        super().__init__(ask)
        self._forget = forget
        self._doomed = ""

    def text_of(self, memory_id: str) -> str:
        """Return a memory's text; empty for one that is not listed."""
        card = self.cards.get(memory_id)
        return clean(card.text) if card is not None else ""

    def _below(self) -> ComposeResult:
        yield Static(id="memory-text", markup=False)

    def _card_id(self, card: MemoryCard) -> str:
        return str(card.memory_id)

    def _problem_words(self, error: Exception) -> str:
        if isinstance(error, RuntimeError):
            return one_line(str(error))
        return super()._problem_words(error)

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        cards = self.cards.values()
        return [self._row(card) for card in rank(query, cards, lambda card: one_line(card.text))]

    def _row(self, card: MemoryCard) -> PickRow:
        where = "everywhere" if card.everywhere else "this project"
        age = ago(time.time() - card.created) if card.created else ""
        words = " · ".join(part for part in (where, age) if part)
        key = str(card.memory_id)
        style = "$text-warning bold" if key == self._doomed else ""
        pad = max(map(len, self.cards), default=0)
        left = Content.assemble(
            (f"{f'#{key}':<{pad + 1}}  ", "$text-muted"), (one_line(card.text, 300), style)
        )
        return PickRow(key, left, Content.styled(words, "$text-muted"))

    def _highlighted(self, row: PickRow | None) -> None:
        text = self.text_of(row.id) if row is not None else ""
        if len(text) > _TEXT:
            text = f"{text[:_TEXT]}…"
        # What the row says already is not said again.
        whole = row is not None and one_line(text, 300) == text
        room = self.rows.size.width - 40
        self.query_one("#memory-text", Static).update("" if whole and len(text) < room else text)
        if row is None or row.id != self._doomed:
            self._keep()
        self._show_keys()

    def _choices(self) -> Sequence[KeyChoice]:
        if self._doomed:
            return (
                KeyChoice("d", f"Forget #{self._doomed} for good", "forget", strong=True),
                KeyChoice("esc", "Keep it", "close"),
            )
        if not self.cards:
            return (KeyChoice("esc", "Close", "close"),)
        return (
            KeyChoice("d", "Forget", "forget"),
            KeyChoice("enter", self.CHOOSE, "choose"),
            KeyChoice("/", "Filter", "filter"),
            KeyChoice("esc", "Close", "close"),
        )

    def _show_keys(self) -> None:
        self.query_one(KeyRow).set_choices(self._choices())

    def _keep(self) -> None:
        if self._doomed:
            self._doomed = ""
            self.refill(self.rows.row.id if self.rows.row is not None else "")
            self._show_keys()

    def action_forget(self) -> None:
        """Ask whether to delete the highlighted one; asked already, delete it."""
        row = self.rows.row
        if row is None or not self.asked:
            self.app.bell()
        elif self._doomed != row.id:
            self._doomed = row.id
            self.refill(row.id)
            self._show_keys()
        else:
            self._doomed = ""
            at = self.rows.cursor
            del self.cards[row.id]
            self._forget(int(row.id))
            self.refill()
            self.rows.move(at)
            self._show_keys()

    def action_filter(self) -> None:
        """Go to the filter."""
        self.query_one("#filter", Input).focus()

    def action_choose(self) -> None:
        """Leave the filter; outside of it, choose the highlighted one."""
        if self.query_one("#filter", Input).has_focus:
            self.set_focus(None)
        elif self._doomed:
            self._keep()
        else:
            super().action_choose()

    def action_close(self) -> None:
        """Keep what was to be forgotten; clear and leave the filter; close."""
        line = self.query_one("#filter", Input)
        if self._doomed:
            self._keep()
        elif line.has_focus and not line.value:
            self.set_focus(None)
        else:
            super().action_close()

    @on(Input.Changed, "#filter")
    def _filter_typed(self) -> None:
        self._doomed = ""
        self._show_keys()
