"""Cuts a growing Markdown text into pieces that render on their own.

A piece ends where a block begins, so that nothing which comes later can change it. When one
block is longer than a piece should be, the cut goes inside it: before the last item of a list,
the last row of a table, a line of a fence, a chunk of a paragraph. The new piece then carries
the open constructs as its context. Such a cut is used only when both halves render to the very
lines the whole did.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from amplifier_tui.ui.transcript.markdown.blocks import ROOT, STAND_IN, Context, OpenBlock
from amplifier_tui.ui.transcript.markdown.code import last_boundary
from amplifier_tui.ui.transcript.markdown.inline import chunk_end
from amplifier_tui.ui.transcript.markdown.parse import (
    MEASURED_ROWS,
    References,
    language_of,
    parse,
    siblings,
    table_of,
    tokens_of,
)
from amplifier_tui.ui.transcript.markdown.render import block_lines

if TYPE_CHECKING:
    from markdown_it.token import Token

PIECE = 1500
"""The length in characters from which a piece is cut."""

_FENCE_LINES = 12
_CHECK_MEASURE = 300
_MARKER = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)])")


class Cut(NamedTuple):
    """Where the next piece begins in the source, and its context."""

    at: int
    context: Context


def find_cut(source: str, context: Context, references: References, *, first: bool) -> Cut | None:
    """Return the best place to cut a piece whose last line may be incomplete, or None.

    `first` says that the piece is the first of its text.
    """
    complete = source[: source.rfind("\n") + 1]
    search = _Search(context, complete, source, references)
    cuts = sorted(search.cuts(), reverse=True)
    if first:
        # The first piece must show something: the blank row before the text hangs on it.
        cuts = [cut for cut in cuts if tokens_of(source[: cut.at], references)]
    outermost = [cut for cut in cuts if cut.context == ROOT]
    if outermost and len(source) - outermost[0].at <= PIECE:
        return outermost[0]
    for cut in cuts:
        if cut.context == ROOT or _is_exact(source, context, cut, references, first):
            return cut
    return None


def pieces_of(source: str, references: References) -> Iterator[tuple[Context, str]]:
    """Return the pieces of a whole text."""
    context, start, end = ROOT, 0, 2 * PIECE
    while end < len(source):
        cut = find_cut(source[start:end], context, references, first=start == 0)
        if cut is None:
            end += end - start
            continue
        yield context, source[start : start + cut.at]
        context, start = cut.context, start + cut.at
        end = start + 2 * PIECE
    yield context, source[start:]


def _is_exact(source: str, context: Context, cut: Cut, references: References, first: bool) -> bool:
    def text(part: str, context: Context, first: bool) -> list[str]:
        blocks = parse(part, context, references, plain=True)
        lines = block_lines(blocks, _CHECK_MEASURE, "text", gap_first=not first)
        return [line.text for line in lines]

    head = text(source[: cut.at], context, first)
    return head + text(source[cut.at :], cut.context, False) == text(source, context, first)


class _Search:
    """Walks down the last block, container by container, and lists where it may be cut."""

    def __init__(
        self, context: Context, complete: str, source: str, references: References
    ) -> None:
        self._context = context
        self._source = source
        self._references = references
        self._whole = context.prefix + complete
        self._lines = self._whole.split("\n")
        self._offsets = [0]
        for line in self._lines:
            self._offsets.append(self._offsets[-1] + len(line) + 1)

    def cuts(self) -> Iterator[Cut]:
        groups = _children(tokens_of(self._whole, self._references))
        if not groups:
            # Nothing but one unfinished line.
            groups = _children(tokens_of(self._context.prefix + self._source, {}))
            if not groups:
                return
        last = groups[-1]
        cut = self._cut(last[0], ROOT)
        if cut is not None:
            yield cut
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
                yield from self._inside_fence(group[0], base, outer)
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
        children = _children(group[1:-1])
        if not children:
            return
        last = children[-1]
        own, outer = last[0].map, group[0].map
        if own and outer and own[0] > outer[0]:
            yield from self._at_line(own[0], inner)
        # A stand-in paragraph precedes what goes on from an earlier piece.
        goes_on = trail and len(children) <= 2
        yield from self._inside(last, base, inner, trail if goes_on else ())

    def _inside_list(
        self, group: Sequence["Token"], base: str, outer: Context, trail: tuple[OpenBlock, ...]
    ) -> Iterator[Cut]:
        items = _children(group[1:-1])
        start = int(group[0].attrs.get("start", 1))
        if trail and trail[0].kind in ("item", "sibling"):
            start = trail[0].number
        number = start + len(items) - 1
        item = items[-1]
        first_line = (item[0].map or (0, 0))[0]
        marker = _marker(self._lines[first_line], base)
        if marker is None:
            return
        opening = f"{base}{marker}{STAND_IN}\n{base.rstrip()}\n"
        sibling = _extended(outer, opening, OpenBlock("sibling", number - 1))
        yield from self._at_line(first_line, sibling)
        inner = _extended(outer, opening, OpenBlock("item", number))
        below = trail[1:] if trail and trail[0].kind == "item" and len(items) == 1 else ()
        yield from self._inside_container(item, base + " " * len(marker), inner, below)

    def _inside_fence(self, fence: "Token", base: str, outer: Context) -> Iterator[Cut]:
        code = fence.content.removesuffix("\n")
        if code.count("\n") < _FENCE_LINES:
            return
        line = last_boundary(code, language_of(fence)) or code.count("\n")
        opening = f"{base}{fence.markup}{fence.info}\n"
        start = (fence.map or (0, 0))[0]
        yield from self._at_line(start + 1 + line, _extended(outer, opening, OpenBlock("fence")))

    def _inside_table(
        self, group: Sequence["Token"], base: str, outer: Context, trail: tuple[OpenBlock, ...]
    ) -> Iterator[Cut]:
        rows = [token.map[0] for token in group if token.type == "tr_open" and token.map]
        resumed = bool(trail) and trail[0].kind == "table"
        if len(rows) < 3 or (not resumed and len(rows) <= MEASURED_ROWS + 2):
            return
        naturals = trail[0].naturals if resumed else ()
        naturals = naturals or table_of(group, self._references, "text").naturals
        head = [line[len(base) :] for line in self._lines[rows[0] : rows[0] + 2]]
        opening = "".join(f"{base}{line}\n" for line in head)
        yield from self._at_line(
            rows[-1], _extended(outer, opening, OpenBlock("table", naturals=naturals))
        )

    def _inside_text(self) -> Iterator[Cut]:
        # The last block runs to the end of the source, incomplete line included.
        resumed = bool(self._context.steps) and self._context.steps[0].kind == "text"
        groups = _children(tokens_of(self._whole, {})) if self._whole else []
        start = 0
        if groups and not (resumed and len(groups) == 1):
            line = (groups[-1][0].map or (0, 0))[0]
            start = max(0, self._offsets[line] - len(self._context.prefix))
        text = self._source[start:]
        indent = 0 if resumed and start == 0 else len(text) - len(text.lstrip())
        end = chunk_end(text[indent:])
        if end is not None:
            yield Cut(start + indent + end, Context(f"{STAND_IN} ", (OpenBlock("text"),)))

    def _at_line(self, line: int, context: Context) -> Iterator[Cut]:
        at = self._offsets[line] - len(self._context.prefix)
        if 0 < at < len(self._source):
            yield Cut(at, context)

    def _cut(self, token: "Token", context: Context) -> Cut | None:
        line = (token.map or (0, 0))[0]
        return next(self._at_line(line, context), None)


def _children(tokens: Sequence["Token"]) -> list[Sequence["Token"]]:
    return list(siblings(tokens))


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
