"""Markdown as lines, also while it is still being written."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from amplifier_tui.ui.transcript.lines import (
    BLANK,
    Span,
    StyledLine,
    indented,
    spaces,
    width_of,
    wrap,
)
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
from amplifier_tui.ui.transcript.markdown.code import code_lines
from amplifier_tui.ui.transcript.markdown.inline import chunks, inline_spans

if TYPE_CHECKING:
    from markdown_it.token import Token

MEASURED_ROWS = 16
"""How many rows of a table's body decide on its column widths."""

_PLAIN_COLUMN = 40
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
_QUOTE = Span("> ", "muted")
_MARKS = {" ": Span("○", "muted"), "x": Span("✓", "success")}
_TASK = re.compile(r"\[([ xX])\](?: |\Z)")


def markdown_lines(
    source: str,
    measure: int,
    *,
    context: Context = ROOT,
    first: bool = True,
    references: References | None = None,
    base: str = "text",
    plain: bool = False,
) -> list[StyledLine]:
    """Return a piece of clean Markdown as lines of at most `measure` cells.

    Unless it is the first of its text, a blank row comes first. `context` are the blocks open where
    it begins. Link references found are added to those of the text. `base` is the style of plain
    text; `plain` leaves inline source and code as they are, for comparing structure cheaply.
    """
    references = {} if references is None else references
    groups = blocks_of(context.prefix + source, references)
    writer = BlockWriter(references, plain=plain)
    return writer.lines(groups, measure, base, context.steps, gap_first=not first)


Cell = list[Span]

_GAP = 2
_NARROWEST = 6
_NUMBER = re.compile(r"[^\w\s]{0,3}\d[\d.,:/%'_–-]{0,20}[^\W\d_]{0,3}[^\w\s]{0,2}")
"""A number, with a sign or currency before it and a unit behind it."""


class Table(NamedTuple):
    """A table; every row is as long as the header.

    `aligns` are empty, `left`, `center` or `right`. `naturals`, the width in cells of each column,
    and `leasts`, that of its widest number, come from the head and the first rows: a later one
    never moves a row on screen.
    """

    header: list[Cell]
    rows: list[list[Cell]]
    aligns: list[str]
    naturals: tuple[int, ...]
    leasts: tuple[int, ...] = ()

    @property
    def open_block(self) -> OpenBlock:
        """What goes on inside the table."""
        return OpenBlock("table", naturals=self.naturals, leasts=self.leasts)


