"""Fuzzy matching for every list that is filtered by typing."""

from collections.abc import Callable, Iterable
from heapq import nsmallest
from typing import TypeVar

T = TypeVar("T")

_STARTS = frozenset("/\\_-. :@")
_ONE_WORD = 6.0
"""What letters are worth more that are all in one word."""
_SPREAD = 8
"""Letters of a text over which those of a word may be scattered, and four for each of them."""
_LONGEST_WORD = 32
_LONGEST_TEXT = 1_000
"""Beyond these lengths nobody scatters letters: longer words are found as they are, and others
only in the beginning of a text."""


def match(query: str, text: str) -> tuple[float, tuple[int, ...]] | None:
    """Match each word of `query` in `text`, case folded: as it is, or its letters not far apart.

    Returns the score (higher is better; 0 for an empty query) and the positions that matched,
    ascending, or None.
    """
    # Folding may change the length (`İ`): positions must index the text itself.
    folded = text.lower()
    if len(folded) != len(text):
        folded = "".join(c if len(c.lower()) != 1 else c.lower() for c in text)
    total = 0.0
    positions: set[int] = set()
    words = query.lower().split()
    for word in words:
        found = _match_word(word, folded, text)
        if found is None:
            return None
        total += found[0]
        positions.update(found[1])
    phrase = " ".join(words)
    if len(words) > 1 and phrase in folded:
        # Words that stand side by side are a title that was typed, not a search.
        total += 32.0 if folded.startswith(phrase) else 24.0
    return total, tuple(sorted(positions))


def _match_word(word: str, folded: str, text: str) -> tuple[float, tuple[int, ...]] | None:
    # A whole run is what the user most likely means; the last one is nearest the file name.
    run = folded.rfind(word)
    if run >= 0:
        first = folded.find(word)
        best = max((first, run), key=lambda at: (_starts(text, at), at))
        bonus = 24.0 if _starts(text, best) else 12.0
        score = bonus + len(word) * 8 - len(text) * 0.02
        return score, tuple(range(best, best + len(word)))
    nearest: tuple[float, tuple[int, ...]] | None = None
    if len(word) > _LONGEST_WORD:
        return None
    folded = folded[:_LONGEST_TEXT]
    at = folded.find(word[0]) if _has_letters(word, folded) else -1
    while at >= 0:
        found = _from(word, folded, text, at) if _starts(text, at) else None
        if found is not None and (nearest is None or found > nearest):
            nearest = found
        at = folded.find(word[0], at + 1)
    return nearest


def _has_letters(word: str, folded: str) -> bool:
    """Say whether all letters are there in their order: most texts are done with after that."""
    at = -1
    return all((at := folded.find(character, at + 1)) >= 0 for character in word)


def _from(word: str, folded: str, text: str, first: int) -> tuple[float, tuple[int, ...]] | None:
    """Match letters that stand apart, the first one at a place; None where they are far apart.

    Else three letters would be found in nearly every sentence.
    """
    spots = [first]
    score, loose = 5.0, 0
    end = first + _SPREAD + 4 * len(word) + 1
    for character in word[1:]:
        last = spots[-1]
        at = folded.find(character, last + 1, end)
        # A letter follows, begins a word, or is in the word of the one before.
        while at > last + 1 and not (_starts(text, at) or _STARTS.isdisjoint(text[last:at])):
            at = folded.find(character, at + 1, end)
        if at < 0:
            return None
        follows, starts = at == last + 1, _starts(text, at)
        score += 6.0 * follows + 4.0 * starts
        loose += not (follows or starts)
        spots.append(at)
    if loose > len(word) // 2:
        return None
    # A word with letters left out is meant more often than the beginnings of several.
    score += _ONE_WORD * _STARTS.isdisjoint(text[first : spots[-1]])
    return score + loose - (spots[-1] - first) * 0.1 - len(text) * 0.02, tuple(spots)


def _starts(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] in _STARTS or (text[at].isupper() and text[at - 1].islower())


def rank(query: str, items: Iterable[T], key: Callable[[T], str], limit: int = 500) -> list[T]:
    """Return at most `limit` items whose text (by `key`) matches, best first, then as given."""
    if not query.strip():
        return [item for item, _ in zip(items, range(limit), strict=False)]
    scored = (
        (-found[0], index, item)
        for index, item in enumerate(items)
        if (found := match(query, key(item))) is not None
    )
    return [item for _, _, item in nsmallest(limit, scored, key=lambda row: row[:2])]
