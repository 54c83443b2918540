"""The variables of a command that has no terminal: it must not colour, page or wait for answers."""

from collections.abc import Mapping
from typing import Final

_QUIET: Final[dict[str, str]] = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",
}
_COLOURING: Final = ("FORCE_COLOR", "CLICOLOR_FORCE")


def quiet_environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return variables for a command whose output is read as plain text."""
    kept = {name: value for name, value in own.items() if name not in _COLOURING}
    return {**kept, **_QUIET}
