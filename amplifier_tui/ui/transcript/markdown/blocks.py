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


class OpenBlock(NamedTuple):
    """One open construct, from the outside in.

    Attributes:
        kind: `item` goes on inside a list item; `sibling` begins a list's next item; `quote`,
            `fence`, `code`, `table` and `text` (a paragraph) go on inside theirs.
        number: The number of the stand-in item, for `item` and `sibling`.
        naturals: The column widths of a `table`.
    """

    kind: Literal["quote", "item", "sibling", "fence", "code", "table", "text"]
    number: int = 0
    naturals: tuple[int, ...] = ()


class Context(NamedTuple):
    """The constructs open at the start of a piece.

    Attributes:
        prefix: The source that opens them again. Each list item and quote in it holds a
            paragraph `x` as its first child.
        steps: The constructs.
    """

    prefix: str = ""
    steps: tuple[OpenBlock, ...] = ()


ROOT = Context()
STAND_IN = "x"


def conceal(blocks: list[Block], context: Context, *, plain: bool = False) -> None:
    """Take what `context.prefix` added out of `blocks`, and mark what goes on as continued.

    Args:
        blocks: The blocks of a piece, parsed with the prefix before it.
        context: Its context.
        plain: Leave the column widths of a table that goes on (see `markdown_parse.parse`).
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
