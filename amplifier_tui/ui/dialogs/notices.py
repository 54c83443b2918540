"""What the status bar has said so far."""

import time
from collections.abc import Sequence

from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import Level
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.state.notices import ShownNotice
from amplifier_tui.ui.widgets.pick_list import PickRow

GLYPHS: dict[Level, tuple[str, str]] = {
    "info": ("·", "$text-muted"),
    "warning": ("!", "$text-warning"),
    "error": ("✗", "$text-error"),
}


class NoticeHistory(Picker):
    """Lists notices, newest first; returns the index of the one to copy.

    Args:
        history: Oldest first.
    """

    TITLE = "Notices"
    CHOOSE = "Copy"

    def __init__(self, history: Sequence[ShownNotice]) -> None:
        super().__init__()
        self._history = list(enumerate(history))[::-1]

    def rows_for(self, query: str) -> Sequence[PickRow]:
        """Return the notices that match."""
        found = rank(
            query, self._history, lambda item: f"{item[1].notice.text} {item[1].notice.source}"
        )
        return [self._row(index, shown) for index, shown in found]

    def _row(self, index: int, shown: ShownNotice) -> PickRow:
        glyph, colour = GLYPHS[shown.level]
        clock = time.strftime("%H:%M:%S", time.localtime(shown.since))
        left = Content.assemble(
            (f"{clock} ", "$text-muted"), (f"{glyph} ", colour), one_line(shown.notice.text, 500)
        )
        return PickRow(
            str(index), left, Content.styled(one_line(shown.notice.source, 40), "$text-muted")
        )

    def empty_words(self, query: str) -> str:
        """Say why there is no row."""
        return "No notice matches." if query else "No notice yet."
