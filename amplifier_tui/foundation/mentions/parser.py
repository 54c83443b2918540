"""Finding `@mentions` in a text."""

import re

_FENCED = re.compile(r"^```.*?^```[^\n]*$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")
# Possessive, so that `@x@y.z` cannot match a part of `@x` by giving characters back.
_MENTION = re.compile(r"@[A-Za-z0-9_:./~-]++(?!@)")


def parse_mentions(text: str) -> list[str]:
    """Return the mentions of a text, each once, in order, with their `@`.

    Mentions in fenced code and in single-backtick code do not count. A full stop at the end of a
    sentence belongs to the mention, so such a mention names no file.
    """
    if "@" not in text:
        return []
    # A space in place of the code, lest what stands around it join to a mention.
    prose = _INLINE.sub(" ", _FENCED.sub(" ", text))
    return list(dict.fromkeys(_MENTION.findall(prose)))
