"""A sheet with a filter and a list: the base of every picker."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import ClassVar, Final, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.dialogs.parts.row_about import RowText
from amplifier_tui.ui.dialogs.parts.sheet import SMALL, KeyChoice, KeyRow, Sheet
from amplifier_tui.ui.fields.text_field import TextField
from amplifier_tui.ui.fuzzy import match
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.widgets.pick_list import PickList, PickRow, marked, row_ids
from amplifier_tui.ui.widgets.styled import fit

Card = TypeVar("Card")

_LEAST: Final = 3
"""Rows of the list that stay beside a long text of one of them."""


class _Filter(TextField):
    """The field above a list; what it says while it is empty ends in a mark where it is cut."""

    @dataclass
    class Edge(Message):
        """The first (-1) or last (1) row of the list is wanted."""

        direction: int

    def __init__(self, query: str, hint: str) -> None:
        super().__init__(query, id="filter", placeholder=hint)
        self._whole = hint

    def on_resize(self) -> None:
        """Say what fits."""
        self.placeholder = fit(self._whole, self.content_size.width)

    def action_home(self, select: bool = False) -> None:
        """Go to where the text begins; while there is none, to the first row of the list."""
        if self.value:
            super().action_home(select)
        else:
            self.post_message(self.Edge(-1))

    def action_end(self, select: bool = False) -> None:
        """Go to where the text ends; while there is none, to the last row of the list."""
        if self.value:
            super().action_end(select)
        else:
            self.post_message(self.Edge(1))


class Picker(Sheet[str]):
    """Lists rows (`_rows_for`), filters them by what is typed, returns the id of the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("picker"),
        Binding("ctrl+c", "leave", show=False, priority=True),
    ]
    AUTO_FOCUS = "#filter"
    TITLE: ClassVar[str] = ""
    PLACEHOLDER: ClassVar[str] = "Type to filter"
    CHOOSE: ClassVar[str] = "Choose"
    EMPTY: ClassVar[tuple[str, str]] = ("Nothing here.", "Nothing matches.")
    """Said in place of rows: where there are none at all, and where none matches."""
    ROWS: ClassVar[tuple[int, int]] = (6, 20)
    """Rows the list has at least, and at most when there are as many."""
    ON_ROW: ClassVar[frozenset[str]] = frozenset({"choose"})
    """Actions that are done with a row: not offered where there is none."""
    UNFILTERED: ClassVar[frozenset[str]] = frozenset()
    """Actions whose keys are typed into a filter that is begun: offered only without one."""
    BELOW: ClassVar[int] = 0
    """Rows that stand between the list and the keys."""
    DEFAULT_CSS = """
    Picker #picker-head { height: 1; margin-bottom: 1; }
    Picker #picker-title { width: auto; text-style: bold; color: $text-secondary; }
    Picker #filter { width: 1fr; margin: 0 2; padding: 0; background: $panel; }
    Picker #picker-data { width: auto; color: $text-muted; }
    Picker #picker-body { height: 1fr; }
    Picker PickList { width: 1fr; background: $panel; overflow-y: scroll; }
    Picker KeyRow { margin-top: 1; }
    Picker.-small #picker-head, Picker.-small KeyRow { margin: 0; }
    """

    def __init__(self, query: str = "") -> None:
        super().__init__()
        self._first_query = query
        self._most = 0
        self._text_rows = 0
        self._laid_for: tuple[int, int] | None = None

    def _content(self) -> ComposeResult:
        """Make the title with the filter, the list, and the keys."""
        with Horizontal(id="picker-head"):
            yield Static(self.TITLE, id="picker-title", markup=False)
            yield _Filter(self._first_query, self.PLACEHOLDER)
            yield Static(id="picker-data", markup=False)
        with Horizontal(id="picker-body"):
            yield PickList(id="rows")
            yield from self._aside()
        yield from self._below()
        yield KeyRow(self._choices())

    def _aside(self) -> ComposeResult:
        """Make what stands beside the list."""
        yield from ()

    def _below(self) -> ComposeResult:
        """Make what stands between the list and the keys; at most `BELOW` rows."""
        yield from ()

    def _choices(self) -> Sequence[KeyChoice]:
        """Return the row of keys."""
        return (KeyChoice("enter", self.CHOOSE, "choose"), KeyChoice("esc", "Close", "close"))

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        """Return the rows that match, best first."""
        return ()

    def _empty_words(self, query: str) -> str:
        """Say why there is no row."""
        return self.EMPTY[bool(query)]

    def _data(self, rows: Sequence[PickRow]) -> Content:
        """Return what stands at the right of the title."""
        return Content(f"{sum(map(bool, row_ids(rows)))}")

    def _highlighted(self, row: PickRow | None) -> None:
        """The cursor came to a row."""

    def _chosen(self, row: PickRow) -> None:
        """A row was chosen."""
        self.finish(row.id)

    def on_mount(self) -> None:
        """Fill the list."""
        self.refill(self._first())

    def _first(self) -> str:
        """Return the id of the row the cursor begins on; empty for the topmost."""
        return ""

    def _fit(self, rows: int) -> None:
        """Take the rows the list wants, when there are as many."""
        least, most = self.ROWS
        wanted = min(most, max(least, self._most)) + 6 + max(self.BELOW, self._text_rows)
        low = self.has_class("-small") and rows < SMALL[1]
        self.sheet.styles.height = rows if low else min(rows, wanted)
        # How wide the list and what stands beside it are is known after the layout.
        self.call_after_refresh(self._lay_anew)

    def _tell_whole(self, text: str) -> None:
        """Show all of a row's text below the list, as far as the sheet can grow for it."""
        # Before the first layout: what the edges of the sheet leave.
        edges = 2 if self.has_class("-small") else 4
        width = self.query_one("#picker-body").size.width or self.app.size.width - edges
        rows = (
            self.query_one(RowText).tell(text, width, max(3, self.room() - self._rows_beside())) + 1
        )
        if rows > self._text_rows:
            # Nor does it shrink again for a row that says less.
            self._text_rows = rows
            self._fit(self.room())

    def _rows_beside(self) -> int:
        """Return how many rows a text below the list leaves to everything else."""
        return min(_LEAST, self._most) + (3 if self.has_class("-small") else 7)

    def _lay_anew(self) -> None:
        """Lay out for another size what was laid out for the one before."""
        before, self._laid_for = self._laid_for, (self.app.size.width, self.room())
        if before is not None and before != self._laid_for:
            self.refill(self.rows.row_id)

    @property
    def query_text(self) -> str:
        """What is typed into the filter."""
        return self.query_one("#filter", Input).value

    @property
    def rows(self) -> PickList:
        """The list."""
        return self.query_one("#rows", PickList)

    def refill(self, keep: str = "") -> None:
        """Filter again; `keep` leaves the cursor on a row."""
        query = self.query_text
        rows = self._rows_for(query)
        self.rows.set_rows(rows, keep, self._empty_words(query))
        self.query_one("#picker-data", Static).update(self._data(rows))
        if len(rows) > self._most:
            # It grows with the list, but a filter does not shrink it again under the eyes.
            self._most = len(rows)
            self._fit(self.room())
        self._name_keys()
        useless = frozenset() if any(row_ids(rows)) else self.ON_ROW
        self.query_one(KeyRow).hide(useless | (self.UNFILTERED if query else frozenset()))
        # At once: a message would come after the frame, and what it changes would take another.
        self._highlighted(self.rows.row)

    def _name_keys(self) -> None:
        """Say of the key that closes what it does next: it clears the filter first."""
        self.query_one(KeyRow).rename("close", "Clear" if self.query_text else "")

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self.refill()

    @on(Input.Submitted, "#filter")
    async def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        await self.run_action("choose")

    @on(_Filter.Edge)
    def _edge_wanted(self, event: _Filter.Edge) -> None:
        event.stop()
        self.action_move(event.direction * len(self.rows.rows))

    @on(PickList.Highlighted)
    def _cursor_moved(self, event: PickList.Highlighted) -> None:
        event.stop()
        self._highlighted(event.row)

    @on(PickList.Chosen)
    def _clicked(self, event: PickList.Chosen) -> None:
        event.stop()
        self.action_choose()

    def action_choose(self) -> None:
        """Choose the highlighted row."""
        row = self.rows.row
        if row is not None:
            self._chosen(row)

    def action_close(self) -> None:
        """Clear the filter, or close without choosing."""
        if self.query_text:
            self.query_one("#filter", Input).value = ""
        else:
            self.finish()

    def action_leave(self) -> None:
        """Copy what is selected in the filter, or close without choosing."""
        line = self.query_one("#filter", Input)
        if line.has_focus and line.selected_text:
            line.action_copy()
        else:
            self.finish()

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.rows.action_move(by)

    def action_page(self, direction: int) -> None:
        """Move the cursor by a page."""
        self.rows.action_page(direction)


