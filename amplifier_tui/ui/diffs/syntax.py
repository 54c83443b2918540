"""Syntax colours of diffs. Slow: for a thread, and of large diffs only the beginning."""

from collections.abc import Callable, Iterator, Sequence

from amplifier_tui.ui.diffs.rows import DiffRows
from amplifier_tui.ui.transcript.lines import Span
from amplifier_tui.ui.transcript.markdown.code import highlighted, language_of
from amplifier_tui.ui.widgets.text_lines import TAB, Spans

MOST = 120_000
"""Characters that are coloured."""
_BLOCK = 20_000

_STYLES = {
    "syn-keyword": "$text-primary",
    "syn-string": "$text-success",
    "syn-number": "$text-warning",
    "syn-type": "$text-accent",
    "syn-name": "bold",
    "syn-comment": "$text-muted italic",
}


def theme_style(name: str) -> str:
    """Return the colours of a kind of word, for `TextLine.spans`."""
    return _STYLES.get(name, "")


def diff_syntax(
    rows: DiffRows,
    style: Callable[[str], str] = theme_style,
    wanted: Callable[[], bool] = lambda: True,
) -> dict[int, Spans]:
    """Return the colours of the rows of a diff by their index.

    What stood before and what stands after are read apart, hunk by hunk, each in the language
    that the file's name tells. It ends early when they are no longer `wanted`.
    """
    found: dict[int, Spans] = {}
    left = MOST
    for language, numbers in _hunks(rows):
        for side in ("removed", "added"):
            of_side = [n for n in numbers if rows.kinds[n] in ("context", side)]
            if side == "removed" and not any(rows.kinds[n] == side for n in of_side):
                continue
            for block in _blocks(rows, of_side):
                left -= sum(len(rows.texts[n]) for n in block)
                if left < 0 or not wanted():
                    return found
                colours = line_syntax([rows.texts[n] for n in block], language, style)
                found.update(zip(block, colours, strict=True))
    return found


def line_syntax(
    lines: Sequence[str], language: str, style: Callable[[str], str] = theme_style
) -> list[Spans]:
    """Return the colours of each line of a file, whose tabs are shown already."""
    code = "\n".join(lines).replace(TAB, " " * len(TAB))
    return [_spans(line, style) for line in _read(code, language)]


def _read(code: str, language: str) -> list[list[Span]]:
    """Read a passage of a file, which may begin inside a string or a comment of several lines."""
    if "*/" in code.partition("/*")[0]:
        first, *rest = highlighted(f"/*\n{code}", language)
        if first and first[0].style == "syn-comment":
            return rest
    marks = [mark for mark in ('"""', "'''") if code.count(mark) % 2]
    readings = [highlighted(code, language)]
    readings += [highlighted(f"{mark}\n{code}", language)[1:] for mark in marks]
    # Of several, the one with more code in it is the likelier.
    return max(readings, key=_keywords)


def _keywords(lines: Sequence[Sequence[Span]]) -> int:
    return sum(span.style == "syn-keyword" for line in lines for span in line)


def _spans(line: Sequence[tuple[str, str, str]], style: Callable[[str], str]) -> Spans:
    spans: list[tuple[int, int, str]] = []
    at = 0
    for text, name, _ in line:
        if shown := style(name):
            spans.append((at, at + len(text), shown))
        at += len(text)
    return tuple(spans)


def _hunks(rows: DiffRows) -> Iterator[tuple[str, list[int]]]:
    """Yield the lines of each hunk as indices, with the language of its file."""
    language = ""
    numbers: list[int] = []
    for n, row in enumerate(rows):
        if row.is_line:
            numbers.append(n)
        elif row.kind in ("file", "section"):
            if language and numbers:
                yield language, numbers
            numbers = []
            if row.kind == "file":
                language = language_of(row.text)
    if language and numbers:
        yield language, numbers


def _blocks(rows: DiffRows, numbers: Sequence[int]) -> Iterator[list[int]]:
    """Yield rows in blocks of a size that a lexer is quick with."""
    block: list[int] = []
    size = 0
    for n in numbers:
        block.append(n)
        size += len(rows.texts[n])
        if size > _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block