class BlockWriter:
    """Writes the block tokens of a piece as lines.

    The first block may go on from an earlier piece: `steps` are what is left of its context.
    """

    def __init__(self, references: References, *, plain: bool = False) -> None:
        self._references = references
        self._plain = plain

    def lines(
        self,
        groups: Sequence[Sequence["Token"]],
        measure: int,
        base: str,
        steps: Sequence[OpenBlock] = (),
        *,
        gap_first: bool = False,
        depth: int = 0,
    ) -> list[StyledLine]:
        """Return blocks as lines, one blank row between them, and with `gap_first` before them.

        `depth` counts the lists around them: inside a list a nested list has no blank row.
        """
        lines: list[StyledLine] = []
        for group in groups:
            body = self._block(group, measure, base, steps, depth)
            listed = depth > 0 and group[0].type.endswith("list_open")
            if body and (lines or gap_first) and not steps and not listed:
                lines.append(BLANK)
            lines += body
            steps = ()
        return lines

    def _block(
        self,
        group: Sequence["Token"],
        measure: int,
        base: str,
        steps: Sequence[OpenBlock],
        depth: int,
    ) -> list[StyledLine]:
        token = group[0]
        match token.type:
            case "paragraph_open" | "heading_open":
                content = group[1].content[len(STAND_IN) + 1 if steps else 0 :]
                if token.type == "heading_open":
                    style = base if base == "thinking" else "heading"
                    return wrap(self._spans(content, style), measure)
                parts = [self._spans(part, base) for part in chunks(content)]
                return [line for part in parts for line in wrap(part, measure)]
            case "fence" | "code_block":
                code = token.content.removesuffix("\n")
                language = "" if self._plain else language_of(token)
                return code_lines(code, language, measure) if code else []
            case "hr":
                return [StyledLine((Span("─" * measure, "muted"),))]
            case "blockquote_open":
                inner = base if base == "thinking" else "quote"
                children = siblings(group[1:-1])[bool(steps) :]  # without the stand-in
                lines = self.lines(
                    children, max(1, measure - 2), inner, steps[1:], gap_first=bool(steps)
                )
                return _prefixed(lines, _QUOTE, _QUOTE)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(group, measure, base, steps, depth)
            case "table_open":
                table = self.table(group, base, steps[0] if steps else None)
                return table_lines(table, measure, base, continued=bool(steps))
            case _:
                return []

    def _list(
        self,
        group: Sequence["Token"],
        measure: int,
        base: str,
        steps: Sequence[OpenBlock],
        depth: int,
    ) -> list[StyledLine]:
        items = siblings(group[1:-1])
        start = int(group[0].attrs.get("start", 1))
        if steps and steps[0].kind == "sibling":
            start, steps = steps[0].number + 1, ()
            del items[0]
        elif steps:
            start = steps[0].number
        lines: list[StyledLine] = []
        for number, item in enumerate(items, start):
            marker = Span(_BULLETS[depth % len(_BULLETS)], "muted")
            if group[0].type == "ordered_list_open":
                marker = Span(f"{number:>2}.", base if base == "thinking" else "secondary")
            inline = item[2] if len(item) > 3 and item[2].type == "inline" else None
            if inline is not None and (task := _TASK.match(inline.content)):
                marker = _MARKS[task[1].lower()]
                inline.content = inline.content[task.end() :]
            width = len(marker.text) + 1
            children = self.lines(
                siblings(item[1:-1])[bool(steps) :],
                max(1, measure - width),
                base,
                steps[1:],
                gap_first=bool(steps),
                depth=depth + 1,
            )
            if not children and not steps:
                children = [BLANK]
            hanging = spaces(width, base)
            shown = hanging if steps else marker._replace(text=marker.text + " ")
            lines += _prefixed(children, shown, hanging)
            steps = ()
        return lines

    def table(self, tokens: Sequence["Token"], base: str, begun: OpenBlock | None = None) -> Table:
        """Return a table; one that has `begun` before keeps its column widths."""
        rows: list[list[Cell]] = []
        aligns: list[str] = []
        for number, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                style = base
                if token.type == "th_open":
                    aligns.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
                    style += "+b"
                rows[-1].append(self._spans(tokens[number + 1].content, style))
        if self._plain:
            return Table(rows[0], rows[1:], aligns, (_PLAIN_COLUMN,) * len(aligns))
        if begun is not None and begun.naturals:
            return Table(rows[0], rows[1:], aligns, begun.naturals, begun.leasts)
        columns = list(zip(*rows[: MEASURED_ROWS + 1], strict=True))
        naturals = tuple(max(1, *map(width_of, column)) for column in columns)
        leasts = tuple(max(map(_number_width, column)) for column in columns)
        return Table(rows[0], rows[1:], aligns, naturals, leasts)

    def _spans(self, content: str, base: str) -> list[Span]:
        if self._plain:
            return [Span(content, base)]
        return inline_spans(content, self._references, base)


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


def table_lines(table: Table, measure: int, base: str, *, continued: bool) -> list[StyledLine]:
    """Return a table as lines of at most `measure` cells; a continued one without its header."""
    widths = column_widths(table.naturals, measure, table.leasts)
    if widths is None:
        return _records(table, measure, base)
    lines: list[StyledLine] = []
    if not continued:
        lines += _row(table.header, widths, table.aligns, base)
        rule: list[Span] = []
        for width in widths:
            rule += [Span("─" * width, "muted"), spaces(_GAP, base)]
        lines.append(StyledLine(tuple(rule[:-1])))
    for row in table.rows:
        lines += _row(row, widths, table.aligns, base)
    return lines


