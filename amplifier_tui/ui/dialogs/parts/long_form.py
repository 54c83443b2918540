"""The long form of what a dialog says: scrolled where it does not fit."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static


class LongForm(VerticalScroll):
    """Shows a text in the rows it is given."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("space,enter", "page_down", show=False),
    ]
    DEFAULT_CSS = """
    LongForm { scrollbar-size-vertical: 1; scrollbar-color: $scrollbar; }
    """

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static()

    def show(self, content: Content, wanted: int, most: int) -> int:
        """Show this text, which takes `wanted` rows, in at most `most`; return those it takes."""
        self.query_one(Static).update(content)
        rows = max(1, min(wanted, most))
        self.styles.height = rows
        return rows
