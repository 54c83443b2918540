"""What was moved aside, as a command in the sandbox may have made it: looked at, and put back."""

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line, reveal
from amplifier_tui.host.client import SessionClient, SetAsideCard
from amplifier_tui.ui.dialogs.parts.picker import LetterPicker, marked_match
from amplifier_tui.ui.dialogs.parts.row_about import RowText
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow, Sheet
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.state.formats import ago, plural
from amplifier_tui.ui.widgets.pick_list import PickRow
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from amplifier_tui.ui.widgets.text_lines import TextLine

_ABOUT = (
    "Each came while a command ran in the sandbox, and would take effect on other programs: who of "
    "you two made it can't be told. Put back what you made; what the agent made, once you read it."
)
_LONGEST = 400


class SetAsideList(LetterPicker[SetAsideCard]):
    """Returns nothing: what is done with one is done here."""

    TITLE = "Moved aside"
    CHOOSE = "Read"
    WHAT = "files that were moved aside"
    KEY = "key"
    EMPTY = ("Nothing was moved aside in this folder.", "No file matches.")
    ROWS = (4, 12)
    BELOW = 4
    DECIDES = frozenset(("back", "all_back"))
    ON_ROW = frozenset({"choose", "back", "all_back"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "back", show=False),
        Binding("P", "all_back", show=False),
    ]

    def __init__(self, client: SessionClient) -> None:
        super().__init__(client.set_aside)
        self._client = client
        self._note = ""

    def _below(self) -> ComposeResult:
        yield RowText()

    def _choices(self) -> Sequence[KeyChoice]:
        read, close = super()._choices()
        return (
            KeyChoice("p", "Put it back", "back"),
            KeyChoice("P", "All of them", "all_back"),
            read,
            KeyChoice("/", "Filter", "filter"),
            close,
        )

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        found = rank(query, self.cards.values(), lambda card: card.name)
        return [_row(card, query) for card in found]

    def _highlighted(self, row: PickRow | None) -> None:
        self._tell_whole(self._note or (_ABOUT if row is not None else ""))

    def _chosen(self, row: PickRow) -> None:
        card = self.cards.get(row.id)
        if card is not None:
            self.app.push_screen(ContentsSheet(card))

    def action_back(self) -> None:
        """Put the highlighted one back to where it was."""
        card = self.card
        if card is not None:
            self.run_worker(self._put_back([card]), group="back", exclusive=True)

    def action_all_back(self) -> None:
        """Put all of them back, the oldest first: of two of one place the first one."""
        cards = list(self.cards.values())[::-1]
        self.run_worker(self._put_back(cards), group="back", exclusive=True)

    def _row_of(self, action: str) -> str:
        return "" if action == "all_back" else super()._row_of(action)

    async def _put_back(self, cards: Sequence[SetAsideCard]) -> None:
        problems = []
        for card in cards:
            try:
                problem = await self.answer_of(self._client.put_back(card.key), changes=True)
            except Exception as error:
                # Whatever the host could not do is said.
                problem = str(error) or type(error).__name__
            problems += [f"{problem}."] if problem else []
        done = len(cards) - len(problems)
        what = cards[0].name if len(cards) == 1 else plural(done, "file")
        is_or_are = "is back where it was" if done == 1 else "are back where they were"
        said = [f"{what} {is_or_are}."] if done else []
        self._note = one_line(" ".join([*said, *problems]), _LONGEST)
        await self._load()
        if not self.cards:
            self._highlighted(None)


class ContentsSheet(Sheet[None]):
    """Shows what is in something that was moved aside."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", show=False)]
    IN_PLACE = True
    AUTO_FOCUS = "#contents"
    DEFAULT_CSS = """
    ContentsSheet #contents-head { text-style: bold; color: $text-secondary; margin-bottom: 1; }
    ContentsSheet #contents { background: $panel; }
    ContentsSheet KeyRow { margin-top: 1; }
    """

    def __init__(self, card: SetAsideCard) -> None:
        super().__init__()
        self._card = card

    def _content(self) -> ComposeResult:
        lines = [TextLine(line) for line in reveal(self._card.text).split("\n")]
        yield Static(Content(self._card.name), id="contents-head")
        yield ScrollLines(lines, id="contents")
        yield KeyRow((KeyChoice("esc", "Back", "close"),))

    def _fit(self, rows: int) -> None:
        self.query_one(ScrollLines).styles.max_height = max(2, rows - 6)


def _row(card: SetAsideCard, query: str) -> PickRow:
    age = ago(max(0.0, time.time() - card.at))
    return PickRow(card.key, marked_match(card.name, query), Content.styled(age, "$text-muted"))
