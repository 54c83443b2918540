"""Takes secrets out of what is exported, and counts them."""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any, Final

from amplifier_tui.base.secrets import ASSIGNMENTS, SECRETS, is_secret_name
from amplifier_tui.base.text import clean, encodable, one_line, portable
from amplifier_tui.host.redaction import REDACTED, Redactor

_RULES: Final = (SECRETS, ASSIGNMENTS)
"""As for what a tool tells the model: what the user printed or typed goes the same way."""
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


class Masking:
    """Makes text harmless and free of secrets.

    Attributes:
        count: Secrets taken out so far.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.count = 0

    def text(self, text: str) -> str:
        r"""Return a text without control characters and secrets.

        Cleaned first: what can't be seen must not hide a secret. One that Markdown or HTML would
        put together again where it is shown, such as `ghp\_…`, is taken out with its escapes.
        """
        seen = encodable(clean(text))
        safe = self._masked(seen)
        shown = unescape(_ESCAPED.sub(r"\1", safe))
        if shown != safe and (masked := self._redactor.text(shown, _RULES)) != shown:
            return self._counted(shown, masked)
        return encodable(portable(text)) if safe == seen else safe

    def line(self, text: str, limit: int) -> str:
        """Return a text on one line of at most so many characters."""
        return one_line(self.text(text), limit)

    def values(self, data: Any) -> Any:
        """Return a copy of JSON data; texts under a name such as `password` are secrets."""
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, Mapping):
            return {self.text(str(key)): self._field(key, value) for key, value in data.items()}
        if isinstance(data, list | tuple):
            return [self.values(item) for item in data]
        return data

    def _field(self, name: object, value: Any) -> Any:
        if is_secret_name(name) and _is_secret(value):
            self.count += 1
            return REDACTED
        return self.values(value)

    def _masked(self, text: str) -> str:
        return self._counted(text, self._redactor.text(text, _RULES))

    def _counted(self, before: str, after: str) -> str:
        self.count += max(0, after.count(REDACTED) - before.count(REDACTED))
        return after


def _is_secret(value: Any) -> bool:
    """Whether a value under the name of a secret is one; also several of them."""
    return isinstance(value, str | list | tuple | Mapping) and bool(value) and value != REDACTED
