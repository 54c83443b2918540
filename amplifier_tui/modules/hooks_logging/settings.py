"""What a bundle may say about the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR")
DEFAULT_PRIORITY: Final = 100


@dataclass(frozen=True)
class Settings:
    """The module's configuration; see the package's docstring."""

    template: str | None = None
    level: str = "INFO"
    additional_events: tuple[str, ...] = ()
    enabled: bool = True
    priority: int = DEFAULT_PRIORITY


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ValueError: A value makes no sense.
    """
    template = config.get("session_log_template")
    if template is not None and (not isinstance(template, str) or not template.strip()):
        raise ValueError(
            f"`session_log_template` of hooks-logging must be a path, not {template!r}"
        )
    level = str(config.get("level") or "INFO").upper()
    level = "WARNING" if level == "WARN" else level
    if level not in LEVELS:
        raise ValueError(f"`level` of hooks-logging must be one of {', '.join(LEVELS)}")
    additional = config.get("additional_events") or []
    if isinstance(additional, str):
        additional = [additional]
    if not isinstance(additional, list | tuple) or not all(
        isinstance(name, str) for name in additional
    ):
        raise ValueError("`additional_events` of hooks-logging must be a list of event names")
    enabled = config.get("enabled", True)
    if not isinstance(enabled, bool):
        raise ValueError("`enabled` of hooks-logging must be true or false")
    priority = config.get("priority", DEFAULT_PRIORITY)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise ValueError("`priority` of hooks-logging must be a whole number")
    return Settings(template, level, tuple(additional), enabled, priority)
