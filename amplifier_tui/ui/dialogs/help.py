"""Every key, chord and command, by group; made from the table, so it is never out of date."""

from collections.abc import Sequence

from textual.content import Content

from amplifier_tui.ui.dialogs.action_rows import action_row, action_text
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.keys.actions import ACTIONS, BY_ID, groups
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.keys.pane_keys import pane_actions
from amplifier_tui.ui.widgets.pick_list import PickRow


class Help(Picker):
    """Returns the id of an action to run.

    Args:
        keymap: The keys to show.
    """

    TITLE = "Keys and commands"
    PLACEHOLDER = "Type to find one"
    CHOOSE = "Run"
    ROWS = (20, 60)

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def rows_for(self, query: str) -> Sequence[PickRow]:
        """Return the groups, or the actions that match."""
        full = self.app.size.width >= 100
        actions = (*ACTIONS, *pane_actions())
        if query:
            found = rank(query, actions, action_text)
            return [action_row(action, self._keymap, query, full=full) for action in found]
        rows: list[PickRow] = []
        for name, members in groups(actions):
            if rows:
                rows.append(PickRow("", Content()))
            rows.append(PickRow("", Content.styled(name, "$text-secondary bold")))
            rows += [action_row(action, self._keymap, full=full) for action in members]
        return rows

    def data(self, rows: Sequence[PickRow]) -> Content:
        """Say where keys are changed."""
        return Content("keymap.toml changes them")

    def chosen(self, row: PickRow) -> None:
        """Run what can be run from here; keys of other places are only explained."""
        action = BY_ID.get(row.id)
        if action is not None and action.listed:
            super().chosen(row)
