"""What every dialog is: a surface that comes up from the foot of the screen.

The conversation stays readable above it and goes on; the prompt and the status bar stay visible
below it. On a small screen the sheet takes all of it.
"""

from typing import TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget

T = TypeVar("T")

SMALL = (80, 20)
"""Below this many columns or rows a sheet takes the whole screen."""


class Sheet(ModalScreen[T]):
    """A modal screen with its content in a container at the bottom."""

    DEFAULT_CSS = """
    Sheet {
        background: transparent;
        align: left bottom;
        overflow: hidden;
    }
    Sheet > #sheet {
        width: 100%;
        height: auto;
        background: $panel;
        padding: 1 2;
    }
    Sheet.-small > #sheet { height: 100%; max-height: 100%; padding: 0 1; }
    """

    def compose(self) -> ComposeResult:
        """Put the content into the sheet."""
        with Vertical(id="sheet"):
            yield from self.content()

    def content(self) -> ComposeResult:
        """Make the widgets of the dialog."""
        yield from ()

    @property
    def sheet(self) -> Widget:
        """The container."""
        return self.query_one("#sheet")

    def room(self) -> int:
        """Return how many rows the sheet may take."""
        small = self._is_small()
        return self.app.size.height - (0 if small else self._foot())

    def _is_small(self) -> bool:
        width, height = self.app.size
        return width < SMALL[0] or height < SMALL[1]

    def _foot(self) -> int:
        foot = self.app.screen_stack[0].query("Prompt, QueueLine, StatusBar")
        return sum(widget.outer_size.height for widget in foot if widget.display)

    def on_mount(self) -> None:
        """Take the size there is."""
        self._fit()

    def on_resize(self) -> None:
        """Follow the terminal."""
        self._fit()

    def _fit(self) -> None:
        small = self._is_small()
        self.set_class(small, "-small")
        sheet = self.sheet
        sheet.styles.margin = (0, 0, 0 if small else self._foot(), 0)
        sheet.styles.max_height = self.room()
        self.fit(self.room())

    def fit(self, rows: int) -> None:
        """Adapt to the height there is; called on every resize."""
