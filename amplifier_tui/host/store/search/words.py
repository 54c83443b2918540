"""Words: what is typed as a query of SQLite's FTS5, and where they are in a text.

Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are not written with blanks between words,
or join endings to them. Each of their characters is indexed as a word of its own, and several in a
row are looked for as a phrase. Other than with FTS5's trigram tokenizer, words of one or two
characters are found too, and the index of everything else stays small.
"""

import re
from collections.abc import Iterator
from typing import Final

_ALONE: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_CHARACTER: Final = re.compile(f"[{_ALONE}]")
_TYPED: Final = re.compile(r'"([^"]*)("?)|([^\s"]+)')
_WORD: Final = re.compile(f"[{_ALONE}]|[^\\W_{_ALONE}]+")
_MOST_WORDS: Final = 20
_LONGEST: Final = 400


def spaced(text: str) -> str:
    """Return a text as it is indexed: with blanks around each character that is a word."""
    return _CHARACTER.sub(r" \g<0> ", text)


def phrases(typed: str) -> list[list[str]]:
    """Return the words that were typed; those that belong together are in one list.

    Together are words in quotation marks, the parts of a word such as `base/files.py`, and
    characters of a language without blanks.
    """
    typed = typed[:_LONGEST]
    found = [_WORD.findall(match[1] or match[3] or "") for match in _TYPED.finditer(typed)]
    return [words for words in found if words][:_MOST_WORDS]


def fts_query(typed: str) -> str:
    """Return a query that finds texts with all the words; empty where there is no word.

    The last word may be the beginning of one, unless a blank or a quotation mark follows it.
    """
    terms = [f'"{" ".join(words)}"' for words in phrases(typed)]
    if not terms:
        return ""
    return " ".join(terms) + ("" if typed[-1:].isspace() or typed.endswith('"') else "*")


def places(text: str, typed: str) -> Iterator[tuple[int, int]]:
    """Yield where in a text the words begin and end, in order."""
    parts = [r"[\W_]*".join(map(re.escape, words)) for words in phrases(typed)]
    if parts:
        pattern = re.compile(rf"(?<![^\W_{_ALONE}])(?:{'|'.join(parts)})", re.IGNORECASE)
        yield from (match.span() for match in pattern.finditer(text))
