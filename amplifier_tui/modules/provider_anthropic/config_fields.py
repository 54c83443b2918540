"""The questions a setup asks about this provider."""

from __future__ import annotations

from amplifier_tui.kernel.models import ConfigField
from amplifier_tui.modules.provider_anthropic.settings import (
    API_KEY_VARIABLE,
    BASE_URL_VARIABLE,
    DEFAULT_MODEL,
)


def config_fields() -> list[ConfigField]:
    """The fields, in the order to ask them."""
    return [
        ConfigField(
            id="api_key",
            display_name="API key",
            prompt="Anthropic API key (console.anthropic.com)",
            field_type="secret",
            env_var=API_KEY_VARIABLE,
        ),
        ConfigField(
            id="default_model",
            display_name="Model",
            prompt="Model for new sessions",
            default=DEFAULT_MODEL,
            required=False,
        ),
        ConfigField(
            id="effort",
            display_name="Effort",
            prompt="How hard the model thinks",
            field_type="choice",
            choices=["low", "medium", "high", "xhigh", "max"],
            required=False,
            requires_model=True,
        ),
        ConfigField(
            id="base_url",
            display_name="Address",
            prompt="Address of the API, for a gateway",
            env_var=BASE_URL_VARIABLE,
            required=False,
        ),
    ]
