"""The prompts that the session can go back before."""

import time
from collections.abc import Sequence

from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import RewindPoint
from amplifier_tui.ui.dialogs.parts.picker import AskingPicker, marked_match
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.state.formats import ago, plural
from amplifier_tui.ui.widgets.pick_list import PickRow


class RewindPicker(AskingPicker[RewindPoint]):
    """Returns the number of the turn to go back before; the newest is listed first."""

    TITLE = "Go back before"
    PLACEHOLDER = "Type to filter your prompts"
    CHOOSE = "See what that does"
    WHAT = "prompts"
    KEY = "turn"
    EMPTY = ("Nothing was said yet.", "No prompt matches.")
    ROWS = (4, 16)

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        points = rank(query, self.cards.values(), lambda point: one_line(point.prompt, 400))
        return [self._row(point, query) for point in points]

    def _row(self, point: RewindPoint, query: str) -> PickRow:
        words = [plural(point.files, "file")] if point.files else []
        if point.at:
            words.append(ago(time.time() - point.at))
        left = marked_match(one_line(point.prompt, 400), query)
        return PickRow(str(point.turn), left, Content.styled(" · ".join(words), "$text-muted"))
