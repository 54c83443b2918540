"""How a text mentions a file: `@path`, `@"a path"`, `@namespace:path` (bundle specification)."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from amplifier_tui.base.lazy.pattern import lazy_pattern

_FENCED: Final = lazy_pattern(r"(?ms)^```.*?^```[^\n]*$")
_INLINE: Final = lazy_pattern(r"(?<!`)`[^`\n]+`(?!`)")
# Letters of the scripts of Europe are part of a bare name. Those of any other go on with one only
# where a part of it begins: such a language may have no blanks, and `@README.md` may stand amid
# its words. Possessive, so that `@x@y.z` cannot match a part of `@x` by giving characters back.
_NAME: Final = r"A-Za-z0-9_:./~\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u052f-"
_MENTION: Final = lazy_pattern(
    rf'@(?:"([^"\n]+)"|((?=[{_NAME}\w])[{_NAME}]*+(?:(?<=[@/])[\w:./~-]*+|(?<![@/])))(?!@))'
)
_RANGE: Final = r"L?(\d{1,9})(?:-L?(\d{1,9}))?"
_LINES_IN: Final = lazy_pattern(rf"(.+?):{_RANGE}[.:]*")
"""The name of a mention that ends in lines."""
_LINES_BEHIND: Final = lazy_pattern(rf"(?:#(?=L)|:){_RANGE}(?!\w)")
"""What stands behind a mention, or behind its quotes."""


class LinesMention(NamedTuple):
    """Where a text mentions lines of a file, as `@path:3-9` or `@path#L3-L9`: `text[start:end]`.

    Attributes:
        whole: As it is mentioned, without quotes.
        file: The mention of the file.
        first: Its first line, from 1.
        last: Its last line.
    """

    start: int
    end: int
    whole: str
    file: str
    first: int
    last: int


def parse_mentions(text: str) -> list[str]:
    """Return the mentions of a text, each once, in order, with their `@` and without quotes.

    A name with blanks or signs in it stands in double quotes behind the `@`. Mentions in fenced
    code and in single-backtick code do not count. A full stop at the end of a sentence belongs to
    the mention; a resolver may look for it without.
    """
    if "@" not in text:
        return []
    # A space in place of the code keeps the text around it from joining to a mention.
    prose = _INLINE.sub(" ", _FENCED.sub(" ", text))
    return list(dict.fromkeys(f"@{found[1] or found[2]}" for found in _MENTION.finditer(prose)))


def lines_mentions(text: str) -> Iterator[LinesMention]:
    """Yield the mentions of lines in a text in order; those in code do not count."""
    if "@" not in text:
        return
    prose = _INLINE.sub(_blank, _FENCED.sub(_blank, text))
    for found in _MENTION.finditer(prose):
        name = found[1] or found[2]
        inside = _LINES_IN.fullmatch(name)
        behind = None if inside else _LINES_BEHIND.match(prose, found.end())
        lines = inside or behind
        if lines is None:
            continue
        *_, first, last = lines.groups()
        end = found.end() if behind is None else behind.end()
        whole = f"@{name}{behind[0] if behind is not None else ''}".rstrip(".:")
        file = f"@{inside[1] if inside is not None else name}"
        yield LinesMention(found.start(), end, whole, file, int(first), int(last or first))


def _blank(code: re.Match[str]) -> str:
    return " " * len(code[0])


def mention_of(path: str) -> str:
    """Return how a text mentions a file; empty where no mention can hold its name."""
    # The end of a sentence is no part of a mention, and control characters are part of no text.
    if path.endswith((".", ":")) or not path.isprintable():
        return ""
    ways = (f"@{path}", f'@"{path}"')
    return next((way for way in ways if parse_mentions(way) == [f"@{path}"]), "")
