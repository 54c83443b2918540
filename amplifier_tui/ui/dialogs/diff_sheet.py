"""A change, on the whole screen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import clean, one_line
from amplifier_tui.host.client import SessionClient
from amplifier_tui.ui.dialogs.approval_words import change_counts, diff_rows
from amplifier_tui.ui.dialogs.parts.reading import FullReadingSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyRow
from amplifier_tui.ui.diffs.reader import Reader
from amplifier_tui.ui.diffs.rows import DiffRows
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.widgets.messages import CopyRequested


class DiffSheet(FullReadingSheet[None]):
    """Shows a diff; it decides nothing.

    Args:
        title: What made it, or what it is about.
        made: The change was made, or else it would be.
        rows: What `diff_rows` makes of the diff, where that was done already.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("diff")
    SCOPE = "diff"
    DEFAULT_CSS = """
    DiffSheet #diff-head { height: 1; }
    DiffSheet #diff-title { width: 1fr; text-style: bold; color: $text-secondary; }
    DiffSheet #diff-count { width: auto; height: 1; }
    """

    def __init__(
        self,
        title: str,
        diff: str,
        client: SessionClient,
        keymap: Keymap,
        *,
        made: bool = True,
        rows: DiffRows | None = None,
    ) -> None:
        super().__init__()
        self.set_up_reading(diff, client, keymap, made=made)
        self._title = title
        self._rows = diff_rows(diff) if rows is None else rows

    def _content(self) -> ComposeResult:
        """Make the head, the diff and the keys."""
        with Horizontal(id="diff-head"):
            yield Static(Content(one_line(self._title, 60)), id="diff-title", classes="one-row")
            yield Static(change_counts(self._rows.changed), id="diff-count")
        yield Reader(self._rows, full=True)
        yield KeyRow()

    def action_copy(self) -> None:
        """Copy the diff."""
        self.post_message(CopyRequested(clean(self._diff), "diff"))
