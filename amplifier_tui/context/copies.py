"""Copies of messages, so that nobody changes what the ledger holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def copied(value: Any) -> Any:
    """Return JSON-like data with containers of its own all the way down."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in value]
    return value


def copied_row(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with containers of its own all the way down."""
    return {
        key: value if isinstance(value, str) else copied(value) for key, value in message.items()
    }
