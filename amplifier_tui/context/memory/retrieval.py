"""What a search for memories returns, and who can do it."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.lazy.pattern import lazy_pattern


@dataclass(frozen=True, slots=True)
class Memory:
    """Something worth knowing later.

    Attributes:
        memory_id: Its number; 0 where it is from somewhere else.
        text: What it says.
        scope: Where it holds: a project's folder, or "" for everywhere.
        session_id: Session it was noted in; may be empty.
        created: When, ISO 8601 in UTC.
    """

    memory_id: int
    text: str
    scope: str = ""
    session_id: str = ""
    created: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-native data."""
        return {
            "id": self.memory_id,
            "text": self.text,
            "scope": self.scope,
            "session_id": self.session_id,
            "created": self.created,
        }


class Retriever(Protocol):
    """Finds what fits a query, by words, by vectors, in a service."""

    async def search(self, query: str, k: int) -> Sequence[Memory]:
        """Return the best matches, the best first."""
        ...


_CJK: Final = (
    "\u3005-\u3007"  # signs among Han characters that stand for one
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3100-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul
    "\U00020000-\U0002fa1f\U00030000-\U000323af"  # rare Han
)
_RUN: Final = lazy_pattern(f"[{_CJK}]+")
_WORD: Final = lazy_pattern(rf"[^\W{_CJK}]+")
# fmt: off
_COMMON: Final = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "could", "do", "does", "for",
    "from", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "no",
    "not", "of", "on", "or", "please", "so", "some", "that", "the", "their", "them", "then",
    "there", "they", "this", "to", "us", "was", "we", "what", "when", "where", "which", "who",
    "why", "will", "with", "would", "you", "your",
})
# fmt: on
_TERMS: Final = 16
"""Terms a query has at most: each one costs."""

_READ: Final = 4_000
"""Characters of either end of a text that terms are taken from."""


def bigrams(text: str) -> str:
    """Return the pairs of neighbouring characters of a text's CJK runs, spaces between them.

    SQLite's tokenizers take such a run for one word, and find nothing in it. The last character
    comes once more alone: a search for a single one is for what begins with it.
    """
    return " ".join(pair for run in _RUN.findall(text) for pair in (*_pairs(run), *run[1:][-1:]))


def match_expression(query: str) -> str:
    """Return the FTS5 expression that finds what shares terms with a query; "" without terms."""
    if len(query) > 2 * _READ:
        query = f"{query[:_READ]} {query[-_READ:]}"
    words = [w for w in _WORD.findall(query.lower()) if len(w) > 1 and w not in _COMMON]
    pairs = [pair for run in _RUN.findall(query) for pair in _pairs(run)]
    # The longest words say most.
    chosen = sorted(dict.fromkeys(words), key=len, reverse=True)[:_TERMS]
    terms = [f"text : {_quoted(word)}" for word in chosen]
    room = _TERMS if not terms else _TERMS - len(terms) // 2
    for pair in list(dict.fromkeys(pairs))[:room]:
        prefix = "*" if len(pair) == 1 else ""
        terms.append(f"cjk : {_quoted(pair)}{prefix}")
    return " OR ".join(terms)


def _pairs(run: str) -> Iterable[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _quoted(term: str) -> str:
    doubled = term.replace('"', '""')
    return f'"{doubled}"'
