"""Markdown source to block tokens, with markdown-it, and the blocks open where a piece begins.

A long list, table, fence or paragraph is cut into pieces that are parsed on their own. The
context of a piece is a few lines of source which put the parser back into the blocks that were
open at the cut, and the names of these blocks, so that what the lines added is not drawn.
"""

from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

References = MutableMapping[str, Any]
"""The link references of a document, filled and read by the parser."""


class OpenBlock(NamedTuple):
    """One open block, from the outside in.

    `item` goes on inside a list item, `sibling` begins a list's next item (`number` is that of the
    stand-in), the others go on inside theirs. `naturals` and `leasts` are a table's column widths.
    """

    kind: Literal["quote", "item", "sibling", "fence", "code", "table", "text"]
    number: int = 0
    naturals: tuple[int, ...] = ()
    leasts: tuple[int, ...] = ()


class Context(NamedTuple):
    """The blocks open at the start of a piece, and the source (`prefix`) that opens them again.

    Each list item and quote in the prefix holds a paragraph `x` as its first child.
    """

    prefix: str = ""
    steps: tuple[OpenBlock, ...] = ()


ROOT = Context()
STAND_IN = "x"


@cache
def parser() -> "MarkdownIt":
    """Return the one parser: tables and strikethrough, no HTML, blocks only.

    Inline source is parsed block by block as it is needed. HTML is off, so it reads as text.
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("gfm-like", {"linkify": False, "html": False})
    markdown.core.ruler.enableOnly(["normalize", "block"])
    markdown.block.ruler.at("reference", _reference)
    return markdown


def _reference(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """Take a reference from the text, but a footnote, which reads like one, stays in it."""
    from markdown_it.rules_block import reference

    begin = state.bMarks[start] + state.tShift[start]
    return not state.src.startswith("[^", begin) and reference(state, start, end, silent)


def blocks_of(source: str, references: References) -> list[Sequence["Token"]]:
    """Return the tokens of each outermost block of `source`; inline tokens have no children."""
    return siblings(parser().parse(source, references))


def siblings(tokens: Sequence["Token"]) -> list[Sequence["Token"]]:
    """Group tokens into the blocks on their outermost level."""
    groups: list[Sequence[Token]] = []
    start = depth = 0
    for index, token in enumerate(tokens, 1):
        depth += token.nesting
        if depth == 0:
            groups.append(tokens[start:index])
            start = index
    return groups


def code_blocks(source: str) -> list[str]:
    """Return what stands in the blocks of code of a clean text, wherever they are in it."""
    tokens = parser().parse(source)
    return [token.content for token in tokens if token.type in ("fence", "code_block")]


def language_of(fence: "Token") -> str:
    """Return the language a fence names, or an empty string."""
    words = fence.info.split(maxsplit=1)
    return words[0].lower() if words else ""
