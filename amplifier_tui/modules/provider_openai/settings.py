"""What a bundle or the user may say about this provider, and what a setup asks."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from amplifier_tui.kernel.models import ConfigField
from amplifier_tui.modules._provider.settings import (
    ProviderSettings,
    model_and_effort_fields,
    or_environment,
)

API_KEY_VARIABLE = "OPENAI_API_KEY"
BASE_URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_MODEL = "gpt-6-astra"
_PUBLIC_URL = "https://api.openai.com/v1"
_NO_KEY = "not-needed"
"""Local servers take any key, and the SDK insists on one."""


class OpenAISettings(ProviderSettings):
    """The provider's configuration, beside what every provider has.

    With a `base_url` of its own no key is needed, and the default model is the first one that the
    server lists.

    Attributes:
        api: `responses`, `chat`, or `auto`: Responses at OpenAI, Chat Completions elsewhere.
        reasoning_summary: How much of the reasoning the Responses API tells; `none` for nothing.
        prompt_caching: Whether OpenAI is told which requests belong together.
        stream_usage: Whether Chat Completions is asked for token counts at the end of a stream.
        store: Whether OpenAI keeps the responses.
    """

    module: ClassVar[str] = "provider-openai"
    provider: ClassVar[str] = "openai"

    api: Literal["auto", "responses", "chat"] = "auto"
    reasoning_summary: Literal["auto", "concise", "detailed", "none"] = "auto"
    prompt_caching: bool = True
    stream_usage: bool = True
    store: bool = False

    @property
    def url(self) -> str:
        """Where requests go."""
        return self.base_url or _PUBLIC_URL

    @property
    def is_openai(self) -> bool:
        """Whether requests go to OpenAI itself."""
        host = urlsplit(self.url).hostname or ""
        return host == "api.openai.com" or host.endswith(".api.openai.com")

    @property
    def where(self) -> str:
        """Who is asked, for people."""
        return "OpenAI" if self.is_openai else self.url

    @property
    def uses_responses(self) -> bool:
        """Whether requests use the Responses API."""
        return self.api == "responses" or (self.api == "auto" and self.is_openai)


def read_settings(config: Mapping[str, Any] | None) -> OpenAISettings:
    """Check a module's config and complete it from the environment.

    Raises:
        ConfigurationError: A value makes no sense, or OpenAI is to be asked without a key. In the
            latter case its attribute `missing_env` names the variables that would help.
    """
    settings = OpenAISettings.read(config)
    base_url = or_environment(settings.base_url, BASE_URL_VARIABLE)
    settings = settings.model_copy(update={"base_url": base_url})
    key = or_environment(settings.api_key, API_KEY_VARIABLE)
    if not settings.is_openai:
        return settings.model_copy(update={"api_key": key or _NO_KEY})
    if key is None:
        raise settings.missing_key(
            API_KEY_VARIABLE,
            "set it, or `api_key` in the config of provider-openai. "
            "Keys are made at platform.openai.com. A local server needs only `base_url`.",
        )
    model = settings.default_model or DEFAULT_MODEL
    return settings.model_copy(update={"api_key": key, "default_model": model})


def config_fields() -> list[ConfigField]:
    """Return the questions a setup asks, in their order."""
    efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
    return [
        ConfigField(
            id="base_url",
            display_name="Address",
            prompt="Address of a compatible server; empty for OpenAI",
            env_var=BASE_URL_VARIABLE,
            required=False,
        ),
        ConfigField(
            id="api_key",
            display_name="API key",
            prompt="OpenAI API key (platform.openai.com); local servers need none",
            field_type="secret",
            env_var=API_KEY_VARIABLE,
            required=False,
        ),
        *model_and_effort_fields(DEFAULT_MODEL, efforts),
        ConfigField(
            id="api",
            display_name="API",
            prompt="Which of OpenAI's APIs to use",
            field_type="choice",
            choices=["auto", "responses", "chat"],
            default="auto",
            required=False,
        ),
    ]
