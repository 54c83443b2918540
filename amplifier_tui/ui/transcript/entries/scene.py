"""What an entry is rendered for, where things stand, and the rows entries are built from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple, Self

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import clean
from amplifier_tui.ui.images.pictures import Pictures
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.state import formats
from amplifier_tui.ui.transcript.lines import (
    Span,
    StyledLine,
    cropped_left,
    indented,
    spaces,
    width_of,
    wrap,
)
from amplifier_tui.ui.widgets.styled import fit, fit_pieces
from amplifier_tui.ui.widgets.text_lines import Spans

MAX_MEASURE = 110
"""The widest text column, in cells."""

_ROOMY = 60
_TIGHT = 30


@dataclass(frozen=True, slots=True)
class Column:
    """The text column, in cells: the edge beside the user's words, where text begins, its width.

    What belongs to a tool line is indented by `body`.
    """

    edge: int
    text: int
    measure: int
    body: int

    @classmethod
    def fit(cls, width: int) -> Self:
        """Return the column for a widget of `width` cells; its left edge is that of the prompt."""
        edge, right = (2, 1) if width >= _ROOMY else (0, 0)
        measure = max(1, min(MAX_MEASURE, width - edge - 2 - right))
        return cls(edge, edge + 2, measure, 10 if width >= _TIGHT else 4)

    def inset(self, cells: int) -> Self:
        """Return the column for something nested `cells` deeper."""
        cells = max(0, min(cells, self.measure - 1))
        return type(self)(self.edge + cells, self.text + cells, self.measure - cells, self.body)


_MARKER_ROOM = 2
_LEAST = 8
_APART = "   "


WayTo = Callable[[str], str]
"""Names the key that leads to an action, by the action's id."""
KEYS: Final[WayTo] = Keymap().way_to


PaintOf = Callable[[str, str], Mapping[int, Spans]]
"""Gives the colours of a diff, or of the lines of the file that is named, by row."""


def unpainted(text: str, path: str) -> Mapping[int, Spans]:
    """Return no colours."""
    return {}


class Way(NamedTuple):
    """Something that helps: the key, the words, and what a click on them does."""

    key: str
    words: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """What an entry is rendered for; times are in seconds on the clock of the entries' `started`.

    Where it is `expanded`, `whole` says that nothing of a long output is left out. `paint` gives
    the colours of code, as far as they are known, `pictures` the images. `spinner` is empty for all
    entries but one, `since` when it began to stream before our eyes, 0 otherwise.
    """

    column: Column
    now: float = 0.0
    spinner: str = ""
    expanded: bool = False
    whole: bool = False
    selected: bool = False
    since: float = 0.0
    keys: WayTo = KEYS
    paint: PaintOf = unpainted
    pictures: Pictures = field(default_factory=Pictures)


def way_rows(ways: Iterable[Way], width: int) -> list[list[Span]]:
    """Return what helps, none broken in two; what no key is left for, by its words alone."""
    rows: list[list[Span]] = []
    for key, words, link in ways:
        if not key and not link:
            continue
        spans = [Span(key, "strong"), Span(" ")] if key else []
        spans.append(Span(words, "text+u" if link else "muted", link))
        if rows and width_of(rows[-1]) + len(_APART) + width_of(spans) <= width:
            rows[-1] += [Span(_APART), *spans]
        else:
            rows.append(spans)
    return rows


def margined(lines: Iterable[StyledLine], column: Column, indent: int = 0) -> list[StyledLine]:
    """Return lines moved to the text column, and `indent` cells further."""
    prefix = (spaces(column.text + indent),)
    return [indented(line, prefix) if line.spans else line for line in lines]


def edged(lines: Iterable[StyledLine], column: Column, style: str) -> list[StyledLine]:
    """Return lines with a thick edge at their left."""
    margin = [spaces(column.edge)] if column.edge else []
    prefix = (*margin, Span("█", style), Span(" ", style))
    return [indented(line, prefix) for line in lines]


def text_lines(text: str, style: str, width: int) -> list[StyledLine]:
    """Return running text, cleaned and wrapped; its newlines stay."""
    return wrap([Span(clean(text).replace("\t", "    "), style)], width)


def output_lines(text: str, style: str, width: int) -> list[StyledLine]:
    """Return preformatted, already cleaned text; long lines are folded."""
    return wrap([Span(text.expandtabs(8), style)], width, words=False)


def data_row(
    left: Sequence[Span], data: Span, scene: Scene, *, expandable: bool, path: int | None = None
) -> StyledLine:
    """Return a row of words with data at the right, which ends where all data ends.

    The words are cut when there is no room: the span at `path` at its start, and to no less than
    half of the row, then the end. An expandable row has ▾ when it is open, ▸ when it is selected.
    """
    column = scene.column
    end = max(1, column.measure - _MARKER_ROOM)
    data = data._replace(text=fit(data.text, max(1, end - _LEAST)))
    room = end - (width_of([data]) + 1 if data.text else 0)
    words = list(left)
    excess = width_of(words) - room
    if excess > 0 and path is not None:
        whole = width_of([words[path]])
        target = max(_LEAST, whole - excess, min(whole, room // 2))
        words[path] = words[path]._replace(text=cropped_left(words[path].text, target))
    words = cropped_spans(words, room)
    gap = spaces(end - width_of(words) - width_of([data]))
    marker = ""
    if expandable and column.measure > _MARKER_ROOM:
        marker = " ▾" if scene.expanded else " ▸" if scene.selected else ""
    spans = [span for span in (*words, gap, data, Span(marker, "muted")) if span.text]
    tail = len(marker) + (0 if data.text else len(gap.text))
    return indented(StyledLine(tuple(spans), tail=tail), (spaces(column.text),))


def cropped_spans(spans: Sequence[Span], width: int) -> list[Span]:
    """Return spans cut to `width` cells, with an ellipsis when something is missing."""
    cut = fit_pieces([(span.text, span) for span in spans], width)
    return [span._replace(text=text) for text, span in cut]


def duration(milliseconds: float) -> str:
    """Return a duration in two or three digits and a unit: `12 ms`, `3.2 s`, `1:04`.

    Less than a millisecond tells a reader nothing and is left out.
    """
    if milliseconds < 1:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 59.95 else elapsed(seconds)


def elapsed(seconds: float) -> str:
    """Return a running time in whole seconds: `3 s`, `1:04`, `1:02:03`."""
    whole = max(0, int(seconds))
    return f"{whole} s" if whole < 60 else formats.elapsed(whole)


def counted(count: int, noun: str) -> str:
    """Return a count and its noun: `1 line`, `1,204 lines`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