class AskingPicker(Picker, Generic[Card]):
    """A picker that lists what the host knows; until that has come it says so."""

    WHAT: ClassVar[str] = ""
    """What is listed, in the plural."""
    KEY: ClassVar[str] = ""
    """Which attribute of a card is the id of its row."""

    def __init__(self, ask: Callable[[], Future[tuple[Card, ...]]]) -> None:
        super().__init__()
        self._ask = ask
        self._problem = ""
        self.asked = False
        """The host has answered."""
        self.cards: dict[str, Card] = {}

    def on_mount(self) -> None:
        """Ask the host."""
        self.run_worker(self._load(), group="cards")

    async def _load(self) -> None:
        cards: tuple[Card, ...] = ()
        try:
            cards = await self.answer_of(self._ask())
        except Exception as error:
            # Whatever the host could not do is shown in place of the list.
            self._problem = self._problem_words(error)
        self.asked = True
        self.cards = {str(getattr(card, self.KEY)): card for card in cards}
        self.refill(self._first())

    @property
    def card(self) -> Card | None:
        """What the cursor is on."""
        return self.cards.get(self.rows.row_id)

    def _problem_words(self, error: Exception) -> str:
        """Say why there is no list."""
        return f"The {self.WHAT} cannot be listed: {one_line(str(error))}"

    def _empty_words(self, query: str) -> str:
        """Say why there is no row."""
        if not self.asked:
            return f"Looking for {self.WHAT}…"
        return self._problem or super()._empty_words(query)


class LetterPicker(AskingPicker[Card], GuardedSheet[str]):
    """A picker whose keys are letters: its filter opens with `/`."""

    IS_LIST = True
    PLACEHOLDER = "/ filters"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", show=False),
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
    ]

    def _row_of(self, action: str) -> str:
        return self.rows.row_id if action in self.ON_ROW else ""

    def action_filter(self) -> None:
        """Go to the filter."""
        self.query_one("#filter", Input).focus()

    def leave_filter(self) -> bool:
        """Give the keys back to the list; False when it has them."""
        if not self.query_one("#filter", Input).has_focus:
            return False
        self.set_focus(None)
        return True

    def action_choose(self) -> None:
        """Leave the filter; outside of it, choose the highlighted row."""
        if not self.leave_filter():
            super().action_choose()

    def action_close(self) -> None:
        """Clear and leave the filter; close."""
        if self.query_text or not self.leave_filter():
            super().action_close()


def marked_match(text: str, query: str) -> Content:
    """Return a text with what a query found in it marked."""
    found = match(query, text) if query else None
    return marked(text, found[1] if found else ())
