"""How many tokens a request may have."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

logger = logging.getLogger(__name__)

DEFAULT_MAX_TOKENS: Final = 200_000
DEFAULT_THRESHOLD: Final = 0.85
DEFAULT_TARGET: Final = 0.5
SAFETY_MARGIN: Final = 1_000
"""Tokens kept free, because counts are estimates (spec 000, Context contract)."""


@dataclass(frozen=True)
class Settings:
    """The module's configuration; ``max_tokens`` is None where nobody set it."""

    max_tokens: int | None = None
    threshold: float = DEFAULT_THRESHOLD
    target: float = DEFAULT_TARGET


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ValueError: A value makes no sense.
    """
    limit = config.get("max_tokens")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise ValueError(
            f"`max_tokens` of context-simple must be a positive whole number, not {limit!r}"
        )
    threshold = _part(config, "compaction_threshold", DEFAULT_THRESHOLD)
    target = _part(config, "compaction_target", min(DEFAULT_TARGET, threshold))
    if target > threshold:
        raise ValueError(
            f"`compaction_target` ({target}) of context-simple must not exceed "
            f"`compaction_threshold` ({threshold})"
        )
    return Settings(limit, threshold, target)


def _part(config: Mapping[str, Any], name: str, default: float) -> float:
    value = config.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise ValueError(
            f"`{name}` of context-simple must be a part between 0 and 1, not {value!r}"
        )
    return float(value)


def request_budget(token_budget: int | None, provider: Any | None, max_tokens: int | None) -> int:
    """Return the most tokens a request may have.

    Args:
        token_budget: An explicit limit; it wins.
        provider: Whose window counts: window minus output limit minus :data:`SAFETY_MARGIN`.
        max_tokens: The configured limit; caps the provider's.
    """
    if token_budget is not None:
        return max(0, token_budget)
    window = _window(provider)
    if window is None:
        return max_tokens if max_tokens is not None else DEFAULT_MAX_TOKENS
    return min(window, max_tokens) if max_tokens is not None else window


def _window(provider: Any | None) -> int | None:
    if provider is None:
        return None
    try:
        defaults = provider.get_info().defaults or {}
        window, output = defaults.get("context_window"), defaults.get("max_output_tokens")
    except Exception as error:
        logger.warning("The provider does not tell its context window: %s", error)
        return None
    if not isinstance(window, int) or not isinstance(output, int) or window <= 0:
        return None
    # A window that its own output limit fills is a mistake in the provider's table.
    return max(window - output - SAFETY_MARGIN, window // 4)
