"""What secrets look like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

_KEY: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|"
    r"github_pat_[A-Za-z0-9_]{30,}|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|"
    r"xox[abprs]-[A-Za-z0-9-]{10,}|glpat-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{36}|"
    r"pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}|[rs]k_live_[A-Za-z0-9]{20,})"
)
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----[\s\S]{1,20000}?"
    r"(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----|\Z)"
)
_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
)
_BEARER: Final = re.compile(r"(?i)\bBearer +([A-Za-z0-9._~+/-]{20,}=*)")
_IN_URL: Final = re.compile(r"://[^\s/:@'\"]{1,100}:([^\s/:@'\"]{3,200})@")

SECRETS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("private-key", _PRIVATE_KEY),
    ("api-key", _KEY),
    ("token", _TOKEN),
    ("token", _BEARER),
    ("password", _IN_URL),
)
"""Name and expression; where there is a group, the group is the secret."""

_WORDS: Final = "KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?"
_NAME: Final = rf"(?m)(?<![A-Za-z0-9_$.-])[A-Z][A-Z0-9_]*(?:{_WORDS})[0-9]*"
# No code and no placeholder: neither calls and variables nor <your key here>.
_VALUE: Final = (
    r"(?!(?i:your|change|example|xxx|placeholder|test\b|none\b|null\b|true\b|false\b))"
    r"([^\s'\"#$(){}<>\[\]]{8,})"
)
_END: Final = r"[^\S\n]*(?:#|\r?$)"

ASSIGNMENTS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("value", re.compile(rf"{_NAME}=(?:{_VALUE}|'{_VALUE}'|\"{_VALUE}\"){_END}")),
    # With spaces it may be code, so only what looks made up counts.
    ("value", re.compile(rf"{_NAME} = (?=.[^'\"\n]*\d)(?:'{_VALUE}'|\"{_VALUE}\"){_END}")),
)
"""Values in the lines of an environment file."""

PII: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("e-mail", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}(?![\w-])")),
    ("phone", re.compile(r"(?<![\w.+-])\+\d{1,3}(?:[ ./-]?\(?\d{2,5}\)?){2,5}(?![\w-])")),
)

_VARIABLE: Final = re.compile(rf"(?i)(?:^|_|API)(?:{_WORDS})$")
_FIELD: Final = re.compile(
    r"(?i)(?:^|.*[_-])(?:api[_-]?key|secret|password|passwd|token|credentials?|private[_-]?key|"
    r"auth|authorization|cookie)$"
)
_SHORTEST: Final = 8
_HARMLESS: Final = frozenset({"not-needed", "unused"})


def secret_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of secret variables, the longest first: one may contain another."""
    found: Iterable[str] = {
        value
        for name, value in environ.items()
        if _VARIABLE.search(name) and len(value) >= _SHORTEST and value not in _HARMLESS
    }
    return tuple(sorted(found, key=len, reverse=True))


def is_secret_field(name: object) -> bool:
    """Whether a field of this name holds a secret, such as ``api_key`` or ``x-auth-token``."""
    return isinstance(name, str) and _FIELD.match(name) is not None
