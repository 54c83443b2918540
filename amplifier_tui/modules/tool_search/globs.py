"""Patterns for paths: ``*``, ``?``, ``[…]``, ``**`` and ``{a,b}``, as regular expressions.

Standard library only: the searching process imports this.
"""

import re
from typing import Final

_MOST: Final = 64
"""Patterns that braces may make out of one."""


def expand_braces(pattern: str) -> list[str]:
    """Return the patterns a pattern with ``{a,b}`` stands for.

    Raises:
        ValueError: They are too many.
    """
    waiting = [pattern]
    done: list[str] = []
    while waiting:
        if len(waiting) + len(done) > _MOST:
            raise ValueError(f"the braces of {pattern!r} stand for too many patterns")
        text = waiting.pop(0)
        found = _innermost(text)
        if found is None:
            done.append(text)
            continue
        start, end = found
        waiting += [
            text[:start] + part + text[end + 1 :] for part in text[start + 1 : end].split(",")
        ]
    return list(dict.fromkeys(done))


def _innermost(text: str) -> tuple[int, int] | None:
    """The first ``{…}`` with a comma and no braces inside."""
    start = None
    for place, character in enumerate(text):
        if character == "{":
            start = place
        elif character == "}" and start is not None:
            if "," in text[start:place]:
                return start, place
            start = None
    return None


def translate(pattern: str) -> str:
    """Return a regular expression for whole relative paths with ``/`` between their parts.

    ``*`` and ``?`` stay within a part, ``**`` as a part stands for any number of parts.
    """
    parts = pattern.split("/")
    out: list[str] = []
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if part == "**":
            out.append(".*" if last else "(?:[^/]+/)*")
            continue
        out.append(_part(part))
        if not last:
            out.append("/")
    return "".join(out)


def _part(part: str) -> str:
    out: list[str] = []
    place = 0
    while place < len(part):
        character = part[place]
        if character == "*":
            if out[-1:] != ["[^/]*"]:  # `***` is as much as `*`, and much faster
                out.append("[^/]*")
        elif character == "?":
            out.append("[^/]")
        elif character == "[":
            end = _end_of_set(part, place)
            if end is None:
                out.append(r"\[")
            else:
                out.append(_set(part[place + 1 : end]))
                place = end
        elif character == "\\" and place + 1 < len(part):
            place += 1
            out.append(re.escape(part[place]))
        else:
            out.append(re.escape(character))
        place += 1
    return "".join(out)


def _end_of_set(part: str, start: int) -> int | None:
    place = start + 1
    if part[place : place + 1] in ("!", "^"):
        place += 1
    if part[place : place + 1] == "]":
        place += 1
    end = part.find("]", place)
    return None if end < 0 else end


def _set(inner: str) -> str:
    negated = inner[:1] in ("!", "^")
    inner = inner[1:] if negated else inner
    text = inner.replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]").replace("^", r"\^")
    made = f"(?!/)[{'^' if negated else ''}{text}]"
    try:
        re.compile(made)
    except re.error:
        # A range the wrong way round; it matches nothing, as in a shell.
        return "(?!)"
    return made


def compile_globs(patterns: list[str]) -> re.Pattern[str]:
    """Return an expression for all patterns; a `ValueError` where braces stand for too many."""
    found = [translate(plain) for pattern in patterns for plain in expand_braces(pattern)]
    return re.compile("|".join(f"(?:{text})" for text in found), re.DOTALL)