def _number_width(cell: Cell) -> int:
    """Return the width of the widest number in a cell."""
    words = "".join([span.text for span in cell]).split()
    return max([width_of([Span(word)]) for word in words if _NUMBER.fullmatch(word)], default=0)


def column_widths(
    naturals: Sequence[int], measure: int, leasts: Sequence[int] = ()
) -> list[int] | None:
    """Return the width of each column, or None when they would be too narrow to read.

    Columns that need less than a fair share keep what they need; the others share the rest in
    proportion to what they need. No column is narrower than its part of `leasts`.
    """
    widths = _fair_widths(naturals, measure)
    if widths is None or all(map(int.__ge__, widths, leasts)):
        return widths
    pairs = zip(naturals, leasts, strict=True)
    floors = [min(natural, max(_NARROWEST, least)) for natural, least in pairs]
    spare = measure - _GAP * (len(naturals) - 1) - sum(floors)
    if spare < 0:
        return None
    needed = sum(naturals) - sum(floors)
    return [
        floor + spare * (natural - floor) // needed
        for natural, floor in zip(naturals, floors, strict=True)
    ]


def _fair_widths(naturals: Sequence[int], measure: int) -> list[int] | None:
    available = measure - _GAP * (len(naturals) - 1)
    if sum(naturals) <= available:
        return list(naturals)
    if available < _NARROWEST * len(naturals):
        return None
    widths = list(naturals)
    wide = list(range(len(naturals)))
    while wide:
        fair = available // len(wide)
        modest = [column for column in wide if naturals[column] <= fair]
        if not modest:
            break
        available -= sum(naturals[column] for column in modest)
        wide = [column for column in wide if column not in modest]
    needed = sum(naturals[column] for column in wide)
    spare = available - _NARROWEST * len(wide)
    for column in wide:
        share = spare * naturals[column] // needed
        widths[column] = _NARROWEST + share
    return widths


def _row(
    cells: Sequence[Cell], widths: Sequence[int], aligns: Sequence[str], base: str
) -> list[StyledLine]:
    wrapped = [wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
    lines: list[StyledLine] = []
    for number in range(max(map(len, wrapped))):
        spans: list[Span] = []
        for cell, width, align in zip(wrapped, widths, aligns, strict=True):
            if spans:
                spans.append(spaces(_GAP, base))
            spans += _aligned(cell[number].spans if number < len(cell) else (), width, align, base)
        while spans and not spans[-1].text.strip():
            spans.pop()
        lines.append(StyledLine(tuple(spans)))
    return lines


def _aligned(spans: Sequence[Span], width: int, align: str, base: str) -> list[Span]:
    room = max(0, width - width_of(spans))
    before = {"center": room // 2, "right": room}.get(align, 0)
    aligned = [spaces(before, base), *spans, spaces(room - before, base)]
    return [span for span in aligned if span.text]


def _records(table: Table, measure: int, base: str) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for row in table.rows:
        for number, (head, cell) in enumerate(zip(table.header, row, strict=True)):
            if number and not cell:
                continue
            label = [*head, Span(": ", base)] if number else []
            content = [*label, *cell] if number else [*_emphasized(cell)]
            indent = min(2, measure - 1) if number else 0
            prefix = (spaces(indent, base),) if indent else ()
            rows = wrap(content, max(1, measure - indent))
            lines += [line._replace(spans=(*prefix, *line.spans)) for line in rows]
    heads = (line for cell in table.header for line in wrap(cell, measure))
    return lines or [line._replace(join=None) for line in heads]


def _emphasized(cell: Cell) -> list[Span]:
    return [span if "+" in span.style else span._replace(style=f"{span.style}+b") for span in cell]
