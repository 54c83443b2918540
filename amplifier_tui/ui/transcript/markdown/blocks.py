"""Markdown as a tree of blocks: no theme, no width, no source positions."""

from dataclasses import dataclass, field
from typing import Literal

from amplifier_tui.ui.transcript.text.lines import Span

Align = Literal["left", "center", "right"]
Mark = Literal["", "done", "open"]
Cell = list[Span]


@dataclass(slots=True)
class Paragraph:
    """Running text; a very long one comes in several chunks (see `markdown_inline.chunks`)."""

    chunks: list[list[Span]]
    continued: bool = False


@dataclass(slots=True)
class Heading:
    """A section head of level 1 to 6."""

    level: int
    spans: list[Span]
    continued: bool = False


@dataclass(slots=True)
class Code:
    """A fenced or indented block."""

    text: str
    language: str = ""
    continued: bool = False


@dataclass(slots=True)
class ThematicBreak:
    """A thematic break."""

    continued: bool = False


@dataclass(slots=True)
class Quote:
    """A block quote."""

    children: list["Block"] = field(default_factory=list)
    continued: bool = False


@dataclass(slots=True)
class ListItem:
    """An item of a list. A continued one has shown its marker already."""

    children: list["Block"] = field(default_factory=list)
    mark: Mark = ""
    continued: bool = False


@dataclass(slots=True)
class ItemList:
    """A list; `start` is the number of its first item."""

    items: list[ListItem]
    ordered: bool = False
    start: int = 1
    continued: bool = False


@dataclass(slots=True)
class Table:
    """A table.

    Attributes:
        header: The cells of its head.
        rows: The cells of its body; every row is as long as the header.
        aligns: One alignment a column.
        naturals: The natural width of each column in cells, from the head and the first rows;
            later rows do not change it, so that a row on screen never moves.
        continued: Its head has been shown already.
    """

    header: list[Cell]
    rows: list[list[Cell]]
    aligns: list[Align]
    naturals: tuple[int, ...] = ()
    continued: bool = False


Block = Paragraph | Heading | Code | ThematicBreak | Quote | ItemList | Table
"""Any block. `continued` says that it began in an earlier piece: no blank row before it."""
