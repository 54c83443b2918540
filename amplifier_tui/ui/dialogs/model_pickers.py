"""The pickers of models and of how hard they think."""

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line, short_count
from amplifier_tui.host.client import ModelCard
from amplifier_tui.ui.dialogs.parts.picker import AskingPicker, Picker, marked_match
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.state.formats import price
from amplifier_tui.ui.widgets.pick_list import LazyRows, PickRow


class ModelPicker(AskingPicker[ModelCard]):
    """Returns the key of the card to switch to; favourites come first.

    Args:
        favourites: Keys of cards.
        favour: Told of the favourites whenever they change.
    """

    TITLE = "Models"
    PLACEHOLDER = "Type to filter by model or provider"
    CHOOSE = "Switch"
    WHAT = "models"
    KEY = "key"
    EMPTY = ("No provider that is ready offers a model.", "No model matches.")
    ROWS = (8, 16)
    BELOW = 3
    ON_ROW = frozenset({"choose", "favour"})
    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "favour", show=False)]
    DEFAULT_CSS = """
    ModelPicker #model-facts {
        height: 2; margin-top: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(
        self,
        ask: Callable[[], Future[tuple[ModelCard, ...]]],
        favourites: Iterable[str],
        favour: Callable[[Collection[str]], None],
    ) -> None:
        super().__init__(ask)
        self._favourites = set(favourites)
        self._favour = favour

    def _below(self) -> ComposeResult:
        yield Static(id="model-facts", markup=False)

    def _choices(self) -> Sequence[KeyChoice]:
        switch, close = super()._choices()
        return (switch, KeyChoice("tab", "Favourite", "favour"), close)

    def _first(self) -> str:
        return next((key for key, card in self.cards.items() if card.current), "")

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        cards = [card for card in self.cards.values() if not card.problem]
        found = rank(query, cards, lambda card: f"{card.model} {card.title} {card.provider}")
        found = sorted(found, key=lambda card: card.key not in self._favourites)
        problems = [card for card in self.cards.values() if card.problem]
        return LazyRows(
            [*found, *problems],
            lambda card: _problem_row(card) if card.problem else self._row(card, query),
            lambda card: "" if card.problem else card.key,
        )

    def _row(self, card: ModelCard, query: str) -> PickRow:
        star = "★ " if card.key in self._favourites else "  "
        name = marked_match(one_line(card.model, 60), query).stylize("bold")
        where = "  in use" if card.current else f"  {one_line(card.provider, 24)}"
        style = "$text-primary" if card.current else "$text-muted"
        window = short_count(card.context_window) if card.context_window else "~"
        facts = f"{window:>6}"
        if self.app.size.width >= _PRICED:
            facts += f"  {price(card.input_price):>6} {price(card.output_price):>6}"
        left = Content.assemble((star, "$text-warning"), name, (where, style))
        return PickRow(card.key, left, Content.styled(facts, "$text-muted"))

    def _highlighted(self, row: PickRow | None) -> None:
        card = self.cards.get(row.id) if row is not None else None
        self.query_one("#model-facts", Static).update(facts_of(card) if card is not None else "")

    def action_favour(self) -> None:
        """Make the highlighted model a favourite, or one no more."""
        row = self.rows.row
        if row is None or not row.id:
            self.app.bell()
            return
        self._favourites ^= {row.id}
        self._favour(self._favourites)
        self.refill(row.id)


_PRICED = 60
"""Columns from which a row has its prices; with fewer they are only told below the list."""


def facts_of(card: ModelCard) -> str:
    """Return what is known of a model on one line, and on the next its price and who says so."""
    answer = f", answers of {short_count(card.max_output_tokens)}" if card.max_output_tokens else ""
    window = short_count(card.context_window) if card.context_window else "unknown"
    takes = f" · {', '.join(card.takes)}" if card.takes else ""
    cost = "price unknown"
    if card.input_price is not None:
        said = f" ({card.price_source})" if card.price_source else ""
        paid = f"{price(card.input_price)} in, {price(card.output_price)} out per million"
        cost = f"{paid}{said}"
    facts = f"{card.provider} · window {window}{answer}{takes}"
    return f"{one_line(facts, 300)}\n{one_line(cost, 300)}"


def _problem_row(card: ModelCard) -> PickRow:
    words = f"✗ {one_line(card.provider, 24)}: {one_line(card.problem, 300)}"
    return PickRow("", Content.styled(words, "$text-error"))


DEFAULT_EFFORT = "default"
"""Stands for what the provider does by itself."""


class EffortPicker(Picker):
    """Returns the level of effort to use."""

    TITLE = "How hard the model thinks"
    CHOOSE = "Apply"
    EMPTY = ("", "No level matches.")
    ROWS = (4, 8)

    def __init__(self, levels: Sequence[str], current: str) -> None:
        super().__init__()
        self._levels = (DEFAULT_EFFORT, *levels)
        self._current = current or DEFAULT_EFFORT

    def _first(self) -> str:
        return self._current

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        return [self._row(level) for level in rank(query, self._levels, str)]

    def _row(self, level: str) -> PickRow:
        words = "in force" if level == self._current else ""
        about = "  what the provider does by itself" if level == DEFAULT_EFFORT else ""
        left = Content.assemble((one_line(level, 40), "bold"), (about, "$text-muted"))
        return PickRow(level, left, Content.styled(words, "$text-muted"))
