"""The name that somebody most likely meant."""

from collections.abc import Iterable

_LEAST = 0.7
"""How much alike two names are, from 0 to 1, where one may be meant for the other."""


def nearest(name: str, known: Iterable[str], least: float = _LEAST) -> str | None:
    """Return the known name that is most like another one, or None where none is.

    Args:
        least: How much alike they have to be, from 0 to 1.
    """
    # Only a mistake needs it.
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=least)
    return by_lower[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str], quote: str = "'", least: float = _LEAST) -> str:
    """Return the end of a sentence that offers the nearest name; empty where there is none."""
    found = nearest(name, known, least)
    return f"; did you mean {quote}{found}{quote}?" if found else ""
