"""The sessions that were open when the program was killed."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import ClassVar

from textual.binding import Binding, BindingType

from amplifier_tui.host.client import SessionCard
from amplifier_tui.ui.dialogs.parts.picker import AskingPicker
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice
from amplifier_tui.ui.dialogs.sessions.rows import Shown, session_rows
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.widgets.pick_list import PickRow

ALL = "*"
"""In the place of an id: all that are listed."""


class LeftOpenPicker(AskingPicker[SessionCard]):
    """Returns the id of the one to resume, or `ALL`; `dismiss` takes others off for good.

    Args:
        here: The working directory: its sessions come first, and of others the folder is named.
    """

    TITLE = "Open when the program ended"
    PLACEHOLDER = "Type to filter"
    CHOOSE = "Resume"
    WHAT = "sessions"
    KEY = "session_id"
    ON_ROW = frozenset({"choose", "open_all", "forget"})
    EMPTY = ("No session was left open.", "No session matches.")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+x", "forget", show=False, priority=True),
        Binding("ctrl+o", "open_all", show=False, priority=True),
    ]

    def __init__(
        self,
        ask: Callable[[], Future[tuple[SessionCard, ...]]],
        dismiss: Callable[[tuple[str, ...]], None],
        here: str,
    ) -> None:
        super().__init__(ask)
        self._dismiss = dismiss
        self._here = here

    def _choices(self) -> Sequence[KeyChoice]:
        return (
            KeyChoice("enter", self.CHOOSE, "choose"),
            KeyChoice("ctrl+o", "Resume all, side by side", "open_all"),
            KeyChoice("ctrl+x", "Take off the list", "forget"),
            KeyChoice("esc", "Later", "close"),
        )

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        def text(card: SessionCard) -> str:
            return f"{card.title} {' '.join(card.tags)} {card.first_prompt} {card.cwd}"

        width = self.rows.size.width or self.app.size.width
        shown = Shown(width, folders=True, here=self._here)
        # What is of this folder is nearest; each part keeps its order.
        cards = sorted(self.cards.values(), key=lambda card: card.cwd != self._here)
        found = rank(query, cards, text)
        return session_rows({card.session_id: card for card in found}, shown)

    def action_open_all(self) -> None:
        """Resume all of them."""
        if self.cards:
            self.finish(ALL)

    def action_forget(self) -> None:
        """Offer the highlighted session no more."""
        row = self.rows.row
        if row is not None:
            self._dismiss((row.id,))
            self.cards.pop(row.id, None)
            self.refill()
