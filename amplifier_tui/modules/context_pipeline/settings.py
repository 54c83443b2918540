"""Reading the module's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_tui.context.pipeline import DEFAULT_TIMEOUT


def read_timeout(value: Any) -> float:
    """Return ``provider_timeout`` in seconds.

    Raises:
        ValueError: It is no positive number.
    """
    if value is None:
        return DEFAULT_TIMEOUT
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ValueError(
            f"`provider_timeout` of context-pipeline must be a positive number of seconds, "
            f"not {value!r}"
        )
    return float(value)


def identified(entry: Any, what: str) -> tuple[str, dict[str, Any]]:
    """Return id and settings of an entry: an id, or a mapping with ``id``.

    Args:
        entry: As configured.
        what: What it is, for the message.

    Raises:
        ValueError: It is neither.
    """
    if isinstance(entry, str) and entry:
        return entry, {}
    if isinstance(entry, Mapping) and isinstance(entry.get("id"), str) and entry["id"]:
        inner = entry.get("config")
        settings = dict(inner) if isinstance(inner, Mapping) else {}
        settings.update({k: v for k, v in entry.items() if k not in ("id", "config")})
        return entry["id"], settings
    raise ValueError(
        f"A {what} of context-pipeline must be an id or a mapping with `id`, not {entry!r}"
    )


def made(what: str, name: str, make: Any, settings: Mapping[str, Any]) -> Any:
    """Make something of its settings.

    Args:
        what: What it is, for the message.
        name: Its id, for the message.
        make: Takes the settings by keyword.
        settings: As configured.

    Raises:
        ValueError: It does not take these settings.
    """
    try:
        return make(**settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The {what} '{name}' of context-pipeline: {error}") from error
