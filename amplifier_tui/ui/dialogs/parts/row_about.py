"""What the row under the cursor of a list says, whole: in the row it may be cut."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.widgets import Static

from amplifier_tui.ui.widgets.pick_list import PickList, PickRow

_ROW_EDGES: Final = 4
"""Cells of a row beside its words: its margins, and the gap between left and right."""


class RowAbout(Static):
    """Stands below a list, in rows that stay its own, so that nothing moves with the cursor."""

    DEFAULT_CSS = """
    RowAbout { margin-top: 1; color: $text-muted; }
    Sheet.-small RowAbout { margin-top: 0; }
    """

    def __init__(self) -> None:
        super().__init__(id="row-about", markup=False)

    def take(self, rows: int) -> None:
        """Take so many rows; none for not being there."""
        self.display = rows > 0
        self.styles.height = rows

    def tell(self, parts: Sequence[Content]) -> None:
        """Show these, each on rows of its own."""
        self.update(Content("\n").join(parts), layout=False)


class RowText(Static):
    """Stands below a list, in as many rows as the text of the row needs."""

    DEFAULT_CSS = """
    RowText { height: auto; margin-top: 1; color: $text-muted; }
    """

    def __init__(self) -> None:
        super().__init__(id="row-text", markup=False)

    def tell(self, text: str, width: int, most: int) -> int:
        """Show a text, cut with a mark after `most` rows, and return how many it has."""
        lines = Content(text).wrap(width) if text else []
        if len(lines) > most:
            last = lines[most - 1].rstrip()
            lines = [*lines[: most - 1], last.truncate(width - 2, ellipsis=False) + " …"]
        self.update(Content("\n").join(lines))
        return len(lines)


def is_cut(rows: PickList, row: PickRow) -> bool:
    """Whether a row does not hold its words, once the list has a width."""
    width = rows.size.width - _ROW_EDGES
    return width > 0 and row.left.cell_length + row.right.cell_length > width
