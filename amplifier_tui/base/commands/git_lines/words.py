"""The words of a call of git."""

from typing import Final

_GIT_VALUES: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"}
    | {"--super-prefix", "--attr-source"}
)
"""Options of git itself with a value behind them."""


def git_words(arguments: tuple[str, ...]) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Return git's own options, its command, and what stands behind that."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in _GIT_VALUES else 1
    return arguments[:at], "".join(arguments[at : at + 1]), arguments[at + 1 :]
