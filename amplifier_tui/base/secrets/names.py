"""Names of fields and variables that hold secrets, and values to look for."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from amplifier_tui.base.secrets.shapes import places

SHORTEST_VALUE: Final = 8
"""Shorter values of variables are not looked for: they would hit ordinary words."""
_NAMES: Final = (
    *("api_key", "apikey", "secret", "clientsecret", "password", "passwd", "token"),
    *("credential", "credentials", "private_key", "privatekey", "auth", "authorization"),
    *("access_key", "accesskey", "cookie"),
)
_FIELD_NAME: Final = re.compile(rf"(?:^|_)(?:{'|'.join(_NAMES)})$")
_VARIABLE: Final = re.compile(
    r"(?i)(?:(?:_|^)(?:KEY|TOKEN|SECRET|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|COOKIE|PASS)"
    r"|PASSWORD|SSHPASS|_PWD|_PAT|SECRET_KEY_BASE|CONNECTION_STRING|WEBHOOK_URL)"
    r"(?:_?[0-9]+)?$|API_?KEY"
)
_SETTING: Final = re.compile(r"GIT_CONFIG_KEY_\d+")
"""Holds the name of a setting of git: without it no git runs."""
_HARMLESS: Final = frozenset({"none", "null", "true", "false", "unused", "not-needed"})


def is_secret_name(name: object) -> bool:
    """Whether a field of this name holds a secret, such as `api_key` or `x-auth-token`."""
    return isinstance(name, str) and _FIELD_NAME.search(name.replace("-", "_").lower()) is not None


def may_name_secret(text: str) -> bool:
    """Whether a JSON text (as `json.dumps` spaces it) may have a field with a secret's name."""
    return any(
        text[max(0, at - 16) : at].replace("-", "_").lower().endswith(_NAMES)
        for at in places(text, ('": ',))
    )


def is_secret_variable(name: str) -> bool:
    """Whether an environment variable of this name holds a secret, such as `GITHUB_TOKEN`."""
    return _VARIABLE.search(name) is not None and not _SETTING.fullmatch(name)


def secret_values(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of secret variables, the longest first: one may contain another."""
    return by_length(variables[name] for name in variables if is_secret_variable(name))


def by_length(values: Iterable[str]) -> tuple[str, ...]:
    """Return those of some values that can be looked for in a text, the longest first."""
    usable = {
        value
        for value in values
        if len(value) >= SHORTEST_VALUE and value.casefold() not in _HARMLESS
    }
    return tuple(sorted(usable, key=len, reverse=True))
