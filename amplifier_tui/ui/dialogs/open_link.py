"""Asks before an address from the conversation is opened."""

from typing import ClassVar
from urllib.parse import urlsplit

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.dialogs.approval.payload import text_lines
from amplifier_tui.ui.dialogs.parts.key_row import Choice, KeyRow
from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines

_SCHEMES = frozenset(("http", "https"))


def host_of(url: str) -> str:
    """Return the host an address leads to; empty for one that is not opened: no web address."""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "") if parts.scheme.lower() in _SCHEMES else ""
    except ValueError:
        return ""


class OpenLink(Sheet[str | None]):
    """Returns `open` or `copy`; None when it was closed.

    Args:
        url: The address, as the model wrote it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", show=False),
        Binding("y", "copy", show=False),
        Binding("escape", "close", show=False),
    ]
    AUTO_FOCUS = "#address"
    DEFAULT_CSS = """
    OpenLink #link-head { margin-bottom: 1; }
    OpenLink #address { background: $panel; margin-left: 2; }
    OpenLink KeyRow { margin-top: 1; }
    OpenLink.-small > #sheet { height: auto; }
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._host = host_of(url)

    def content(self) -> ComposeResult:
        """Make the address and the keys."""
        if self._host:
            head = Content.assemble("Opens ", (one_line(self._host, 200), "bold"))
        else:
            head = Content.styled("This is no web address; it is not opened.", "$text-warning")
        yield Static(head, id="link-head")
        yield ScrollLines(text_lines(self._url), id="address")
        choices = [Choice("o", "Open in the browser", "open")] if self._host else []
        yield KeyRow([*choices, Choice("y", "Copy", "copy"), Choice("esc", "Close", "close")])

    def fit(self, rows: int) -> None:
        """Let a long address scroll."""
        self.query_one(ScrollLines).styles.max_height = max(1, rows - 6)

    @on(KeyRow.Clicked)
    async def _clicked(self, event: KeyRow.Clicked) -> None:
        event.stop()
        await self.run_action(event.action)

    def action_open(self) -> None:
        """Open it."""
        if self._host and self.is_active:
            self.dismiss("open")

    def action_copy(self) -> None:
        """Copy it."""
        if self.is_active:
            self.dismiss("copy")

    def action_close(self) -> None:
        """Do nothing."""
        if self.is_active:
            self.dismiss(None)
