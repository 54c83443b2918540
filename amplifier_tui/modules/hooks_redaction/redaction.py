"""Replacing secrets in event data."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from amplifier_tui.kernel import events
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules.hooks_redaction.secrets import (
    ASSIGNMENTS,
    PII,
    SECRETS,
    is_secret_field,
    secret_values,
)
from amplifier_tui.modules.hooks_redaction.settings import Settings

NAME: Final = "hooks-redaction"
Emit = Callable[[str, dict[str, Any]], Awaitable[Any]]

_CONTINUE: Final = HookResult(action="continue")
_MARK: Final = re.compile(r"\[REDACTED(?::[\w-]*)?\]")

_NEVER: Final = frozenset(
    {
        "session_id",
        "parent_id",
        "timestamp",
        "tool_call_id",
        "tool_name",
        "tool_input",
        "request_id",
    }
)
"""Top-level fields that stay: ids, and what a tool was called with."""


class RedactionHook:
    """Handler of everything.

    Args:
        settings: What to look for.
        emit: Emits an event: what was kept from the model is told to the user.
        environ: The program's variables; None for ``os.environ``.
    """

    def __init__(
        self, settings: Settings, emit: Emit, environ: Mapping[str, str] | None = None
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._environ = os.environ if environ is None else environ
        rules = settings.rules
        self._patterns = (
            *(SECRETS if "secrets" in rules else ()),
            *(ASSIGNMENTS if "assignments" in rules else ()),
            *(PII if "pii" in rules else ()),
            *settings.patterns,
        )

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        """Replace what is secret.

        Args:
            event: Any event.
            data: Its data; this handler's own copy.
        """
        fields = "fields" in self._settings.rules and event != events.TOOL_POST
        work = _Work(self, fields)
        changed = {
            name: value if name in _NEVER else work.visit(value, name)
            for name, value in data.items()
        }
        if not work.count:
            return _CONTINUE
        if event == events.TOOL_POST and self._settings.tell:
            what = f"{_named(work.kinds)} in what {data.get('tool_name')} said"
            notice = {"message": f"Kept from the model: {what}", "level": "info", "source": NAME}
            await self._emit(events.USER_NOTIFICATION, notice)
        return HookResult(action="modify", data=changed)

    def values(self) -> list[str]:
        """Return the secret values there are now; a key may be given while the program runs."""
        if "secrets" not in self._settings.rules:
            return []
        return [value for value in secret_values(self._environ) if not self._is_allowed(value)]

    def text(self, text: str, values: list[str]) -> tuple[str, list[str]]:
        """Return a text without secrets, and the kinds of what was replaced.

        Args:
            text: The text.
            values: See `values`.
        """
        kinds: list[str] = []
        for value in values:
            if value in text:
                kinds.append("api-key")
                text = text.replace(value, "[REDACTED:api-key]")
        for kind, pattern in self._patterns:
            text = pattern.sub(partial(self._replaced, kind, kinds), text)
        return text, kinds

    def _replaced(self, kind: str, kinds: list[str], match: re.Match[str]) -> str:
        whole = match.group()
        group = next((number for number, text in enumerate(match.groups(), 1) if text), 0)
        secret = match.group(group)
        if _MARK.search(secret) or self._is_allowed(secret):
            return whole
        kinds.append(kind)
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return f"{whole[:start]}[REDACTED:{kind}]{whole[end:]}"

    def _is_allowed(self, secret: str) -> bool:
        return any(pattern.search(secret) for pattern in self._settings.allow)


class _Work:
    """One walk over an event's data."""

    def __init__(self, hook: RedactionHook, fields: bool) -> None:
        self._hook = hook
        self._fields = fields
        self._values = hook.values()
        self._done: dict[str, str] = {}
        self.count = 0
        self.kinds: list[str] = []

    def visit(self, value: Any, name: Any = None) -> Any:
        """Return a value without secrets; `name` is that of the field it is in."""
        if self._fields and isinstance(value, str) and value and is_secret_field(name):
            self.count += 1
            return "[REDACTED]"
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {key: self.visit(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self.visit(item) for item in value]
        return value

    def _text(self, text: str) -> str:
        if text in self._done:
            return self._done[text]
        clean, kinds = self._hook.text(text, self._values)
        self._done[text] = clean
        if kinds:
            self.count += len(kinds)
            self.kinds += kinds
        return clean


def _named(kinds: list[str]) -> str:
    counted = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    return ", ".join(
        f"1 {kind}" if count == 1 else f"{count} {kind}s" for kind, count in counted.items()
    )
