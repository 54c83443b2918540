"""The headings of Markdown that is put below the headings of another document."""

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_DEEPEST: Final = 6
_MAY_BE_ONE: Final = re.compile(
    r"""
    ^ [ \t>*+\-\d.)]* \#              # behind the marks of lists and quotations
    | ^ [ \t>]* (?: =+ | -+ ) [ \t]* $  # or underlined
    """,
    re.MULTILINE | re.VERBOSE,
)
"""Finds every heading, and lines that are none."""

_MAY_STAY_OPEN: Final = re.compile(r"^[ \t>*+\-\d.)]*(?:`{3}|~{3}|<)", re.MULTILINE)
_BELOW: Final = "Below"


def lowered(text: str, by: int) -> str:
    """Return Markdown with its headings so many levels lower; whatever else is in it stays.

    One that is underlined gets the marks of the others: there is no underline for lower levels.
    """
    if _MAY_BE_ONE.search(text) is None:
        # To read it takes seconds where there are 100,000 items of lists.
        return text
    found: list[Token] = []
    parser = _parser()
    parser.block.parse(text, parser, {}, found)
    lines: list[str | None] = [*text.split("\n")]
    for token, inside in pairwise(found):
        if token.type == "heading_open" and token.map is not None:
            first, end = token.map
            line = lines[first] or ""
            marks = "#" * min(int(token.tag[1:]) + by, _DEEPEST)
            if token.markup.startswith("#"):
                lines[first] = line.replace(token.markup, marks, 1)
                continue
            words = inside.content.split("\n")
            # Before them may stand the mark of a list or a quotation.
            lines[first] = f"{line[: line.find(words[0])]}{marks} {' '.join(words)}"
            lines[first + 1 : end] = [None] * (end - first - 1)
    return "\n".join(line for line in lines if line is not None)


def closes(text: str) -> bool:
    """Whether what stands below a Markdown is outside of its blocks of code and of HTML."""
    if _MAY_STAY_OPEN.search(text) is None:
        return True
    found: list[Token] = []
    parser = _parser()
    parser.block.parse(f"{text}\n\n{_BELOW}", parser, {}, found)
    return [token.content for token in found[-3:] if token.type == "inline"] == [_BELOW]


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    # Late: most sessions are never exported.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
