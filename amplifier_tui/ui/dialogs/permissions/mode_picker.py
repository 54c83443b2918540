"""The picker of modes: what goes through without a question."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import Mode
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.dialogs.parts.row_about import RowText, is_cut
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.widgets.pick_list import PickRow

MODES: dict[Mode, str] = {
    "plan": "Reads and proposes; changes nothing.",
    "ask": "Reads; asks before it writes, runs commands or reaches out.",
    "edits": "Reads, writes in the workspace; asks about commands and the rest.",
    "auto": "Writes, runs commands in the sandbox; asks about the rest.",
}


def auto_words(sandbox: str, uncopied: str = "") -> str:
    """Return what `auto` means here.

    Args:
        sandbox: Why commands can't run in one.
        uncopied: Why no copies are kept of what commands change.
    """
    if sandbox:
        held = f"There is no sandbox here ({one_line(sandbox, 200)}), so auto asks about commands."
    else:
        held = (
            "Commands run in the sandbox: they read all of the workspace, such as .env, write in "
            "it alone, and have no network."
        )
    lost = ""
    if uncopied:
        lost = (
            " No copies are kept of what commands change here "
            f"({one_line(uncopied, 200)}): going back does not undo them. Deleting or overwriting "
            "what git does not have asks."
        )
    first = "In auto the agent writes in the workspace without asking."
    return f"{first} {held} Critical calls ask.{lost}"


class ModePicker(Picker):
    """Returns the mode to apply."""

    TITLE = "What goes through without a question"
    CHOOSE = "Apply"
    EMPTY = ("", "No mode matches.")
    ROWS = (4, 8)
    BELOW = 2

    def __init__(self, current: Mode, sandbox: str, uncopied: str = "") -> None:
        super().__init__()
        self._current = current
        self._sandbox = sandbox
        self._uncopied = uncopied

    def _first(self) -> str:
        return self._current

    def _below(self) -> ComposeResult:
        yield RowText()

    def _highlighted(self, row: PickRow | None) -> None:
        # What the row says already is not said again.
        cut = row is not None and is_cut(self.rows, row)
        self._tell_whole(row.left.plain.partition("  ")[2] if row is not None and cut else "")

    def _fit(self, rows: int) -> None:
        super()._fit(rows)
        # The width that decides what is cut is known after the layout.
        self.call_after_refresh(lambda: self._highlighted(self.rows.row))

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        rows = [self._row(mode) for mode in rank(query, MODES, str)]
        if self._sandbox:
            words = f"! auto asks about commands here: {one_line(self._sandbox, 200)}"
            rows.append(PickRow("", Content.styled(words, "$text-warning")))
        if self._uncopied:
            words = f"! commands can't be undone here: {one_line(self._uncopied, 200)}"
            rows.append(PickRow("", Content.styled(words, "$text-warning")))
        return rows

    def _row(self, mode: Mode) -> PickRow:
        left = Content.assemble((mode, "bold"), (f"  {MODES[mode]}", "$text-muted"))
        words = "in force" if mode == self._current else ""
        return PickRow(mode, left, Content.styled(words, "$text-muted"))
