"""The settings every provider with an API has."""

import os
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self
from urllib.parse import urlsplit

from pydantic import AliasChoices, ConfigDict, Field

from amplifier_tui.base.config import ModuleSettings, Seconds, SettingsError
from amplifier_tui.kernel.llm_errors import ConfigurationError
from amplifier_tui.kernel.models import ConfigField, Pricing
from amplifier_tui.kernel.utils.retry import RetryConfig

_UNRESOLVED: Final = re.compile(r"^\$\{.*\}$")


class BaseProviderSettings(ModuleSettings):
    """What the settings of any provider do; `provider` is its name, for errors.

    Attributes:
        priority: Of several providers, orchestrators ask the one with the lowest.
    """

    provider: ClassVar[str]

    priority: float | None = None

    @classmethod
    def read(cls, config: Mapping[str, Any] | None) -> Self:
        """Check a module's config; empty texts count as not given.

        Raises:
            ConfigurationError: A value makes no sense.
        """
        given = {name: value for name, value in (config or {}).items() if value != ""}
        try:
            return super().read(given)
        except SettingsError as error:
            raise ConfigurationError(str(error), provider=cls.provider) from error


class ProviderSettings(BaseProviderSettings):
    """A provider's configuration.

    Attributes:
        key_variable: Environment variable of the key.
        url_variable: Environment variable of the address.
        api_key: The key; without it the environment variable counts.
        base_url: Address of the API; for gateways, compatible servers and tests.
        default_model: The model for requests that name none.
        max_tokens: Output limit of one answer, reasoning included. Default per model.
        context_window: Size of the window in tokens, where it is not known.
        temperature: Sent only when set.
        effort: `none` to `max`; a request's `reasoning_effort` wins.
        timeout: Seconds without a single byte after which a request has failed.
        connect_timeout: Seconds that connecting may take.
        request_timeout: Seconds that one answer may take, however steadily bytes arrive.
        max_retries: Extra attempts after errors that may pass.
        min_retry_delay: Seconds before the first retry.
        max_retry_delay: Longest wait in seconds. A `retry-after` beyond it fails at once.
        retry_jitter: Whether delays are spread at random, which may undercut a `retry-after`.
        stream: Whether answers arrive token by token.
        max_continuations: How often an answer that hit the output limit is continued.
        pricing: Prices per million tokens, for models the table does not know.
    """

    # Not strict: a value may come from an environment variable, as text.
    model_config = ConfigDict(strict=False)

    key_variable: ClassVar[str]
    url_variable: ClassVar[str]

    api_key: str | None = Field(default=None, repr=False)
    base_url: str | None = None
    default_model: str | None = Field(
        default=None, validation_alias=AliasChoices("default_model", "model")
    )
    max_tokens: int | None = Field(default=None, ge=1)
    context_window: int | None = Field(default=None, ge=1)
    temperature: float | None = None
    effort: str | None = Field(
        default=None, validation_alias=AliasChoices("effort", "reasoning_effort")
    )
    timeout: Seconds = Field(default=300.0, gt=0)
    connect_timeout: Seconds = Field(default=10.0, gt=0)
    request_timeout: Seconds = Field(default=3600.0, gt=0)
    max_retries: int = Field(default=3, ge=0)
    min_retry_delay: Seconds = Field(default=1.0, ge=0)
    max_retry_delay: Seconds = Field(default=60.0, ge=0)
    retry_jitter: bool = False
    stream: bool = True
    max_continuations: int = Field(default=2, ge=0)
    pricing: Pricing | None = None

    @property
    def url(self) -> str:
        """Where requests go."""
        raise NotImplementedError

    @property
    def where(self) -> str:
        """Who is asked, for people."""
        raise NotImplementedError

    @property
    def advice(self) -> str:
        """What to check when the API can't be reached."""
        raise NotImplementedError

    def config_fields(self) -> list[ConfigField]:
        """Return the questions a setup asks, in their order."""
        raise NotImplementedError

    def completed(self) -> Self:
        """Return the settings with what depends on others; raises `missing_key` without a key."""
        raise NotImplementedError

    @property
    def retry(self) -> RetryConfig:
        """How to retry."""
        return RetryConfig(
            max_retries=self.max_retries,
            initial_delay=self.min_retry_delay,
            max_delay=self.max_retry_delay,
            jitter=self.retry_jitter,
        )

    @classmethod
    def read(cls, config: Mapping[str, Any] | None) -> Self:
        """Check a module's config and complete it from the environment; see `completed`."""
        settings = super().read(config)
        found = {
            "api_key": _or_environment(settings.api_key, cls.key_variable),
            "base_url": _or_environment(settings.base_url, cls.url_variable),
        }
        return settings.model_copy(update=found).completed()

    def missing_key(self, where_made: str) -> ConfigurationError:
        """Return the error for a key that is nowhere; its `missing_env` names the variable."""
        missing = ConfigurationError(
            f"{self.key_variable} is not set: set it, or `api_key` in the config of "
            f"{self.module}. {where_made}",
            provider=self.provider,
        )
        missing.missing_env = (self.key_variable,)
        return missing


def _or_environment(value: str | None, variable: str) -> str | None:
    """Return a value of the config, or else of the environment; unresolved `${…}` is none."""
    if value is None or _UNRESOLVED.match(value):
        value = os.environ.get(variable, "")
    return value.strip() or None


def is_at(url: str, domain: str) -> bool:
    """Whether an address is that of a domain, or of one below it."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        # Whoever asks there says what is wrong with it.
        return False
    return host == domain or host.endswith(f".{domain}")


def model_and_effort_fields(default_model: str, efforts: list[str]) -> list[ConfigField]:
    """Return the questions a setup asks about model and effort."""
    return [
        ConfigField(
            id="default_model",
            display_name="Model",
            prompt="Model for new sessions",
            default=default_model,
            required=False,
        ),
        ConfigField(
            id="effort",
            display_name="Effort",
            prompt="How hard the model thinks",
            field_type="choice",
            choices=efforts,
            required=False,
            requires_model=True,
        ),
    ]
