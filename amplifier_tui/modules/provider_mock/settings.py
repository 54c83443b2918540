"""What a bundle may say about the scripted agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_tui.kernel.llm_errors import ConfigurationError

NAME = "mock"


@dataclass(frozen=True)
class Settings:
    """The module's configuration; see the package's docstring."""

    script: str | None = None
    tokens_per_second: float = 80.0
    context_window: int = 200_000
    max_output_tokens: int = 16_000
    model: str = "scripted"


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ConfigurationError: A value makes no sense.
    """
    defaults = Settings()
    script = config.get("script")
    if script is not None and (not isinstance(script, str) or not script.strip()):
        raise ConfigurationError(
            f"`script` of provider-mock must be a path, not {script!r}", provider=NAME
        )
    return Settings(
        script=script,
        tokens_per_second=_number(config, "tokens_per_second", defaults.tokens_per_second, 0),
        context_window=int(_number(config, "context_window", defaults.context_window, 1)),
        max_output_tokens=int(_number(config, "max_output_tokens", defaults.max_output_tokens, 1)),
        model=str(config.get("model") or config.get("default_model") or defaults.model),
    )


def _number(config: Mapping[str, Any], name: str, default: float, least: float) -> float:
    value = config.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
        raise ConfigurationError(
            f"`{name}` of provider-mock must be a number from {least:g} up, not {value!r}",
            provider=NAME,
        )
    return value
