"""What a bundle may say about the loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DEFAULT_MAX_ITERATIONS = 100


@dataclass(frozen=True)
class Settings:
    """The loop's configuration.

    Attributes:
        default_provider: Name of the provider to use, if it is mounted.
        max_iterations: Requests to the model per turn; None for no limit.
    """

    default_provider: str | None = None
    max_iterations: int | None = DEFAULT_MAX_ITERATIONS


def read_settings(config: Mapping[str, Any] | None) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ValueError: A value makes no sense.
    """
    config = config or {}
    limit = config.get("max_iterations")
    if limit is None:
        limit = DEFAULT_MAX_ITERATIONS
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise ValueError(
            f"`max_iterations` of loop-streaming must be a whole number, not {limit!r}; "
            "-1 means no limit"
        )
    provider = config.get("default_provider")
    if provider is not None and not isinstance(provider, str):
        raise ValueError(
            f"`default_provider` of loop-streaming must be a provider's name, not {provider!r}"
        )
    return Settings(provider or None, limit if limit > 0 else None)
