"""What a bundle or the user may say about this provider, and what a setup asks."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator

from amplifier_tui.kernel.models import ConfigField
from amplifier_tui.modules._provider.settings import (
    ProviderSettings,
    is_at,
    model_and_effort_fields,
)

DEFAULT_MODEL = "claude-sonnet-5-5"
THINKING_WORDS = ("adaptive", "on", "off", "between_tools")
_PUBLIC_URL = "https://api.anthropic.com"


class AnthropicSettings(ProviderSettings):
    """The provider's configuration, beside what every provider has.

    Attributes:
        thinking: `adaptive`, `off`, `between_tools`, a budget in tokens, or the API's object.
            None leaves it to the model.
        prompt_caching: Whether to mark the prompt for caching; `1h` keeps it for an hour.
    """

    module: ClassVar[str] = "provider-anthropic"
    provider: ClassVar[str] = "anthropic"
    key_variable: ClassVar[str] = "ANTHROPIC_API_KEY"
    url_variable: ClassVar[str] = "ANTHROPIC_BASE_URL"

    thinking: bool | int | str | dict[str, Any] | None = None
    prompt_caching: bool | Literal["5m", "1h"] = Field(True, description="true, false, 5m or 1h")

    @field_validator("thinking")
    @classmethod
    def _known_thinking(cls, value: bool | int | str | dict[str, Any] | None) -> Any:
        if not isinstance(value, str):
            return value
        if value.isdigit():
            return int(value)
        if value not in THINKING_WORDS:
            words = ", ".join(THINKING_WORDS)
            raise ValueError(f"must be a number of tokens or one of {words}, not {value!r}")
        return value

    @property
    def url(self) -> str:
        """Where requests go."""
        return self.base_url or _PUBLIC_URL

    @property
    def where(self) -> str:
        """Who is asked, for people."""
        return "Anthropic" if is_at(self.url, "anthropic.com") else self.url

    @property
    def model(self) -> str:
        """The model for requests that name none."""
        return self.default_model or DEFAULT_MODEL

    @property
    def advice(self) -> str:
        """What to check when the API can't be reached."""
        return "Check the connection and `base_url`."

    def completed(self) -> Self:
        """Return the settings, which need a key."""
        if self.api_key is None:
            raise self.missing_key("Keys are made at console.anthropic.com.")
        return self

    def config_fields(self) -> list[ConfigField]:
        """Return the questions a setup asks, in their order."""
        return [
            ConfigField(
                id="api_key",
                display_name="API key",
                prompt="Anthropic API key (console.anthropic.com)",
                field_type="secret",
                env_var=self.key_variable,
            ),
            *model_and_effort_fields(DEFAULT_MODEL, ["low", "medium", "high", "xhigh", "max"]),
            ConfigField(
                id="base_url",
                display_name="Address",
                prompt="Address of the API, for a gateway",
                env_var=self.url_variable,
                required=False,
            ),
        ]
