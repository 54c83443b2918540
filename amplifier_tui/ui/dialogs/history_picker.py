"""Searching the prompts that were sent before."""

from collections.abc import Sequence

from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.fuzzy import match, rank
from amplifier_tui.ui.widgets.pick_list import PickRow, marked


class HistoryPicker(Picker):
    """Returns the index of the prompt to put into the draft.

    Args:
        items: Earlier prompts, oldest first.
        query: What to look for first.
    """

    TITLE = "History"
    PLACEHOLDER = "Type to search earlier prompts"
    CHOOSE = "Use"
    ROWS = (6, 12)

    def __init__(self, items: Sequence[str], query: str = "") -> None:
        super().__init__(query)
        # The newest of equal prompts is the one that counts.
        newest = {text: index for index, text in enumerate(items)}
        self._items = [(index, one_line(text, 400), text) for text, index in newest.items()]
        self._items.sort(reverse=True)

    def rows_for(self, query: str) -> Sequence[PickRow]:
        """Return the prompts that match, newest first among equals."""
        rows: list[PickRow] = []
        for index, line, text in rank(query, self._items, lambda item: item[1]):
            hit = match(query, line) if query else None
            count = text.count("\n")
            words = f"{count + 1} lines" if count else ""
            left = marked(line, hit[1] if hit else ())
            rows.append(PickRow(str(index), left, Content.styled(words, "$text-muted")))
        return rows

    def empty_words(self, query: str) -> str:
        """Say why there is no row."""
        return "No prompt matches." if query else "No prompt was sent yet."
