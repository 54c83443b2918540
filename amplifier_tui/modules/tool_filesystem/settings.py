"""What a bundle may say about the file tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

DEFAULT_MAX_READ_BYTES: Final = 256 * 1024
TOOLS: Final = ("read_file", "write_file", "edit_file")


@dataclass(frozen=True)
class Settings:
    """The module's configuration; see the package's docstring."""

    tools: tuple[str, ...] = TOOLS
    allowed_read_paths: tuple[str, ...] = ()
    allowed_write_paths: tuple[str, ...] = ()
    denied_read_paths: tuple[str, ...] = ()
    denied_write_paths: tuple[str, ...] = ()
    max_read_bytes: int = DEFAULT_MAX_READ_BYTES
    line_numbers: bool = True
    images: bool = True
    working_dir: str | None = None


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ValueError: A value makes no sense.
    """
    limit = config.get("max_read_bytes")
    if limit is None:
        limit = DEFAULT_MAX_READ_BYTES
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1024:
        raise ValueError(
            f"`max_read_bytes` of tool-filesystem must be a number from 1024 up, not {limit!r}"
        )
    folder = config.get("working_dir")
    return Settings(
        tools=_tools(config.get("tools")),
        allowed_read_paths=_paths(config, "allowed_read_paths"),
        allowed_write_paths=_paths(config, "allowed_write_paths"),
        denied_read_paths=_paths(config, "denied_read_paths"),
        denied_write_paths=_paths(config, "denied_write_paths"),
        max_read_bytes=limit,
        line_numbers=_flag(config, "line_numbers"),
        images=_flag(config, "images"),
        working_dir=None if folder is None else str(folder),
    )


def _tools(value: Any) -> tuple[str, ...]:
    if value is None:
        return TOOLS
    if not isinstance(value, list | tuple) or not all(name in TOOLS for name in value):
        known = ", ".join(TOOLS)
        raise ValueError(f"`tools` of tool-filesystem must be a list of {known}, not {value!r}")
    return tuple(value)


def _paths(config: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = config.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"`{name}` of tool-filesystem must be a list of paths, not {value!r}")
    return tuple(item for item in value if item.strip())


def _flag(config: Mapping[str, Any], name: str) -> bool:
    value = config.get(name)
    if value is None:
        return True
    if not isinstance(value, bool):
        raise ValueError(f"`{name}` of tool-filesystem must be true or false, not {value!r}")
    return value
