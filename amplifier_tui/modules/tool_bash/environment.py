"""The variables a command sees: no API keys, no pagers, no questions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from amplifier_tui.modules.tool_bash.settings import Settings

_SECRET: Final = re.compile(
    r"(?:^|_)(?:KEY|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|COOKIE)"
    r"(?:_?\d+)?$",
    re.IGNORECASE,
)

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
"""A command has no terminal: it must not colour, page, or wait for an answer."""

_DROPPED: Final = ("FORCE_COLOR", "CLICOLOR_FORCE", "BASH_ENV", "ENV")


def command_environment(own: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Return the variables of a command.

    Args:
        own: This program's variables.
        settings: What to keep and what to set.
    """
    environment = {
        name: value
        for name, value in own.items()
        if name not in _DROPPED
        and (settings.pass_secrets or not _SECRET.search(name) or _kept(name, settings.keep_env))
    }
    return {**environment, **_QUIET, **settings.env}


def _kept(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
