"""Markdown source to blocks, with markdown-it (imported at the first call)."""

import re
from collections.abc import Iterator, MutableMapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from amplifier_tui.ui.transcript.lines import Span, width_of
from amplifier_tui.ui.transcript.markdown.blocks import (
    ROOT,
    STAND_IN,
    Align,
    Block,
    Cell,
    Code,
    Context,
    Heading,
    ItemList,
    ListItem,
    Paragraph,
    Quote,
    Table,
    ThematicBreak,
    conceal,
)
from amplifier_tui.ui.transcript.markdown.inline import chunks, inline_spans

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

References = MutableMapping[str, Any]
"""The link references of a document, filled and read by the parser."""

MEASURED_ROWS = 16
"""How many rows of a table's body decide on its column widths."""

_PLAIN_COLUMN = 40
_TASK = re.compile(r"\[([ xX])\](?: |\Z)")


@cache
def parser() -> "MarkdownIt":
    """Return the one parser: tables and strikethrough, no HTML, blocks only.

    Inline source is parsed block by block as it is needed. HTML is off, so it reads as text.
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("gfm-like", {"linkify": False, "html": False})
    markdown.core.ruler.enableOnly(["normalize", "block"])
    return markdown


def tokens_of(source: str, references: References) -> list["Token"]:
    """Return the block tokens of `source`; inline tokens have no children."""
    return parser().parse(source, references)


def parse(
    source: str,
    context: Context = ROOT,
    references: References | None = None,
    base: str = "text",
    *,
    plain: bool = False,
) -> list[Block]:
    """Return the blocks of a piece of clean Markdown, given the blocks open where it begins.

    Link references found are added to those of the text. `base` is the style of plain text; `plain`
    leaves inline source and code as they are, for comparing structure cheaply.
    """
    references = {} if references is None else references
    builder = _Builder(context, references, base, plain)
    blocks = builder.blocks(tokens_of(context.prefix + source, references))
    conceal(blocks, context, plain=plain)
    return blocks


def table_of(tokens: Sequence["Token"], references: References, base: str) -> Table:
    """Return the table whose tokens, from `table_open` on, are given."""
    return _Builder(ROOT, references, base, plain=False).table(tokens)


class _Builder:
    def __init__(self, context: Context, references: References, base: str, plain: bool) -> None:
        self._references = references
        self._plain = plain
        self._base = base
        self._resumes_text = bool(context.steps) and context.steps[0].kind == "text"

    def blocks(self, tokens: Sequence["Token"], base: str = "") -> list[Block]:
        return [
            block
            for group in siblings(tokens)
            if (block := self._block(group, base or self._base)) is not None
        ]

    def _block(self, group: Sequence["Token"], base: str) -> Block | None:
        token = group[0]
        match token.type:
            case "paragraph_open":
                content = group[1].content
                if self._resumes_text:
                    content = content[len(STAND_IN) + 1 :]
                    self._resumes_text = False
                return Paragraph([self._spans(part, base) for part in chunks(content)])
            case "heading_open":
                style = base if base == "thinking" else "heading"
                return Heading(int(token.tag[1:]), self._spans(group[1].content, style))
            case "fence":
                language = "" if self._plain else language_of(token)
                return Code(token.content.removesuffix("\n"), language)
            case "code_block":
                return Code(token.content.removesuffix("\n"))
            case "hr":
                return ThematicBreak()
            case "blockquote_open":
                inner = base if base == "thinking" else "quote"
                return Quote(self.blocks(group[1:-1], inner))
            case "bullet_list_open" | "ordered_list_open":
                items = [self._item(item, base) for item in siblings(group[1:-1])]
                start = int(token.attrs.get("start", 1))
                return ItemList(items, token.type == "ordered_list_open", start)
            case "table_open":
                return self.table(group)
            case _:
                return None

    def _item(self, group: Sequence["Token"], base: str) -> ListItem:
        tokens = group[1:-1]
        task = None
        if len(tokens) > 1 and tokens[1].type == "inline":
            task = _TASK.match(tokens[1].content)
        if task is None:
            return ListItem(self.blocks(tokens, base))
        tokens[1].content = tokens[1].content[task.end() :]
        return ListItem(self.blocks(tokens, base), "open" if task[1] == " " else "done")

    def table(self, tokens: Sequence["Token"]) -> Table:
        rows: list[list[Cell]] = []
        aligns: list[Align] = []
        for token, following in zip(tokens, [*tokens[1:], None], strict=True):
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "table_close":
                break
            elif token.type in ("th_open", "td_open") and following is not None:
                head = token.type == "th_open"
                if head:
                    aligns.append(_align(str(token.attrs.get("style", ""))))
                style = f"{self._base}+b" if head else self._base
                rows[-1].append(self._spans(following.content, style))
        header, body = rows[0], rows[1:]
        if self._plain:
            return Table(header, body, aligns, (_PLAIN_COLUMN,) * len(header))
        measured = [header, *body[:MEASURED_ROWS]]
        naturals = tuple(
            max(1, *(width_of(row[column]) for row in measured)) for column in range(len(header))
        )
        return Table(header, body, aligns, naturals)

    def _spans(self, content: str, base: str) -> list[Span]:
        if self._plain:
            return [Span(content, base)]
        return inline_spans(parser(), content, self._references, base)


def language_of(fence: "Token") -> str:
    """Return the language a fence names, or an empty string."""
    words = fence.info.split(maxsplit=1)
    return words[0].lower() if words else ""


def _align(style: str) -> Align:
    if style.endswith("right"):
        return "right"
    return "center" if style.endswith("center") else "left"


def siblings(tokens: Sequence["Token"]) -> Iterator[Sequence["Token"]]:
    """Group tokens into the blocks on their outermost level."""
    start = depth = 0
    for index, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : index + 1]
            start = index + 1
