"""The audit log: every decision about a call of the last 30 days, the newest first."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import islice

from textual.content import Content

from amplifier_tui.host.client import AuditCard
from amplifier_tui.ui.dialogs.parts.picker import AskingPicker
from amplifier_tui.ui.dialogs.permissions import words
from amplifier_tui.ui.widgets.pick_list import LazyRows, PickRow

_MOST_ROWS = 500
"""As many as any list shows; older ones are found by filtering."""


class AuditLog(AskingPicker[AuditCard]):
    """Returns the key of the decision to open; what is typed filters by words."""

    TITLE = "Audit log"
    PLACEHOLDER = "Type a tool, an outcome, who decided, or a part of the call"
    CHOOSE = "Open"
    WHAT = "decisions"
    KEY = "key"
    EMPTY = ("Nothing was decided here in the last 30 days.", "No decision matches.")
    ROWS = (8, 30)

    def __init__(
        self, ask: Callable[[], Future[tuple[AuditCard, ...]]], at: str = "", query: str = ""
    ) -> None:
        super().__init__(ask)
        self._first_query = query
        self._at = at
        self._said: dict[str, str] = {}
        """What the row of a decision says, by its key, in lower case."""

    def _first(self) -> str:
        return self._at

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        wanted = query.casefold().split()
        found = (card for card in self.cards.values() if self._speaks(card, wanted))
        return LazyRows(list(islice(found, _MOST_ROWS)), _row, lambda card: card.key)

    def _speaks(self, card: AuditCard, wanted: Sequence[str]) -> bool:
        """Whether every word is in what its row says, or in the texts of the call."""
        if not wanted:
            return True
        if card.key not in self._said:
            texts = [text for text in card.arguments.values() if isinstance(text, str)]
            said = (words.decision_left(card).plain, words.decided_by(card), *texts)
            self._said[card.key] = " ".join(said).casefold()
        return all(word in self._said[card.key] for word in wanted)


def _row(card: AuditCard) -> PickRow:
    right = Content.styled(words.decision_right(card), "$text-muted")
    return PickRow(card.key, words.decision_left(card), right)
