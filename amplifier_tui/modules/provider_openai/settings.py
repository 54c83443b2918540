"""What a bundle or the user may say about this provider."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from amplifier_tui.kernel.llm_errors import ConfigurationError
from amplifier_tui.kernel.models import Pricing
from amplifier_tui.kernel.utils.retry import RetryConfig

API_KEY_VARIABLE = "OPENAI_API_KEY"
BASE_URL_VARIABLE = "OPENAI_BASE_URL"
PUBLIC_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-6-astra"
_NO_KEY = "not-needed"
"""Local servers take any key, and the SDK insists on one."""
_UNRESOLVED = re.compile(r"^\$\{.*\}$")


class Settings(BaseModel):
    """The provider's configuration.

    Attributes:
        api_key: The key; without it the environment variable counts. Not needed with `base_url`.
        base_url: Address of a compatible API, such as a local server's `http://…/v1`.
        api: `responses`, `chat`, or `auto`: Responses at OpenAI, Chat Completions elsewhere.
        default_model: The model for requests that name none. Elsewhere than at OpenAI the first
            model the server lists.
        max_tokens: Output limit of one answer, reasoning included. Default: the model's own.
        context_window: Size of the window in tokens, where it is not known.
        temperature: Sent only when set.
        effort: `none` to `max`; a request's `reasoning_effort` wins.
        reasoning_summary: How much of the reasoning the Responses API tells; `none` for nothing.
        timeout: Seconds without a single byte after which a request has failed.
        max_retries: Extra attempts after errors that may pass.
        min_retry_delay: Seconds before the first retry.
        max_retry_delay: Longest wait in seconds. A `retry-after` beyond it fails at once.
        retry_jitter: Whether delays are spread at random, which may undercut a `retry-after`.
        prompt_caching: Whether OpenAI is told which requests belong together.
        stream: Whether answers arrive token by token.
        stream_usage: Whether Chat Completions is asked for token counts at the end of a stream.
        store: Whether OpenAI keeps the responses.
        max_continuations: How often an answer that hit the output limit is continued.
        pricing: Prices per million tokens, for models the table does not know.
    """

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    api_key: str | None = Field(default=None, repr=False)
    base_url: str | None = None
    api: Literal["auto", "responses", "chat"] = "auto"
    default_model: str | None = Field(
        default=None, validation_alias=AliasChoices("default_model", "model")
    )
    max_tokens: int | None = Field(default=None, ge=1)
    context_window: int | None = Field(default=None, ge=1)
    temperature: float | None = None
    effort: str | None = Field(
        default=None, validation_alias=AliasChoices("effort", "reasoning_effort")
    )
    reasoning_summary: Literal["auto", "concise", "detailed", "none"] = "auto"
    timeout: float = Field(default=300.0, gt=0)
    max_retries: int = Field(default=3, ge=0)
    min_retry_delay: float = Field(default=1.0, ge=0)
    max_retry_delay: float = Field(default=60.0, ge=0)
    retry_jitter: bool = False
    prompt_caching: bool = True
    stream: bool = True
    stream_usage: bool = True
    store: bool = False
    max_continuations: int = Field(default=2, ge=0)
    pricing: Pricing | None = None

    @property
    def url(self) -> str:
        """Where requests go."""
        return self.base_url or PUBLIC_URL

    @property
    def is_openai(self) -> bool:
        """Whether requests go to OpenAI itself."""
        host = urlsplit(self.url).hostname or ""
        return host == "api.openai.com" or host.endswith(".api.openai.com")

    @property
    def uses_responses(self) -> bool:
        """Whether requests use the Responses API."""
        return self.api == "responses" or (self.api == "auto" and self.is_openai)

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
        ConfigurationError: A value makes no sense, or OpenAI is to be asked without a key. In the
            latter case its attribute `missing_env` names the variables that would help.
    """
    given = {name: value for name, value in config.items() if value is not None and value != ""}
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        raise ConfigurationError(_readable(error), provider="openai") from error
    base_url = _given(settings.base_url, BASE_URL_VARIABLE)
    settings = settings.model_copy(update={"base_url": base_url})
    if settings.is_openai and settings.default_model is None:
        settings = settings.model_copy(update={"default_model": DEFAULT_MODEL})
    return settings.model_copy(update={"api_key": _key(settings)})


def _key(settings: Settings) -> str:
    key = _given(settings.api_key, API_KEY_VARIABLE)
    if key is not None:
        return key
    if not settings.is_openai:
        return _NO_KEY
    missing = ConfigurationError(
        f"{API_KEY_VARIABLE} is not set: set it, or `api_key` in the config of provider-openai. "
        "Keys are made at platform.openai.com. A local server needs only `base_url`.",
        provider="openai",
    )
    missing.missing_env = (API_KEY_VARIABLE,)
    raise missing


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
    return f"The config of provider-openai has mistakes: {'; '.join(dict.fromkeys(problems))}"
