"""Asks before something is done that cannot be taken back."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from amplifier_tui.ui.dialogs.parts.key_row import Choice, KeyRow
from amplifier_tui.ui.dialogs.parts.sheet import Sheet


class Confirm(Sheet[bool]):
    """Returns whether the user said yes.

    Args:
        question: What would happen, one sentence.
        yes: What the key that agrees does, in a few words.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape", "answer(False)", show=False),
    ]
    DEFAULT_CSS = """
    Confirm #question { margin-bottom: 1; }
    Confirm.-small > #sheet { height: auto; }
    """

    def __init__(self, question: str, yes: str) -> None:
        super().__init__()
        self._question = question
        self._yes = yes

    def content(self) -> ComposeResult:
        """Make the question and the keys."""
        yield Static(self._question, id="question", markup=False)
        yield KeyRow(
            (
                Choice("y", self._yes, "answer(True)", strong=True),
                Choice("esc", "Close", "answer(False)"),
            )
        )

    @on(KeyRow.Clicked)
    async def _clicked(self, event: KeyRow.Clicked) -> None:
        event.stop()
        await self.run_action(event.action)

    def action_answer(self, yes: bool) -> None:
        """Return the answer."""
        if self.is_active:
            self.dismiss(yes)
