"""Asks for one line."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from amplifier_tui.ui.dialogs.parts.key_row import Choice, KeyRow
from amplifier_tui.ui.dialogs.parts.sheet import Sheet


class AskLine(Sheet[str | None]):
    """Returns the line, stripped; None when it was closed or left empty.

    Args:
        label: What is asked for.
        value: What stands there first.
        limit: How many characters it may have.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]
    AUTO_FOCUS = "#line"
    DEFAULT_CSS = """
    AskLine #ask { height: 1; margin-bottom: 1; }
    AskLine #ask > Static { width: auto; text-style: bold; color: $text-secondary; }
    AskLine #line {
        width: 1fr;
        height: 1;
        margin-left: 2;
        padding: 0 1;
        border: none;
        background: $background;
        &:focus { background-tint: transparent; }
    }
    AskLine.-small > #sheet { height: auto; }
    """

    def __init__(self, label: str, value: str = "", limit: int = 200) -> None:
        super().__init__()
        self._label = label
        self._limit = limit
        self._value = value

    def content(self) -> ComposeResult:
        """Make the label, the line and the keys."""
        with Horizontal(id="ask"):
            yield Static(self._label, markup=False)
            yield Input(self._value, id="line", max_length=self._limit)
        yield KeyRow((Choice("enter", "Save", "save"), Choice("esc", "Close", "close")))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_save()

    @on(KeyRow.Clicked)
    async def _clicked(self, event: KeyRow.Clicked) -> None:
        event.stop()
        await self.run_action(event.action)

    def action_save(self) -> None:
        """Return the line."""
        if self.is_active:
            self.dismiss(self.query_one(Input).value.strip() or None)

    def action_close(self) -> None:
        """Return nothing."""
        if self.is_active:
            self.dismiss(None)
