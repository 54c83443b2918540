"""Markdown as a tree of blocks, and the blocks that are open where a piece of source begins.

A long list, table, fence or paragraph is cut into pieces that are parsed on their own. The
context of a piece is a few lines of source which put the parser back into the blocks that were
open at the cut, and the way to take what they added out of the parsed tree again.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from amplifier_tui.ui.transcript.lines import Span

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
    """A table; every row is as long as the header.

    `naturals`, the width in cells of each column, comes from the head and the first rows: later
    ones do not change it, so that a row on screen never moves.
    """

    header: list[Cell]
    rows: list[list[Cell]]
    aligns: list[Align]
    naturals: tuple[int, ...] = ()
    continued: bool = False


Block = Paragraph | Heading | Code | ThematicBreak | Quote | ItemList | Table
"""Any block. `continued` says that it began in an earlier piece: no blank row before it."""


class OpenBlock(NamedTuple):
    """One open block, from the outside in.

    `item` goes on inside a list item, `sibling` begins a list's next item (`number` is that of the
    stand-in), the others go on inside theirs. `naturals` are a table's column widths.
    """

    kind: Literal["quote", "item", "sibling", "fence", "code", "table", "text"]
    number: int = 0
    naturals: tuple[int, ...] = ()


class Context(NamedTuple):
    """The blocks open at the start of a piece, and the source (`prefix`) that opens them again.

    Each list item and quote in the prefix holds a paragraph `x` as its first child.
    """

    prefix: str = ""
    steps: tuple[OpenBlock, ...] = ()


ROOT = Context()
STAND_IN = "x"


def conceal(blocks: list[Block], context: Context, *, plain: bool = False) -> None:
    """Take what `context.prefix` added out of a piece's blocks, and mark what goes on as continued.

    `plain` leaves the column widths of a table that goes on (see `parse`).
    """
    nodes = blocks
    for step in context.steps:
        if not nodes:
            return
        node = nodes[0]
        node.continued = True
        if step.kind == "quote" and isinstance(node, Quote):
            nodes = node.children
        elif step.kind in ("item", "sibling") and isinstance(node, ItemList):
            if step.kind == "sibling":
                node.start = step.number + 1
                del node.items[0]
                return
            node.start = step.number
            node.items[0].continued = True
            nodes = node.items[0].children
        else:
            if step.kind == "table" and isinstance(node, Table) and not plain:
                node.naturals = step.naturals
            return
        # The stand-in paragraph of the container just entered.
        if nodes and isinstance(nodes[0], Paragraph):
            del nodes[0]
