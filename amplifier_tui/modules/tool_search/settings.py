"""What a bundle may say about searching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """The module's configuration; see the package's docstring."""

    allowed_read_paths: tuple[str, ...] = ()
    denied_read_paths: tuple[str, ...] = ()
    timeout: float = 20.0
    max_results: int = 200
    max_file_bytes: int = 5_000_000
    working_dir: str | None = None


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ValueError: A value makes no sense.
    """
    folder = config.get("working_dir")
    return Settings(
        allowed_read_paths=_paths(config, "allowed_read_paths"),
        denied_read_paths=_paths(config, "denied_read_paths"),
        timeout=_number(config, "timeout", Settings.timeout),
        max_results=int(_number(config, "max_results", Settings.max_results)),
        max_file_bytes=int(_number(config, "max_file_bytes", Settings.max_file_bytes)),
        working_dir=None if folder is None else str(folder),
    )


def _paths(config: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = config.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"`{name}` of tool-search must be a list of paths, not {value!r}")
    return tuple(item for item in value if item.strip())


def _number(config: Mapping[str, Any], name: str, default: float) -> float:
    value = config.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value < 1e12:
        raise ValueError(f"`{name}` of tool-search must be a number from 1 up, not {value!r}")
    return value
