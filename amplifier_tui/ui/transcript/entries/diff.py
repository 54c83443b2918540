"""Rows of a diff as lines below a tool line."""

from collections.abc import Iterator, Mapping

from amplifier_tui.base.text import reveal
from amplifier_tui.ui.diffs.rows import SIGNS, DiffRow, DiffRows, parse_diff
from amplifier_tui.ui.transcript.entries.long_output import more_lines
from amplifier_tui.ui.transcript.entries.scene import Scene
from amplifier_tui.ui.transcript.lines import Span, StyledLine, indented, spaces, width_of, wrap
from amplifier_tui.ui.widgets.text_lines import FOLDED, Spans

_MOST_ROWS = 400
_NONE: Mapping[int, Spans] = {}


def read_diff(text: str) -> DiffRows:
    """Return the rows of a diff with nothing hidden in them; text that is no part of it goes."""
    rows = parse_diff(text, _shown)
    return rows.without("other")


def _shown(line: str) -> str:
    return reveal(line.rstrip("\r")).expandtabs(4)


def counts(rows: DiffRows) -> list[Span]:
    """Return what the rows of a diff add and remove, as `+4 −1`."""
    spans: list[Span] = []
    for kind, number in zip(("added", "removed"), rows.changed, strict=True):
        if number:
            gap = [Span(" ")] if spans else []
            spans += [*gap, Span(f"{SIGNS[kind]}{number}", kind)]
    return spans


def diff_lines(
    rows: DiffRows, width: int, scene: Scene, colours: Mapping[int, Spans] = _NONE
) -> Iterator[StyledLine]:
    """Return the lines of a diff, of at most `width` cells; `colours` by the index of the row."""
    digits = rows.number_width
    files = rows.kinds.count("file")
    shown = 0
    in_file = False
    for index, row in enumerate(rows):
        if row.kind == "file":
            in_file = False
            if files > 1:
                yield StyledLine((Span(row.text, "strong"), Span("  "), *_file_counts(rows, index)))
        elif row.kind == "section":
            if in_file or row.text:
                words = f"{'…':>{digits}} {row.text}".rstrip()
                yield StyledLine((Span(words, "muted"),))
            in_file = True
        elif shown == _MOST_ROWS and not scene.whole:
            yield more_lines(sum(row.is_line for row in rows) - shown, scene, "more row")
            return
        else:
            shown += 1
            in_file = True
            yield from _row_lines(row, digits, width, colours.get(index, ()))


def _file_counts(rows: DiffRows, index: int) -> list[Span]:
    """Return the counts of the file whose name is the row at `index`."""
    end = next((n for n in range(index + 1, len(rows)) if rows[n].kind == "file"), len(rows))
    return counts(rows[index:end])


def _row_lines(row: DiffRow, digits: int, width: int, spans: Spans) -> Iterator[StyledLine]:
    ground = f"@{row.kind}-ground" if row.kind in ("added", "removed") else ""
    sign_style = f"{row.kind}{ground}+b" if ground else "muted"
    gutter = Span(f"{row.number or '':>{digits}} {SIGNS[row.kind]} ", sign_style)
    yield from code_lines(gutter, row.text, width, spans, ground=ground, bold=row.emphasis)


def code_lines(
    gutter: Span,
    text: str,
    width: int,
    spans: Spans,
    *,
    ground: str = "",
    bold: tuple[int, int] = (0, 0),
    plain: str = "text",
) -> Iterator[StyledLine]:
    """Return a line of code behind its gutter, folded to `width` cells, the last part filled up.

    Args:
        spans: Its colours.
        ground: What is appended to names of styles for the ground it stands on.
        bold: The part of it that is bold.
        plain: The style of what has no colour.
    """
    lead = len(gutter.text)
    parts = _styled(text, spans, f"{plain}{ground}", ground or "@text", bold)
    folded = wrap(parts, max(1, width - lead), words=False)
    for index, line in enumerate(folded):
        before = Span(f"{FOLDED} ".rjust(lead), f"muted{ground}") if index else gutter
        fill = spaces(width - lead - width_of(line.spans), f"text{ground}") if ground else None
        if fill is not None and fill.text:
            line = line._replace(spans=(*line.spans, fill), tail=len(fill.text))
        yield indented(line, (before,))


def _styled(text: str, spans: Spans, plain: str, ground: str, bold: tuple[int, int]) -> list[Span]:
    """Return a line in parts of one style each."""
    names: list[tuple[int, int, str]] = []
    at = 0
    for start, end, name in spans:
        names += [(at, start, plain), (start, end, f"{name}{ground}")]
        at = end
    names.append((at, len(text), plain))
    cuts = [(low, high, "") for low, high in ((0, bold[0]), (bold[1], len(text)))]
    cuts.insert(1, (*bold, "+b"))
    parts = [
        Span(text[max(low, start) : min(high, end)], name + flag)
        for low, high, name in names
        for start, end, flag in cuts
        if max(low, start) < min(high, end)
    ]
    return parts or [Span(text, plain)]
