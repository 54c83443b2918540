"""What a bundle or the user may say about this provider, and what a setup asks."""

from typing import ClassVar, Literal, Self

from amplifier_tui.base.prices import is_near
from amplifier_tui.kernel.models import ConfigField
from amplifier_tui.modules._provider.settings import (
    ProviderSettings,
    is_at,
    model_and_effort_fields,
)

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
        native_tools: Whether Responses offers `apply_patch` in the form that OpenAI's newer models
            know by themselves; older models refuse it.
    """

    module: ClassVar[str] = "provider-openai"
    provider: ClassVar[str] = "openai"
    key_variable: ClassVar[str] = "OPENAI_API_KEY"
    url_variable: ClassVar[str] = "OPENAI_BASE_URL"

    api: Literal["auto", "responses", "chat"] = "auto"
    reasoning_summary: Literal["auto", "concise", "detailed", "none"] = "auto"
    prompt_caching: bool = True
    stream_usage: bool = True
    store: bool = False
    native_tools: bool = False

    @property
    def url(self) -> str:
        """Where requests go."""
        return self.base_url or _PUBLIC_URL

    @property
    def is_openai(self) -> bool:
        """Whether requests go to OpenAI itself."""
        return is_at(self.url, "api.openai.com")

    @property
    def where(self) -> str:
        """Who is asked, for people."""
        return "OpenAI" if self.is_openai else self.url

    @property
    def uses_responses(self) -> bool:
        """Whether requests use the Responses API."""
        return self.api == "responses" or (self.api == "auto" and self.is_openai)

    @property
    def advice(self) -> str:
        """What to check when the API can't be reached."""
        if self.is_openai:
            return "Check the connection."
        if is_near(self.url):
            look = f"See whether one does with `curl {self.url.rstrip('/')}/models`."
            address = "`base_url`, or LOCAL_LLM_BASE_URL with the bundle local"
            return f"No server answers there: start it, or correct {address}. {look}"
        return "Is the server running? Check `base_url`."

    def completed(self) -> Self:
        """Return the settings: OpenAI needs a key and a model, other servers neither."""
        if not self.is_openai:
            return self.model_copy(update={"api_key": self.api_key or _NO_KEY})
        if self.api_key is None:
            raise self.missing_key(
                "Keys are made at platform.openai.com. A local server needs only `base_url`."
            )
        return self.model_copy(update={"default_model": self.default_model or DEFAULT_MODEL})

    def config_fields(self) -> list[ConfigField]:
        """Return the questions a setup asks, in their order."""
        efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
        return [
            ConfigField(
                id="base_url",
                display_name="Address",
                prompt="Address of a compatible server; empty for OpenAI",
                env_var=self.url_variable,
                required=False,
            ),
            ConfigField(
                id="api_key",
                display_name="API key",
                prompt="OpenAI API key (platform.openai.com); local servers need none",
                field_type="secret",
                env_var=self.key_variable,
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
