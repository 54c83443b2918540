"""What a bundle or the user may say about this provider."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from amplifier_tui.kernel.llm_errors import ConfigurationError
from amplifier_tui.kernel.models import Pricing
from amplifier_tui.kernel.utils.retry import RetryConfig

API_KEY_VARIABLE = "ANTHROPIC_API_KEY"
BASE_URL_VARIABLE = "ANTHROPIC_BASE_URL"
DEFAULT_MODEL = "claude-sonnet-5-5"
THINKING_WORDS = ("adaptive", "on", "off", "between_tools")
_UNRESOLVED = re.compile(r"^\$\{.*\}$")


class Settings(BaseModel):
    """The provider's configuration.

    Attributes:
        api_key: The key; without it the environment variable counts.
        base_url: Address of the API; for gateways and tests.
        default_model: The model for requests that name none.
        max_tokens: Output limit of one answer, thinking included. Default per model.
        context_window: Size of the window in tokens, where the table is wrong.
        temperature: Sent only when set; recent models refuse it.
        thinking: `adaptive`, `off`, `between_tools`, a budget in tokens, or the API's object.
            None leaves it to the model.
        effort: `low` to `max`; a request's `reasoning_effort` wins.
        timeout: Seconds without a single byte after which a request has failed.
        max_retries: Extra attempts after errors that may pass.
        min_retry_delay: Seconds before the first retry.
        max_retry_delay: Longest wait in seconds. A `retry-after` beyond it fails at once.
        retry_jitter: Whether delays are spread at random, which may undercut a `retry-after`.
        prompt_caching: Whether to mark the prompt for caching; `1h` keeps it for an hour.
        stream: Whether answers arrive token by token.
        max_continuations: How often an answer that hit the output limit is continued.
        pricing: Prices per million tokens, for models the table does not know.
    """

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    api_key: str | None = Field(default=None, repr=False)
    base_url: str | None = None
    default_model: str = Field(
        default=DEFAULT_MODEL, validation_alias=AliasChoices("default_model", "model")
    )
    max_tokens: int | None = Field(default=None, ge=1)
    context_window: int | None = Field(default=None, ge=1)
    temperature: float | None = None
    thinking: bool | int | str | dict[str, Any] | None = None
    effort: str | None = Field(
        default=None, validation_alias=AliasChoices("effort", "reasoning_effort")
    )
    timeout: float = Field(default=300.0, gt=0)
    max_retries: int = Field(default=3, ge=0)
    min_retry_delay: float = Field(default=1.0, ge=0)
    max_retry_delay: float = Field(default=60.0, ge=0)
    retry_jitter: bool = False
    prompt_caching: bool | Literal["5m", "1h"] = True
    stream: bool = True
    max_continuations: int = Field(default=2, ge=0)
    pricing: Pricing | None = None

    @field_validator("thinking")
    @classmethod
    def _known_thinking(cls, value: bool | int | str | dict[str, Any] | None) -> Any:
        if not isinstance(value, str):
            return value
        if value.isdigit():
            return int(value)
        if value not in THINKING_WORDS:
            raise ValueError(f"expected a number of tokens or one of {', '.join(THINKING_WORDS)}")
        return value

    @property
    def retry(self) -> RetryConfig:
        """How to retry."""
        return RetryConfig(
            max_retries=self.max_retries,
            initial_delay=self.min_retry_delay,
            max_delay=self.max_retry_delay,
            jitter=self.retry_jitter,
        )


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config and complete it from the environment.

    Args:
        config: The `config` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ConfigurationError: A value makes no sense, or there is no key. In the latter case its
            attribute `missing_env` names the variables that would help.
    """
    given = {name: value for name, value in config.items() if value is not None and value != ""}
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        raise ConfigurationError(_readable(error), provider="anthropic") from error
    key = _given(settings.api_key, API_KEY_VARIABLE)
    if key is None:
        missing = ConfigurationError(
            f"{API_KEY_VARIABLE} is not set: set it, or `api_key` in the config of "
            "provider-anthropic. Keys are made at console.anthropic.com.",
            provider="anthropic",
        )
        missing.missing_env = (API_KEY_VARIABLE,)
        raise missing
    base_url = _given(settings.base_url, BASE_URL_VARIABLE)
    return settings.model_copy(update={"api_key": key, "base_url": base_url})


def _given(value: str | None, variable: str) -> str | None:
    """A value of the config, or else of the environment; `${…}` that nobody resolved is none."""
    if value is None or _UNRESOLVED.match(value):
        value = os.environ.get(variable, "")
    return value.strip() or None


def _readable(error: ValidationError) -> str:
    problems = [
        f"`{'.'.join(str(part) for part in problem['loc'][:1])}`: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    ]
    return f"The config of provider-anthropic has mistakes: {'; '.join(dict.fromkeys(problems))}"
