"""The leader popup: what the next key would do."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.keys.actions import Action
from amplifier_tui.ui.keys.keymap import Keymap, show_key


class LeaderPopup(Sheet[str | None]):
    """Takes one key and returns the id of its action; None for any other key.

    Args:
        keymap: The chords in force.
    """

    DEFAULT_CSS = """
    LeaderPopup > #sheet { padding: 1 2; }
    LeaderPopup.-small > #sheet { height: auto; }
    """

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._chords = keymap.by_chord()
        self._leader = keymap.leader()

    def content(self) -> ComposeResult:
        """Make the columns."""
        yield Static(id="chords")

    def fit(self, rows: int) -> None:
        """Lay the chords out in as many columns as fit."""
        width = max(20, self.app.size.width - 4)
        self.query_one("#chords", Static).update(
            chord_columns(self._chords, self._leader, width, rows - 2)
        )

    def on_key(self, event: events.Key) -> None:
        """Take the key, whatever it is."""
        event.stop()
        event.prevent_default()
        self.take(event.key)

    def take(self, key: str) -> None:
        """Close with what the key means, or with nothing."""
        action = self._chords.get(key)
        if self.is_active:
            self.dismiss(action.id if action is not None else None)

    def on_click(self) -> None:
        """A click closes it."""
        if self.is_active:
            self.dismiss(None)


def chord_columns(chords: dict[str, Action], leader: str, width: int, rows: int) -> Content:
    """Lay out chords by group.

    Args:
        chords: Actions by the key that follows the leader.
        leader: The leader key as the screen shows it.
        width: Cells there are.
        rows: Rows there are; what does not fit is left out from the end.
    """
    cells: list[Content] = []
    size = 36
    for chord, action in chords.items():
        key = show_key(chord)
        cell = Content.assemble((f" {key} ", "bold on $background"), " ", action.title)
        cells.append(cell.truncate(size - 2, ellipsis=True))
    columns = max(1, width // size)
    height = -(-len(cells) // columns)
    lines = [Content.assemble((leader, "bold $text-secondary"), ("  then", "$text-muted"))]
    if height + 2 <= rows:
        lines.append(Content())
    for row in range(min(height, max(1, rows - len(lines)))):
        parts = cells[row::height]
        lines.append(Content("").join(part.pad_right(size - part.cell_length) for part in parts))
    return Content("\n").join(lines)
