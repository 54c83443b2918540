"""Making data fit to be logged: shorter, and without secrets."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

__all__ = ["REDACTED", "SENSITIVE_KEYS", "redact_secrets", "truncate_values"]

REDACTED: Final = "[REDACTED]"
SENSITIVE_KEYS: Final = frozenset(
    {
        "api_key",
        "apikey",
        "api-key",
        "secret",
        "password",
        "token",
        "credential",
        "credentials",
        "private_key",
        "privatekey",
        "auth",
        "authorization",
    }
)


def truncate_values(obj: Any, max_length: int = 180) -> Any:
    """Return ``obj`` with every long string cut, all the way down.

    Args:
        obj: Nested dicts and lists; not changed.
        max_length: Characters a string keeps.
    """
    if isinstance(obj, str):
        if len(obj) <= max_length:
            return obj
        return f"{obj[:max_length]}... (truncated {len(obj) - max_length} chars)"
    if isinstance(obj, dict):
        return {key: truncate_values(value, max_length) for key, value in obj.items()}
    if isinstance(obj, list):
        return [truncate_values(item, max_length) for item in obj]
    return obj


def redact_secrets(obj: Any, sensitive_keys: Collection[str] = SENSITIVE_KEYS) -> Any:
    """Return ``obj`` with the values of secret-bearing keys replaced, all the way down.

    Args:
        obj: Nested dicts and lists; not changed.
        sensitive_keys: Lower-case keys whose values are secrets; compared whole, in any case.
    """
    if isinstance(obj, dict):
        return {
            key: REDACTED
            if isinstance(key, str) and key.lower() in sensitive_keys
            else redact_secrets(value, sensitive_keys)
            for key, value in obj.items()
        }
    if isinstance(obj, list | tuple):
        return [redact_secrets(item, sensitive_keys) for item in obj]
    return obj
