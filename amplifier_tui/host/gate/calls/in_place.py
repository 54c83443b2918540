"""Programs that change the files they are given, where an option says so."""

from collections.abc import Sequence
from typing import Final, NamedTuple


class _Letters(NamedTuple):
    """Options of one letter.

    Attributes:
        alone: Those without a value.
        before: Those whose value is behind them, or the next word.
        glued: Those whose value can only be behind them.
    """

    alone: str
    before: str
    glued: str


_IN_PLACE: Final = {
    "sed": _Letters("Ebnrsuz", "efl", "i"),
    "perl": _Letters("acdhlnpsStTuUvVwWX0123456789", "eE", "iCDFIMmx"),
}
_LONG_VALUES: Final = ("--expression", "--file", "--line-length")


def files_in_place(program: str, arguments: Sequence[str]) -> tuple[int, ...] | None:
    """Return where, among its arguments, the files are that `sed -i` or `perl -i` changes.

    The first operand is no file, but a script, unless some option may have given one. None where
    nothing is changed in place.
    """
    letters = _IN_PLACE.get(program)
    if letters is None:
        return None
    in_place = scripted = False
    operands: list[int] = []
    words = iter(enumerate(arguments))
    for at, word in words:
        if word == "--":
            operands += (each for each, _ in words)
        elif word.startswith("--"):
            # They may be cut short.
            name, given, _ = word.partition("=")
            in_place |= "--in-place".startswith(name)
            valued = [each for each in _LONG_VALUES if each.startswith(name)]
            scripted |= bool(valued)
            if valued and not given:
                next(words, None)
        elif word.startswith("-"):
            flags = word[1:].lstrip(letters.alone)
            in_place |= flags.startswith("i")
            # Of another letter nobody knows what it does.
            scripted |= not flags.startswith(("i", "l")) and bool(flags)
            if len(flags) == 1 and flags in letters.before:
                next(words, None)
        else:
            operands.append(at)
    if not in_place:
        return None
    # Some want a word of its own behind `-i`, which may be empty; an empty script changes nothing.
    named = [at for at in operands if arguments[at]]
    return tuple(named if scripted else named[1:])
