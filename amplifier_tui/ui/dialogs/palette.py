"""The command palette: every action, found by typing."""

from collections.abc import Sequence

from amplifier_tui.ui.dialogs.action_rows import action_row, action_text
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.keys.actions import ACTIONS
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.widgets.pick_list import PickRow


class Palette(Picker):
    """Returns the id of the action to run.

    Args:
        keymap: The keys to show.
    """

    TITLE = "Commands"
    PLACEHOLDER = "Type to find a command"
    CHOOSE = "Run"

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def rows_for(self, query: str) -> Sequence[PickRow]:
        """Return the actions that match."""
        listed = [action for action in ACTIONS if action.listed and action.id != "app.palette"]
        found = rank(query, listed, action_text)
        return [action_row(action, self._keymap, query) for action in found]
