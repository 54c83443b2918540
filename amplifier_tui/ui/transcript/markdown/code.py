"""Code: highlighting that never guesses a language, and lines on the fence's surface."""

import logging
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

from amplifier_tui.ui.transcript.lines import Span, StyledLine, merged, spaces, width_of, wrap
from amplifier_tui.ui.widgets.text_lines import FOLDED

_log = logging.getLogger(__name__)

BASE = "fence"
_MARGIN = 2
_HIGHLIGHT_LIMIT = 30_000

# Pygments token names (the path from `Token`), most general first; the longest match wins.
_STYLES: dict[tuple[str, ...], str] = {
    ("Comment",): "syn-comment",
    ("Keyword",): "syn-keyword",
    ("Keyword", "Type"): "syn-type",
    ("Literal", "String"): "syn-string",
    ("Literal", "Number"): "syn-number",
    ("Operator", "Word"): "syn-keyword",
    ("Name", "Builtin"): "syn-type",
    ("Name", "Class"): "syn-name",
    ("Name", "Constant"): "syn-number",
    ("Name", "Decorator"): "syn-type",
    ("Name", "Exception"): "syn-type",
    ("Name", "Function"): "syn-name",
    ("Name", "Label"): "syn-name",
    ("Name", "Tag"): "syn-keyword",
    ("Name", "Attribute"): "syn-type",
    ("Name", "Variable"): "syn-name",
    ("Generic", "Deleted"): f"removed@{BASE}",
    ("Generic", "Inserted"): f"added@{BASE}",
    ("Generic", "Heading"): "syn-name",
    ("Generic", "Subheading"): "syn-comment",
}
_SPANNING = (("Literal", "String"), ("Comment", "Multiline"))


def code_lines(code: str, language: str, measure: int) -> list[StyledLine]:
    """Return clean code as lines of `measure` cells on the fence's surface, folded."""
    inner = max(1, measure - 2 * _MARGIN)
    lines: list[StyledLine] = []
    for spans in highlighted(code, language):
        for number, line in enumerate(wrap(spans, inner, words=False)):
            used = min(width_of(line.spans), inner)
            lead = Span(f"{FOLDED} ", f"muted@{BASE}") if number else spaces(_MARGIN, BASE)
            fill = spaces(measure - _MARGIN - used, BASE)
            whole = (lead, *line.spans, fill)
            lines.append(StyledLine(whole, _MARGIN, len(fill.text), line.join))
    return lines


def highlighted(code: str, language: str) -> list[list[Span]]:
    """Return the spans of each line of `code`."""
    plain = code.expandtabs(4)
    lines: list[list[Span]] = [[]]
    for path, text in _tokens(plain, language):
        style = _style_of(path)
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append(Span(part, style))
    return [merged(line) for line in lines]


def last_boundary(code: str, language: str) -> int:
    """Return the last line that can be highlighted on its own, or 0.

    A line that begins inside a string or a comment cannot: its lexer would not know.
    """
    boundary = line = 0
    for path, text in _tokens(code, language):
        newlines = text.count("\n")
        line += newlines
        if newlines and not any(path[: len(kind)] == kind for kind in _SPANNING):
            boundary = line
    return boundary


def _tokens(code: str, language: str) -> Iterator[tuple[tuple[str, ...], str]]:
    lexer = _lexer(language) if len(code) <= _HIGHLIGHT_LIMIT else None
    if lexer is None:
        yield (), code
        return
    try:
        tokens = [(path, text) for path, text in lexer.get_tokens(code + "\n") if text]
    except Exception:
        # Lexers are third-party regular expressions over hostile text; colour is not worth a turn.
        _log.warning("Highlighting %s failed; showing it plain", language, exc_info=True)
        yield (), code
        return
    if "".join([text for _, text in tokens]) != code + "\n":
        yield (), code
        return
    path, text = tokens[-1]
    yield from tokens[:-1]
    if text[:-1]:
        yield path, text[:-1]


@lru_cache(maxsize=64)
def language_of(name: str) -> str:
    """Return the language that the name of a file tells; empty when it tells none."""
    kind = import_module("pygments.lexers").find_lexer_class_for_filename(name.rsplit("/", 1)[-1])
    return str(kind.aliases[0]) if kind is not None and kind.aliases else ""


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    """Return the Pygments lexer of a language, or None."""
    if not language:
        return None
    lexers = import_module("pygments.lexers")
    try:
        return lexers.get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except import_module("pygments.util").ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _style_of(path: tuple[str, ...]) -> str:
    for size in range(len(path), 0, -1):
        style = _STYLES.get(path[:size])
        if style is not None:
            return style
    return BASE
