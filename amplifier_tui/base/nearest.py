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


_LONG = 6
"""Letters from which on a name with another letter in it is hardly a name of its own."""


def is_slip(name: str, meant: str) -> bool:
    """Return whether a name is another one with a single slip in it, and hardly one of its own.

    Two letters changed places, one is missing, or in a long name one is wrong or too many. The
    first is seldom the wrong one, and one more at the end makes a plural.
    """
    name, meant = name.casefold(), meant.casefold()
    at = next((at for at, (a, b) in enumerate(zip(name, meant, strict=False)) if a != b), -1)
    if at == -1:
        at = min(len(name), len(meant))
    left, right = name[at:], meant[at:]
    if at == 0 or not right:
        return False
    swapped = left[:2] == right[:2][::-1] and left[2:] == right[2:]
    if swapped or left == right[1:]:
        return True
    return len(meant) >= _LONG and (left[1:] in (right[1:], right) and bool(left))
