"""Lines of styled text, and how text is broken into them.

A line knows nothing of the theme. Its style names are those of `document_view.py`; `@` and another
name give it the ground of that one, and `+b`, `+i`, `+s` or `+u` make it bold, italic, struck out
or underlined. Text of one-cell characters (most of it) is broken with `str.rfind`, which costs by
the line and not by the word; anything else is measured character by character, and may break beside
every wide character except where Chinese and Japanese typography forbids it.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from rich.cells import cell_len, get_character_cell_size

from amplifier_tui.ui.images.pictures import PictureRow
from amplifier_tui.ui.widgets.styled import PAD
from amplifier_tui.ui.widgets.text_lines import break_after


class Span(NamedTuple):
    """A run of clean text without newlines or tabs in one style; `link` is the address it opens."""

    text: str
    style: str = "text"
    link: str = ""


class StyledLine(NamedTuple):
    """One row of the transcript.

    The first `lead` and the last `tail` characters are not copied. `join` is None when the text
    ends here; when it goes on in the next line, what stood between the two before it was wrapped.
    A row of a `picture` is drawn in the place of its last span. An `aside` is of the interface:
    words that are looked for are not found in it.
    """

    spans: tuple[Span, ...] = ()
    lead: int = 0
    tail: int = 0
    join: str | None = None
    picture: PictureRow | None = None
    aside: bool = False

    @property
    def text(self) -> str:
        """The characters of the line."""
        return "".join([span.text for span in self.spans])


BLANK = StyledLine()


def width_of(spans: Iterable[Span]) -> int:
    """Return how many cells the spans take."""
    return sum([cell_len(span.text) for span in spans])


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans with neighbours of one style and link as one."""
    result: list[Span] = []
    for span in spans:
        if result and result[-1][1:] == span[1:]:
            result[-1] = result[-1]._replace(text=result[-1].text + span.text)
        else:
            result.append(span)
    return result


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


Cut = tuple[int, int, str | None]
"""Start and end of a line in the text, and its `join` (see `Line`)."""

_NOT_FIRST = frozenset(
    "、。，．・：；？！゛゜ヽヾゝゞ々ー’”）〕］｝〉》」』】°′″℃％‰,.:;?!)]}%ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
)
_NOT_LAST = frozenset("‘“（〔［｛〈《「『【([{$£¥")


def wrap(spans: Sequence[Span], width: int, *, words: bool = True) -> list[StyledLine]:
    """Return `spans` as lines of `width` cells; newlines in them are hard breaks.

    Without `words` they are preformatted: no space is lost, and lines break as `break_after` says.
    """
    text = "".join([span.text for span in spans])
    cuts = list(_cuts(text, max(1, width), words=words))
    if len(cuts) == 1 and cuts[0][1] == len(text):
        return [StyledLine(tuple([span for span in spans if span.text]))]
    return _slices(spans, cuts)


def _cuts(text: str, width: int, *, words: bool) -> Iterator[Cut]:
    start = 0
    while True:
        newline = text.find("\n", start)
        end = len(text) if newline < 0 else newline
        if is_narrow(text, start, end):
            yield from _narrow_cuts(text, start, end, width, words)
        else:
            yield from _measured_cuts(text, start, end, width, words)
        if newline < 0:
            return
        start = newline + 1


def is_narrow(text: str, start: int, end: int) -> bool:
    """Say whether every character from `start` to `end` is known to take one cell."""
    return text.isascii() or _narrow().issuperset(text[start:end])


@cache
def _narrow() -> frozenset[str]:
    blocks = ((0x20, 0x7F), (0xA0, 0x300), (0x370, 0x483), (0x2010, 0x2300), (0x2500, 0x2600))
    return frozenset(
        character
        for low, high in blocks
        for character in map(chr, range(low, high))
        if get_character_cell_size(character) == 1
    )


def _narrow_cuts(text: str, start: int, end: int, width: int, words: bool) -> Iterator[Cut]:
    while end - start > width:
        if not words:
            seen = text[start : min(end, start + 2 * width + 2)]
            low = start + min(width // 2, break_after(seen, 0, width, width) - 1)
            stop, following = _word_end(text, low, start + width)
            yield start, stop, text[stop:following]
            start = following
            continue
        space = text.rfind(" ", start + 1, start + width + 1)
        if space < 0:
            yield start, start + width, ""
            start += width
            continue
        stop = space
        while stop > start and text[stop - 1] == " ":
            stop -= 1
        following = space + 1
        while following < end and text[following] == " ":
            following += 1
        if following == end:
            yield start, stop, None
            return
        if stop == start:  # only spaces so far: the word goes on the next line
            yield start, space, " "
        else:
            yield start, stop, " "
        start = following
    yield start, end, None


def _measured_cuts(text: str, start: int, end: int, width: int, words: bool) -> Iterator[Cut]:
    used = 0
    stop = following = start  # the last place to break: the line's end and the next one's start
    join = ""
    was_wide = False
    for index in range(start, end):
        character = text[index]
        size = get_character_cell_size(character)
        if size == 0:
            continue
        if words and character == " ":
            if index > start and text[index - 1] == " " and following == index:
                following = index + 1
            else:
                stop, following, join = index, index + 1, " "
            used += 1
            was_wide = False
            continue
        is_wide = size == 2
        if words and index > start and (is_wide or was_wide) and following != index:
            before = text[index - 1]
            if before != " " and character not in _NOT_FIRST and before not in _NOT_LAST:
                stop, following, join = index, index, ""
        while used + size > width and index > start:
            if not words:
                stop, following = _word_end(text, (start + index) // 2, index)
                join = text[stop:following]
            if following > start:
                yield start, stop, join
                start = following
                used = sum(map(get_character_cell_size, text[start:index]))
                stop = following = start
            else:
                yield start, index, ""
                start = stop = following = index
                used = 0
        used += size
        was_wide = is_wide
    if used > width and following > start:  # spaces at the end
        yield start, stop, join if following < end else None
        start = following
    if start < end or used <= width:
        yield start, end, None


def _word_end(text: str, low: int, high: int) -> tuple[int, int]:
    """Return where the last word between two places ends and the next one begins.

    Without a space between them both are the latter.
    """
    space = text.rfind(" ", low, high)
    if space < 0:
        return high, high
    stop = space
    while stop > low and text[stop - 1] == " ":
        stop -= 1
    return stop, space + 1


def _slices(spans: Sequence[Span], cuts: Sequence[Cut]) -> list[StyledLine]:
    lines: list[StyledLine] = []
    position = 0  # where spans[number] begins
    number = 0
    for start, end, join in cuts:
        line: list[Span] = []
        while number < len(spans) and position + len(spans[number].text) <= start:
            position += len(spans[number].text)
            number += 1
        at, index = position, number
        while index < len(spans) and at < end:
            span = spans[index]
            size = len(span.text)
            low, high = max(start - at, 0), min(end - at, size)
            if low < high:
                line.append(span if high - low == size else span._replace(text=span.text[low:high]))
            at += size
            index += 1
        lines.append(StyledLine(tuple(line), join=join))
    return lines
