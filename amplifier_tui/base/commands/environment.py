"""The user's shell, and the variables of a command that has no terminal.

Such a command must not colour, page or wait for answers.
"""

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final

from amplifier_tui.base.commands.programs import find_program
from amplifier_tui.base.secrets import is_secret_variable

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
_STARTING: Final = ("BASH_ENV", "ENV", "CDPATH", "GLOBIGNORE", "BASHOPTS", "SHELLOPTS")
"""They name files that a shell runs first, or have it read a line in another way."""
_COLOURING: Final = ("FORCE_COLOR", "CLICOLOR_FORCE")


def quiet_environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return variables for a command whose output is read as plain text."""
    kept = {name: value for name, value in own.items() if name not in _COLOURING}
    return {**kept, **_QUIET}


def without_secrets(own: Mapping[str, str], keep: Iterable[str] = ()) -> dict[str, str]:
    """Return variables without those that hold secrets or change what shells make of a line.

    Args:
        keep: Names of secrets that stay; ``*`` stands for any characters.
    """
    patterns = tuple(keep)
    return {
        name: value
        for name, value in own.items()
        if name not in _STARTING
        and (
            not is_secret_variable(name) or any(fnmatchcase(name, pattern) for pattern in patterns)
        )
    }


def users_shell() -> str:
    """Return the user's shell; `sh` when `SHELL` names none.

    Raises:
        FileNotFoundError: There is no shell.
    """
    for name in (os.environ.get("SHELL", ""), "bash", "sh"):
        found = find_program(name) if name else None
        if found is not None:
            return found
    raise FileNotFoundError("there is no shell")
