"""Where things stand in a row: the edge, the text, what belongs to a tool line."""

from dataclasses import dataclass
from typing import Self

MAX_MEASURE = 110
"""The widest text column, in cells (`ui.md`)."""

_ROOMY = 60
_TIGHT = 30


@dataclass(frozen=True, slots=True)
class Column:
    """The text column of a transcript, in cells.

    Attributes:
        edge: Where the edge beside the user's words is drawn.
        text: Where text begins: two cells right of the edge.
        measure: The width of the text.
        body: How far what belongs to a tool line is indented from `text`.
    """

    edge: int
    text: int
    measure: int
    body: int

    @classmethod
    def fit(cls, width: int) -> Self:
        """Return the column for a widget of `width` cells; centred when there is room to spare."""
        edge, right = (2, 1) if width >= _ROOMY else (0, 0)
        measure = max(1, min(MAX_MEASURE, width - edge - 2 - right))
        spare = width - edge - 2 - measure - right
        edge += max(0, spare // 2)
        return cls(edge, edge + 2, measure, 10 if width >= _TIGHT else 4)

    def inset(self, cells: int) -> Self:
        """Return the column for something nested `cells` deeper."""
        cells = max(0, min(cells, self.measure - 1))
        return type(self)(self.edge + cells, self.text + cells, self.measure - cells, self.body)
