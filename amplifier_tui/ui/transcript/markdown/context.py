"""Where in a Markdown construct a piece of source begins.

A long list, table, fence or paragraph is cut into pieces that are parsed on their own. The
context of a piece is a few lines of source which put the parser back into the constructs that
were open at the cut, and the way to take what they added out of the parsed tree again.
"""

from typing import Literal, NamedTuple

from amplifier_tui.ui.transcript.markdown.blocks import Block, ItemList, Paragraph, Quote, Table


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
