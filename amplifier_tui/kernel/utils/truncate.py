"""Making data fit to be logged: shorter, and without secrets."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

REDACTED: Final = "[REDACTED]"
SENSITIVE_KEYS: Final = frozenset(
    (
        *("api_key", "apikey", "api-key", "secret", "password", "token", "credential"),
        *("credentials", "private_key", "privatekey", "auth", "authorization"),
    )
)

CIRCULAR: Final = "[CIRCULAR]"
"""Stands for a reference to something it is part of."""

TOO_DEEP: Final = "[TOO DEEP]"
"""Stands for what is nested deeper than :data:`MAX_DEPTH`."""

MAX_DEPTH: Final = 90
"""Levels of nesting that are kept: an event that carries the result has room for a few more."""


def truncate_values(obj: Any, max_length: int = 180) -> Any:
    """Return ``obj`` with every long string cut, all the way down.

    Args:
        obj: Nested dicts and lists; not changed. What is circular or far too deep is cut too.
        max_length: Characters a string keeps.
    """

    def rebuild(value: Any, seen: _Seen) -> Any:
        if isinstance(value, str):
            if len(value) <= max_length:
                return value
            return f"{value[:max_length]}... (truncated {len(value) - max_length} chars)"
        if isinstance(value, dict):
            return {key: seen.visit(item, rebuild) for key, item in value.items()}
        if isinstance(value, list):
            return [seen.visit(item, rebuild) for item in value]
        return value

    return _Seen().visit(obj, rebuild)


def redact_secrets(obj: Any, sensitive_keys: Collection[str] = SENSITIVE_KEYS) -> Any:
    """Return ``obj`` with the values of secret-bearing keys replaced, all the way down.

    Args:
        obj: Nested dicts and lists; not changed. What is circular or far too deep is cut.
        sensitive_keys: Lower-case keys whose values are secrets; compared whole, in any case.
    """

    def rebuild(value: Any, seen: _Seen) -> Any:
        if isinstance(value, dict):
            return {
                key: REDACTED
                if isinstance(key, str) and key.lower() in sensitive_keys
                else seen.visit(item, rebuild)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [seen.visit(item, rebuild) for item in value]
        return value

    return _Seen().visit(obj, rebuild)


def without_cycles(obj: Any) -> Any:
    """Return ``obj`` with nothing changed but what is circular or far too deep."""
    return redact_secrets(obj, ())


class _Seen:
    """Remembers the containers of one walk: each is rebuilt once, however often it is met."""

    def __init__(self) -> None:
        self._rebuilt: dict[int, Any] = {}
        self._depth = 0

    def visit(self, value: Any, rebuild: Callable[[Any, _Seen], Any]) -> Any:
        """Return the rebuilt value, or what stands for it where it has to be cut."""
        if not isinstance(value, dict | list | tuple):
            return rebuild(value, self)
        place = id(value)
        if place in self._rebuilt:
            return self._rebuilt[place]
        if self._depth >= MAX_DEPTH:
            return TOO_DEEP
        # Met again before it is rebuilt, it is a part of itself.
        self._rebuilt[place] = CIRCULAR
        self._depth += 1
        rebuilt = self._rebuilt[place] = rebuild(value, self)
        self._depth -= 1
        return rebuilt
