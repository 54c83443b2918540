"""What a bundle may say about calling agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """The module's configuration; see the package's docstring."""

    max_depth: int = 2
    max_parallel: int = 4
    max_output_chars: int = 40_000
    allow_self: bool = False


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ValueError: A value makes no sense.
    """
    allow_self = config.get("allow_self", False)
    if not isinstance(allow_self, bool):
        raise ValueError(f"`allow_self` of tool-task must be true or false, not {allow_self!r}")
    return Settings(
        max_depth=_number(config, "max_depth", Settings.max_depth),
        max_parallel=_number(config, "max_parallel", Settings.max_parallel),
        max_output_chars=_number(config, "max_output_chars", Settings.max_output_chars),
        allow_self=allow_self,
    )


def _number(config: Mapping[str, Any], name: str, default: int) -> int:
    value = config.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"`{name}` of tool-task must be a number from 1 up, not {value!r}")
    return value
