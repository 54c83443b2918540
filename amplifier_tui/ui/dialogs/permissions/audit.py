"""The audit log: every decision about a call of the last 30 days, the newest first."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from textual.content import Content

from amplifier_tui.host.client import AuditCard
from amplifier_tui.ui.dialogs.parts.picker import AskingPicker
from amplifier_tui.ui.dialogs.permissions import words
from amplifier_tui.ui.widgets.pick_list import PickRow

_MOST_ROWS = 2_000


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

    def _first(self) -> str:
        return self._at

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        wanted = query.casefold().split()
        found = (card for card in self.cards.values() if _speaks(card, wanted))
        return [
            PickRow(
                card.key,
                words.decision_left(card),
                Content.styled(words.decision_right(card), "$text-muted"),
            )
            for card, _ in zip(found, range(_MOST_ROWS), strict=False)
        ]


def _speaks(card: AuditCard, wanted: Sequence[str]) -> bool:
    """Whether every word is in what its row says."""
    if not wanted:
        return True
    text = f"{words.decision_left(card).plain} {words.decided_by(card)}".casefold()
    return all(word in text for word in wanted)
