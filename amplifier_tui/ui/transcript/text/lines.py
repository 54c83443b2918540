"""Lines of styled text: what every renderer here produces and the painter turns into strips.

A line knows nothing of the theme. Its style names are those of `palette.py`, with `+b`, `+i`,
`+s` or `+u` appended for bold, italic, strike and underline.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from amplifier_tui.ui.widgets.styled import PAD


class Span(NamedTuple):
    """A run of text in one style.

    Attributes:
        text: Clean text without newlines or tabs.
        style: A style name.
        link: The address it opens, or empty.
    """

    text: str
    style: str = "text"
    link: str = ""


class StyledLine(NamedTuple):
    """One row of the transcript.

    Attributes:
        spans: Its text from the first cell on.
        lead: How many characters at the start are indentation and are not copied.
        tail: How many characters at the end are filling and are not copied.
        join: None when the text ends here; when it goes on in the next line, what stood
            between the two before it was wrapped (a space or nothing).
    """

    spans: tuple[Span, ...] = ()
    lead: int = 0
    tail: int = 0
    join: str | None = None

    @property
    def text(self) -> str:
        """The characters of the line."""
        return "".join([span.text for span in self.spans])


BLANK = StyledLine()


def width_of(spans: Iterable[Span]) -> int:
    """Return how many cells the spans take."""
    return sum([cell_len(span.text) for span in spans])


def indented(line: StyledLine, prefix: Sequence[Span], *, copied: bool = False) -> StyledLine:
    """Return `line` behind `prefix`, which is copied with it only when `copied`."""
    size = sum([len(span.text) for span in prefix])
    lead = 0 if copied and not line.lead else line.lead + size
    return line._replace(spans=(*prefix, *line.spans), lead=lead)


def spaces(count: int, style: str = PAD) -> Span:
    """Return `count` blank cells."""
    return Span(" " * max(0, count), style)


def cropped_left(text: str, width: int) -> str:
    """Return the end of `text` in `width` cells, with an ellipsis when something is missing."""
    excess = cell_len(text) - width
    if excess <= 0:
        return text
    if width <= 1:
        return "…"[: max(0, width)]
    start = 0
    while cell_len(text[start:]) > width - 1:
        start += max(1, (cell_len(text[start:]) - width + 1) // 2)
    return "…" + text[start:]
