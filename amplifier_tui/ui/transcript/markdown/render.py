"""Markdown as lines, also while it is still being written."""

import re
from collections.abc import Sequence

from amplifier_tui.ui.transcript.lines import BLANK, Span, StyledLine, indented, spaces, wrap
from amplifier_tui.ui.transcript.markdown.blocks import (
    ROOT,
    Block,
    Code,
    Context,
    Heading,
    ItemList,
    ListItem,
    Paragraph,
    Quote,
    Table,
    ThematicBreak,
)
from amplifier_tui.ui.transcript.markdown.code import code_lines
from amplifier_tui.ui.transcript.markdown.parse import References, parse
from amplifier_tui.ui.transcript.markdown.table import table_lines

_FENCE = re.compile(r"^[ >]*(?:`{3,}|~{3,})", re.MULTILINE)
_ONLY_MARKS = re.compile(r"(?:\A|\n)[ >]*(?:[-=*_`~#|+]{1,4}|\d{1,3}[.)]?)\Z")
_PARAGRAPH = re.compile(r"\n(?=[ >]*(?:\n|[-+*] |\d{1,9}[.)] |#|\|))")
_CODE = re.compile(r"(`+)[^`]+\1(?!`)")
_HALF_MARK = re.compile(r"[*_~`]+\Z")
_HALF_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\Z")
_LOOK_BACK = 2000


def presentable(source: str, context: Context) -> str:
    """Return the source of a growing text's last piece with what is open at its end closed."""
    resumed = bool(context.steps) and context.steps[-1].kind == "fence"
    in_fence = (len(_FENCE.findall(source)) + resumed) % 2
    if in_fence or _FENCE.match(source, source.rfind("\n") + 1):
        return source
    source = _ONLY_MARKS.sub("", source)
    start = max(0, len(source) - _LOOK_BACK)
    for match in _PARAGRAPH.finditer(source, start):
        start = match.end()
    head, tail = source[:start], source[start:]
    tail = _HALF_LINK.sub(r"\1", tail)
    bare = _CODE.sub("", tail)
    if "`" in bare:
        return head + (tail + "`" if not tail.endswith("`") else tail.rstrip("`"))
    shorn = _HALF_MARK.sub("", tail)
    if shorn != tail:
        if not shorn or shorn[-1].isspace():
            tail = shorn  # a mark that opens something
        bare = _CODE.sub("", shorn)
    closing = ""
    for mark in ("~~", "**"):
        if bare.count(mark) % 2:
            if shorn.endswith(mark):
                return head + shorn[: -len(mark)]
            closing += mark
    if closing:
        return head + shorn.rstrip() + closing
    return head + tail


_BULLETS = "•–"
_MARKS = {"done": Span("✓", "success"), "open": Span("○", "muted")}


def markdown_lines(
    source: str,
    measure: int,
    *,
    context: Context = ROOT,
    first: bool = True,
    references: References | None = None,
    base: str = "text",
) -> list[StyledLine]:
    """Return a piece of clean Markdown as lines of at most `measure` cells.

    Unless it is the first of its text, a blank row comes first. See `parse` for the rest.
    """
    return block_lines(parse(source, context, references, base), measure, base, gap_first=not first)


def block_lines(
    blocks: Sequence[Block], measure: int, base: str, *, gap_first: bool = False, depth: int = 0
) -> list[StyledLine]:
    """Return blocks as lines, one blank row between them, and with `gap_first` before them.

    `depth` counts the lists around them: inside a list a nested list has no blank row.
    """
    lines: list[StyledLine] = []
    for block in blocks:
        body = _lines(block, measure, base, depth)
        listed = depth > 0 and isinstance(block, ItemList)
        if body and (lines or gap_first) and not block.continued and not listed:
            lines.append(BLANK)
        lines += body
    return lines


def _lines(block: Block, measure: int, base: str, depth: int) -> list[StyledLine]:
    match block:
        case Paragraph():
            return [line for chunk in block.chunks for line in wrap(chunk, measure)]
        case Heading():
            return wrap(block.spans, measure)
        case Code():
            return code_lines(block.text, block.language, measure) if block.text else []
        case ThematicBreak():
            return [StyledLine((Span("─" * measure, "muted"),))]
        case Quote():
            return _quote(block, measure, base)
        case ItemList():
            return _list(block, measure, base, depth)
        case Table():
            return table_lines(block, measure, base)


def _quote(quote: Quote, measure: int, base: str) -> list[StyledLine]:
    mark = Span("> ", "muted")
    inner = base if base == "thinking" else "quote"
    children = block_lines(quote.children, max(1, measure - 2), inner, gap_first=quote.continued)
    return _prefixed(children, mark, mark)


def _list(block: ItemList, measure: int, base: str, depth: int) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for number, item in enumerate(block.items, block.start):
        marker = _marker(block, item, number, depth, base)
        size = len(marker.text) + 1
        children = block_lines(
            item.children, max(1, measure - size), base, gap_first=item.continued, depth=depth + 1
        )
        if not children and not item.continued:
            children = [BLANK]
        hanging = spaces(size, base)
        first = hanging if item.continued else marker._replace(text=marker.text + " ")
        lines += _prefixed(children, first, hanging)
    return lines


def _marker(block: ItemList, item: ListItem, number: int, depth: int, base: str) -> Span:
    if item.mark:
        return _MARKS[item.mark]
    if block.ordered:
        return Span(f"{number:>2}.", base if base == "thinking" else "secondary")
    return Span(_BULLETS[depth % len(_BULLETS)], "muted")


def _prefixed(lines: Sequence[StyledLine], first: Span, others: Span) -> list[StyledLine]:
    """Put a prefix before lines: copied with a line that starts something, not with its rest."""
    result: list[StyledLine] = []
    goes_on = False
    for number, line in enumerate(lines):
        prefix = others if number else first
        if line.spans or prefix.text.strip():
            line = indented(line, (prefix,), copied=not goes_on)
        result.append(line)
        goes_on = line.join is not None
    return result
