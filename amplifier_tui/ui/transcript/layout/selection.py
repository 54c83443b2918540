"""What a selection of rows means as text, and how it is shown."""

from collections.abc import Iterable, Iterator

from textual.geometry import Offset
from textual.selection import Selection

from amplifier_tui.ui.fields.text_area import WORD
from amplifier_tui.ui.transcript.layout.document import Document
from amplifier_tui.ui.transcript.lines import StyledLine
from amplifier_tui.ui.widgets.styled import PAD


def selected_text(rows: Iterable[tuple[int, StyledLine]], selection: Selection) -> str:
    """Return the text of a selection of numbered rows as it was before it was wrapped.

    Indentation and filling are left out, lines of one paragraph are joined again. A selection's
    columns are indexes into a row's characters.
    """
    text = ""
    join: str | None = ""
    for number, line in rows:
        span = selection.get_span(number)
        if span is None:
            continue
        start, end = clamped(line, *span)
        text += ("\n" if join is None else join) + copied(line, start, end)
        join = line.join
    return text


def clamped(line: StyledLine, start: int, end: int) -> tuple[int, int]:
    """Return the part of a row that a span of it selects; an end of -1 is the row's."""
    size = sum([len(span.text) for span in line.spans])
    first, last = min(line.lead, size), max(line.lead, size - line.tail)
    end = last if end < 0 else max(first, min(end, last))
    return max(first, min(start, end)), end


def copied(line: StyledLine, start: int, end: int) -> str:
    """Return the characters of a row from `start` to `end` as they are copied."""
    parts: list[str] = []
    position = 0
    for text, style, _ in line.spans:
        part = text[max(0, start - position) : max(0, end - position)]
        parts.append("  " if style == PAD and len(part) > 2 else part)
        position += len(text)
    return "".join(parts).rstrip()


def selection_at(document: Document, row: int, index: int, *, word: bool) -> Selection | None:
    """Return a selection of the word, or of the paragraph, at a character of a row."""
    line = _line(document, row)
    if line is None:
        return None
    if word:
        for match in WORD.finditer(line.text):
            if match.start() <= index < match.end():
                return Selection(Offset(match.start(), row), Offset(match.end(), row))
        return None
    first = last = row
    while (above := _line(document, first - 1)) is not None and above.join is not None:
        first -= 1
    while (below := _line(document, last)) is not None and below.join is not None:
        last += 1
    end = _line(document, last) or line
    return Selection(Offset(0, first), Offset(len(end.text), last))


def rows_of(document: Document, selection: Selection) -> Iterator[tuple[int, StyledLine]]:
    """List the rows of a selection with their numbers."""
    last = document.heights.total - 1
    first = max(0, selection.start.y) if selection.start is not None else 0
    last = min(last, selection.end.y) if selection.end is not None else last
    for row in range(first, last + 1):
        line = _line(document, row)
        if line is not None:
            yield row, line


def _line(document: Document, row: int) -> StyledLine | None:
    found = document.line_at(row)
    return found[2] if found is not None else None
