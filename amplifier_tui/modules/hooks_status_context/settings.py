"""What a bundle may say about the status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """The module's configuration; see the package's docstring."""

    git: bool = True
    git_status: bool = True
    max_files: int = 20
    commits: int = 0
    date: bool = True
    timeout: float = 2.0
    priority: int = 5
    working_dir: str | None = None


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ValueError: A value makes no sense.
    """
    folder = config.get("working_dir")
    timeout = config.get("timeout", Settings.timeout)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= 60:
        raise ValueError(
            f"`timeout` of hooks-status-context must be seconds up to 60, not {timeout!r}"
        )
    return Settings(
        git=_flag(config, "git"),
        git_status=_flag(config, "git_status"),
        max_files=_number(config, "max_files", Settings.max_files, most=500),
        commits=_number(config, "commits", Settings.commits, most=50),
        date=_flag(config, "date"),
        timeout=timeout,
        priority=_number(config, "priority", Settings.priority, least=-1000, most=1000),
        working_dir=None if folder is None else str(folder),
    )


def _flag(config: Mapping[str, Any], name: str) -> bool:
    value = config.get(name, True)
    if not isinstance(value, bool):
        raise ValueError(f"`{name}` of hooks-status-context must be true or false, not {value!r}")
    return value


def _number(
    config: Mapping[str, Any], name: str, default: int, *, least: int = 0, most: int
) -> int:
    value = config.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(
            f"`{name}` of hooks-status-context must be a number from {least} to {most}, "
            f"not {value!r}"
        )
    return value
