"""Cuts a growing Markdown text into pieces that render on their own.

A piece ends where a block begins, so that nothing which comes later can change it. When one
block is longer than a piece should be, the cut goes inside it: before the last item of a list,
the last row of a table, a line of a fence, a chunk of a paragraph. The new piece then carries
the open constructs as its context. Such a cut is used only when both halves render to the very
lines the whole did.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from amplifier_tui.ui.transcript.markdown.blocks import (
    ROOT,
    STAND_IN,
    Context,
    OpenBlock,
    References,
    blocks_of,
    language_of,
    siblings,
)
from amplifier_tui.ui.transcript.markdown.code import last_boundary
from amplifier_tui.ui.transcript.markdown.inline import chunk_end
from amplifier_tui.ui.transcript.markdown.render import MEASURED_ROWS, BlockWriter, markdown_lines

if TYPE_CHECKING:
    from markdown_it.token import Token

PIECE = 1500
"""The length in characters from which a piece is cut."""

_FENCE_LINES = 12
_CHECK_MEASURE = 300
_TEXT = Context(f"{STAND_IN} ", (OpenBlock("text"),))
_MARKER = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)])")


class Cut(NamedTuple):
    """Where the next piece begins in the source, and its context."""

    at: int
    context: Context


def find_cut(source: str, context: Context, references: References, *, first: bool) -> Cut | None:
    """Return the best place to cut a piece whose last line may be incomplete, or None.

    `first` says that the piece is the first of its text.
    """
    cuts = sorted(_Search(source, context, references).cuts(), reverse=True)
    if first:
        # The first piece must show something: the blank row before the text hangs on it.
        cuts = [cut for cut in cuts if blocks_of(source[: cut.at], references)]
    outermost = [cut for cut in cuts if cut.context == ROOT]
    if outermost and len(source) - outermost[0].at <= PIECE:
        return outermost[0]
    for cut in cuts:
        if _is_safe(cut.context) or _is_exact(source, context, cut, references, first):
            return cut
    return None


def first_cut(source: str, context: Context, references: References, *, first: bool) -> Cut | None:
    """Return where the first piece of a whole text, or of the rest of one, ends.

    Returns:
        None where all of it is one piece.
    """
    end = 2 * PIECE
    while end < len(source):
        cut = find_cut(source[:end], context, references, first=first)
        if cut is not None:
            return cut
        end *= 2
    return None


def _is_safe(context: Context) -> bool:
    """Whether a cut is exact without a look: between two blocks, or two items, of the outermost.

    What stands before such a place is over, and nothing behind it depends on more than its marker.
    """
    return [step.kind for step in context.steps] in ([], ["sibling"])


def _is_exact(source: str, context: Context, cut: Cut, references: References, first: bool) -> bool:
    def text(part: str, context: Context, first: bool) -> list[str]:
        lines = markdown_lines(
            part, _CHECK_MEASURE, context=context, first=first, references=references, plain=True
        )
        return [line.text for line in lines]

    head = text(source[: cut.at], context, first)
    return head + text(source[cut.at :], cut.context, False) == text(source, context, first)


class _Search:
    """Walks down the last block, container by container, and lists where it may be cut."""

    def __init__(self, source: str, context: Context, references: References) -> None:
        self._source = source
        self._context = context
        self._references = references
        whole = context.prefix + source[: source.rfind("\n") + 1]
        self._lines = whole.split("\n")
        self._offsets = [0, *accumulate(len(line) + 1 for line in self._lines)]
        self._groups = blocks_of(whole, references)

    def cuts(self) -> Iterator[Cut]:
        # Where there is nothing but one unfinished line, that is looked at.
        groups = self._groups or blocks_of(self._context.prefix + self._source, {})
        if not groups:
            return
        last = groups[-1]
        yield from self._at_line(_first_line(last), ROOT)
        yield from self._inside(last, "", ROOT, self._context.steps if len(groups) == 1 else ())

    def _inside(
        self, group: Sequence["Token"], base: str, outer: Context, trail: tuple[OpenBlock, ...]
    ) -> Iterator[Cut]:
        """List the cuts inside a block.

        Its lines have `base` (indentation, quote marks) before them; `outer` is the context around
        it, `trail` what of the piece's own context leads to it.
        """
        match group[0].type:
            case "bullet_list_open" | "ordered_list_open":
                yield from self._inside_list(group, base, outer, trail)
            case "blockquote_open":
                mark = f"{base}> "
                inner = _extended(outer, f"{mark}{STAND_IN}\n{mark.rstrip()}\n", OpenBlock("quote"))
                yield from self._inside_container(group, mark, inner, trail[1:])
            case "fence":
                yield from self._inside_fence(group, base, outer)
            case "code_block":
                end = (group[0].map or (0, 0))[1]
                yield from self._at_line(end - 1, _extended(outer, "", OpenBlock("code")))
            case "table_open":
                yield from self._inside_table(group, base, outer, trail)
            case "paragraph_open" if outer == ROOT:
                yield from self._inside_text()

    def _inside_container(
        self, group: Sequence["Token"], base: str, inner: Context, trail: tuple[OpenBlock, ...]
    ) -> Iterator[Cut]:
        children = siblings(group[1:-1])
        if not children:
            return
        last = children[-1]
        if _first_line(last) > _first_line(group):
            yield from self._at_line(_first_line(last), inner)
        # A stand-in paragraph precedes what goes on from an earlier piece.
        yield from self._inside(last, base, inner, trail if len(children) <= 2 else ())

    def _inside_list(
        self, group: Sequence["Token"], base: str, outer: Context, trail: tuple[OpenBlock, ...]
    ) -> Iterator[Cut]:
        items = siblings(group[1:-1])
        start = trail[0].number if trail else int(group[0].attrs.get("start", 1))
        number = start + len(items) - 1
        item = items[-1]
        marker = _marker(self._lines[_first_line(item)], base)
        if marker is None:
            return
        opening = f"{base}{marker}{STAND_IN}\n{base.rstrip()}\n"
        sibling = _extended(outer, opening, OpenBlock("sibling", number - 1))
        if len(items) > 1:
            yield from self._at_line(_first_line(item), sibling)
        inner = _extended(outer, opening, OpenBlock("item", number))
        below = trail[1:] if len(items) == 1 else ()
        yield from self._inside_container(item, base + " " * len(marker), inner, below)

    def _inside_fence(self, group: Sequence["Token"], base: str, outer: Context) -> Iterator[Cut]:
        fence = group[0]
        code = fence.content.removesuffix("\n")
        if code.count("\n") < _FENCE_LINES:
            return
        line = last_boundary(code, language_of(fence)) or code.count("\n")
        first = self._lines[_first_line(group)][len(base) :]
        # As many blanks as stand before the fence are none of the code's.
        indent = first[: len(first) - len(first.lstrip(" "))]
        opening = f"{base}{indent}{fence.markup}{fence.info}\n"
        inner = _extended(outer, opening, OpenBlock("fence"))
        yield from self._at_line(_first_line(group) + 1 + line, inner)

    def _inside_table(
        self, group: Sequence["Token"], base: str, outer: Context, trail: tuple[OpenBlock, ...]
    ) -> Iterator[Cut]:
        rows = [token.map[0] for token in group if token.type == "tr_open" and token.map]
        step = trail[0] if trail else OpenBlock("table")
        if len(rows) < 3 or (not step.naturals and len(rows) <= MEASURED_ROWS + 2):
            return
        table = BlockWriter(self._references).table(group, "text", step)
        head = [line[len(base) :] for line in self._lines[rows[0] : rows[0] + 2]]
        opening = "".join(f"{base}{line}\n" for line in head)
        inner = _extended(outer, opening, table.open_block)
        yield from self._at_line(rows[-1], inner)

    def _inside_text(self) -> Iterator[Cut]:
        # The last block runs to the end of the source, incomplete line included.
        resumed = self._context.steps[:1] == _TEXT.steps
        start = 0
        if self._groups and not (resumed and len(self._groups) == 1):
            first = self._offsets[_first_line(self._groups[-1])]
            start = max(0, first - len(self._context.prefix))
        text = self._source[start:]
        indent = 0 if resumed and start == 0 else len(text) - len(text.lstrip())
        end = chunk_end(text[indent:])
        if end is not None:
            yield Cut(start + indent + end, _TEXT)

    def _at_line(self, line: int, context: Context) -> Iterator[Cut]:
        at = self._offsets[line] - len(self._context.prefix)
        if 0 < at < len(self._source):
            yield Cut(at, context)


def _first_line(group: Sequence["Token"]) -> int:
    return (group[0].map or (0, 0))[0]


def _extended(outer: Context, opening: str, step: OpenBlock) -> Context:
    return Context(outer.prefix + opening, (*outer.steps, step))


def _marker(line: str, base: str) -> str | None:
    """Return a list item's marker with the spaces behind it, as wide as its content is deep."""
    rest = line[len(base) :]
    match = _MARKER.match(rest)
    if match is None or "\t" in rest[: match.end() + 1]:
        return None
    after = rest[match.end() :]
    gap = len(after) - len(after.lstrip(" "))
    if not after.strip() or not 1 <= gap <= 4:
        gap = 1
    return match[0] + " " * gap
