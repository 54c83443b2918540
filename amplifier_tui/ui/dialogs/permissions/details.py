"""A sheet with the whole of something, and what can be done with it."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow, Sheet
from amplifier_tui.ui.keys.actions import bindings


class DetailSheet(Sheet[str]):
    """Returns the name of what is to be done with what it shows.

    Args:
        choices: What can be done; of each, the action is the name that is returned.
        back: What `esc` returns, where it leads back to something; else it closes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("decision"),
        Binding("escape", "close", show=False, priority=True),
    ]
    AUTO_FOCUS = "#detail"
    DEFAULT_CSS = """
    DetailSheet #detail-head { height: auto; max-height: 3; text-style: bold; margin-bottom: 1; }
    DetailSheet #detail { height: auto; background: $panel; }
    DetailSheet KeyRow { margin-top: 1; }
    DetailSheet.-small #detail-head, DetailSheet.-small KeyRow { margin: 0; }
    """

    def __init__(
        self, title: str, body: Content, choices: Sequence[KeyChoice], back: str = ""
    ) -> None:
        super().__init__()
        self._back = back
        self._title = title
        self._body = body
        self._offered = tuple(choices)

    def _content(self) -> ComposeResult:
        yield Static(Content(one_line(self._title, 400)), id="detail-head")
        with VerticalScroll(id="detail"):
            yield Static(self._body)
        leave = KeyChoice("esc", "Back" if self._back else "Close", "close")
        yield KeyRow((*self._offered, leave))

    def action_close(self) -> None:
        """Go back to where it was opened, or close."""
        self.finish(self._back or None)

    async def _choose(self, action: str) -> None:
        if action == "close":
            self.action_close()
        else:
            self.action_take(action)

    def action_take(self, name: str) -> None:
        """Return what is to be done, where that is offered."""
        if any(choice.action == name for choice in self._offered):
            self.finish(name)

    def _fit(self, rows: int) -> None:
        taken = 4 if self.has_class("-small") else 7
        self.query_one("#detail").styles.max_height = max(2, rows - taken)
