"""The sessions that were open when the program was killed."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import ClassVar

from textual.binding import Binding, BindingType

from amplifier_tui.host.client import SessionCard
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice
from amplifier_tui.ui.dialogs.pickers import SessionPicker


class LeftOpenPicker(SessionPicker):
    """Returns the id of the one to resume. `dismiss` takes others off the list for good."""

    TITLE = "Open when the program ended"
    PLACEHOLDER = "Type to filter"
    EMPTY = ("No session was left open.", "No session matches.")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+x", "forget", show=False, priority=True),
    ]

    def __init__(
        self,
        ask: Callable[[], Future[tuple[SessionCard, ...]]],
        dismiss: Callable[[tuple[str, ...]], None],
    ) -> None:
        super().__init__(ask, "")
        self._dismiss = dismiss

    def _choices(self) -> Sequence[KeyChoice]:
        return (
            KeyChoice("enter", self.CHOOSE, "choose"),
            KeyChoice("ctrl+x", "Take off the list", "forget"),
            KeyChoice("esc", "Later", "close"),
        )

    def action_forget(self) -> None:
        """Offer the highlighted session no more."""
        row = self.rows.row
        if row is not None:
            self._dismiss((row.id,))
            self.cards.pop(row.id, None)
            self.refill()
