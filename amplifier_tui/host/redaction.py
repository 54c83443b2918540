"""Secrets stay out of files, events and logs.

Two ways to know one: by the name of the field it is in, and by its value, when the environment or
a provider's configuration holds it. Values with the shape of a well-known kind of key go as well,
for those a user pastes. The table of shapes and names is `base.secrets`.
"""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from amplifier_tui.base.secrets import (
    SECRETS,
    by_length,
    cut_before,
    find_secrets,
    is_secret_name,
    may_name_secret,
    replace_secrets,
    secret_values,
    unfinished,
)

REDACTED: Final = "[REDACTED]"
_MARK: Final = REDACTED.removesuffix("]")
"""Modules may add a kind: `[REDACTED:PII]`."""


def hides_more(text: str, changed: str) -> bool:
    """Whether a text that was changed has more marks in place of secrets than before."""
    return changed.count(_MARK) > text.count(_MARK)


class Redactor:
    """Replaces secrets by `[REDACTED]`.

    Args:
        environ: Variables whose names end like a secret's give values to look for; None for
            `os.environ`.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._values: tuple[str, ...] = ()
        self._longest = 1
        self._escaped: list[str] = []
        self.add(secret_values(os.environ if environ is None else environ))

    def add(self, values: Iterable[str]) -> None:
        """Look for these values too."""
        self._values = by_length((*self._values, *values))
        self._longest = max(map(len, self._values), default=1)
        self._escaped = [json.dumps(value, ensure_ascii=False)[1:-1] for value in self._values]

    @property
    def known(self) -> tuple[str, ...]:
        """The values it looks for."""
        return self._values

    def add_config(self, config: Any) -> None:
        """Look for the values of secret fields in a configuration, at any depth."""
        self.add(_secret_values(config))

    def text(self, text: str, rules: Iterable[str] = (SECRETS,)) -> str:
        """Return the text without secret values.

        Args:
            rules: What else to look for, see `base.secrets.find_secrets`.
        """
        for value in self._values:
            if value in text:
                text = text.replace(value, REDACTED)
        return replace_secrets(text, lambda *_: REDACTED, rules)

    def unfinished(self, text: str) -> int:
        """Return how many characters at the end of a text may be the beginning of a secret.

        A stream is written as it comes; a secret that is cut in two must not slip through in
        halves.
        """
        longest = unfinished(text, self._values)
        return len(text) - cut_before(text, len(text) - longest, self._values) if longest else 0

    def json(self, data: Any) -> str:
        """Return data as JSON text, secret fields and values replaced.

        Args:
            data: Anything; what JSON has no form for becomes its `str`.
        """
        text = _dump(data)
        if may_name_secret(text):
            text = _dump(self.fields(data))
        if any(value in text for value in self._escaped) or find_secrets(text):
            # String by string, so that a secret that was cut off ends with its string, and the
            # digits of a number stay a number.
            text = _dump(self._strings(json.loads(text)))
        return text

    def _strings(self, data: Any) -> Any:
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, dict):
            return {self.text(key): self._strings(value) for key, value in data.items()}
        if isinstance(data, list):
            return [self._strings(item) for item in data]
        return REDACTED if str(data) in self._values else data

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

    def without(self, data: Any) -> Any:
        """Return a copy of data in which what has a secret for its name or value is left out."""
        if isinstance(data, Mapping):
            return {
                key: self.without(value)
                for key, value in data.items()
                if not (is_secret_name(key) and _is_value(value)) and not self._is_secret(value)
            }
        if isinstance(data, list | tuple):
            return [self.without(item) for item in data if not self._is_secret(item)]
        return data

    def _is_secret(self, value: Any) -> bool:
        return isinstance(value, str) and self.text(value) != value

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


def _is_value(value: Any) -> bool:
    return value is not None and not isinstance(value, bool | int | float) and value != ""


def _secret_values(config: Any) -> Iterable[str]:
    if isinstance(config, Mapping):
        for name, value in config.items():
            if isinstance(value, str) and is_secret_name(name):
                yield value
            yield from _secret_values(value)
    elif isinstance(config, list | tuple):
        for item in config:
            yield from _secret_values(item)


def _dump(data: Any) -> str:
    try:
        return json.dumps(data, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError) as error:
        # Circular, or keys of several kinds: the kernel hands out neither, a test double may.
        return json.dumps({"unreadable": f"{type(error).__name__}: {error}"})
