"""Secrets stay out of files, events and logs (`architecture.md` section 8).

Two ways to know one: by the name of the field it is in, and by its value, when the environment or
a provider's configuration holds it. Values with the shape of a well-known kind of key go as well,
for those a user pastes.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

REDACTED: Final = "[REDACTED]"
MIN_SECRET: Final = 8
"""Shorter values are not looked for: they would hit ordinary words."""

_NAMES: Final = (
    "api_?key|secret|password|passwd|token|credentials?|private_?key|auth|authorization|"
    "access_?key|client_?secret|cookie|set_cookie"
)
_FIELD = re.compile(rf"(?i)(?:^|.*_)(?:{_NAMES})$")
# The same names as JSON keys, to find out fast that a text has none.
_JSON_KEY = re.compile(
    rf'(?i)"[\w-]*(?:{_NAMES.replace("_", "[_-]")})"\s*:',
)
_VARIABLE = re.compile(r"(?i)(?:_|^)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$|API_?KEY")
# Published formats of API keys.
_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|"
    r"github_pat_[A-Za-z0-9_]{30,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|"
    r"xox[abprs]-[A-Za-z0-9-]{10,}|glpat-[A-Za-z0-9_-]{20,})"
)
_SHAPE_STARTS: Final = ("sk-", "gh", "AKIA", "AIza", "xox", "glpat-")
_KEY_STARTS: Final = (
    *("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("AKIA", "AIza", "xox", "glpat-"),
)
_LONGEST_KEY: Final = 200
_LAST_WORD: Final = re.compile(r"[A-Za-z0-9_-]+\Z")
_HARMLESS: Final = frozenset({"none", "null", "true", "false", "unused", "not-needed"})


class Redactor:
    """Replaces secrets by `[REDACTED]`.

    Args:
        environ: Variables whose names end like a secret's give values to look for; None for
            `os.environ`.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._values: list[str] = []
        self._longest = 1
        self._escaped: list[str] = []
        variables = os.environ if environ is None else environ
        self.add(value for name, value in variables.items() if _VARIABLE.search(name))

    def add(self, values: Iterable[str]) -> None:
        """Look for these values too."""
        known = set(self._values)
        known.update(
            value
            for value in values
            if len(value) >= MIN_SECRET and value.casefold() not in _HARMLESS
        )
        # The longest first: one may contain another.
        self._values = sorted(known, key=len, reverse=True)
        self._longest = max(map(len, self._values), default=1)
        self._escaped = [json.dumps(value, ensure_ascii=False)[1:-1] for value in self._values]

    def add_config(self, config: Any) -> None:
        """Look for the values of secret fields in a configuration, at any depth."""
        self.add(_secret_values(config))

    def text(self, text: str) -> str:
        """Return the text without secret values."""
        for value in self._values:
            if value in text:
                text = text.replace(value, REDACTED)
        return _shapes_gone(text)

    def unfinished(self, text: str) -> int:
        """Return how many characters at the end of a text may be the beginning of a secret.

        A stream is written as it comes; a secret that is cut in two must not slip through in
        halves.
        """
        tail = text[-self._longest :]
        longest = _unfinished_key(text)
        for value in self._values:
            at = tail.find(value[0])
            while at >= 0:
                if value.startswith(tail[at:]) and len(tail) - at < len(value):
                    longest = max(longest, len(tail) - at)
                    break
                at = tail.find(value[0], at + 1)
        return longest

    def json(self, data: Any) -> str:
        """Return data as JSON text, secret fields and values replaced.

        Args:
            data: Anything; what JSON has no form for becomes its `str`.
        """
        text = _dump(data)
        if _JSON_KEY.search(text):
            text = _dump(self.fields(data))
        for value in self._escaped:
            if value in text:
                text = text.replace(value, REDACTED)
        return _shapes_gone(text)

    def fields(self, data: Any) -> Any:
        """Return a copy of data with secret fields and values replaced, at any depth."""
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, Mapping):
            return {
                key: REDACTED if is_secret_name(key) and _is_value(value) else self.fields(value)
                for key, value in data.items()
            }
        if isinstance(data, list | tuple):
            return [self.fields(item) for item in data]
        return data

    def values(self, data: Any) -> Any:
        """Return data with secret values replaced; the same object when there are none.

        Names are not looked at: what a conversation calls a token need not be a secret, and a
        stored conversation has to stay what it was.
        """
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, dict):
            changed = {key: self.values(value) for key, value in data.items()}
            return changed if any(changed[key] is not data[key] for key in data) else data
        if isinstance(data, list):
            items = [self.values(item) for item in data]
            same = all(new is old for new, old in zip(items, data, strict=True))
            return data if same else items
        return data


def is_secret_name(name: Any) -> bool:
    """Whether a field of this name holds a secret, such as `api_key` or `x-auth-token`."""
    return isinstance(name, str) and _FIELD.match(name.replace("-", "_")) is not None


def _is_value(value: Any) -> bool:
    return value is not None and not isinstance(value, bool | int | float) and value != ""


def _secret_values(config: Any) -> Iterable[str]:
    if isinstance(config, Mapping):
        for name, value in config.items():
            if isinstance(value, str):
                if is_secret_name(name):
                    yield value
            else:
                yield from _secret_values(value)
    elif isinstance(config, list | tuple):
        for item in config:
            yield from _secret_values(item)


def _unfinished_key(text: str) -> int:
    match = _LAST_WORD.search(text[-_LONGEST_KEY:])
    word = match.group() if match is not None else ""
    if any(word.startswith(start) or start.startswith(word) for start in _KEY_STARTS if word):
        return len(word)
    return 0


def _shapes_gone(text: str) -> str:
    if any(start in text for start in _SHAPE_STARTS):
        return _SHAPES.sub(REDACTED, text)
    return text


def _dump(data: Any) -> str:
    try:
        return json.dumps(data, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError) as error:
        # Circular, or keys of several kinds: the kernel hands out neither, a test double may.
        return json.dumps({"unreadable": f"{type(error).__name__}: {error}"})
