"""The provider: one client, requests in, responses out."""

from __future__ import annotations

import asyncio
import logging
import warnings
from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel.llm_errors import LLMError
from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_tui.kernel.models import ModelInfo, ProviderInfo
from amplifier_tui.kernel.utils.continuation import complete_fully
from amplifier_tui.kernel.utils.llm_calls import LLMCalls, with_overrides
from amplifier_tui.kernel.utils.pricing import usage_cost
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.kernel.utils.tool_calls import response_tool_calls
from amplifier_tui.modules.provider_anthropic.config_fields import config_fields
from amplifier_tui.modules.provider_anthropic.errors import translate
from amplifier_tui.modules.provider_anthropic.models import (
    CAPABILITIES,
    display_name,
    fallback_models,
    known_model,
    prices,
)
from amplifier_tui.modules.provider_anthropic.request import (
    DEFAULT_MAX_TOKENS,
    Prepared,
    prepare,
)
from amplifier_tui.modules.provider_anthropic.settings import (
    API_KEY_VARIABLE,
    Settings,
)
from amplifier_tui.modules.provider_anthropic.stream import Answer

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

logger = logging.getLogger(__name__)

_LISTING_S = 20.0
"""How long a model list may take, in seconds: someone is looking at an empty picker."""
_PAUSE = 0.25
"""Seconds from the session being ready to the import of the SDK."""
_PUBLIC_URL = "https://api.anthropic.com"


class AnthropicProvider:
    """Anthropic's Messages API as a kernel provider (spec 000, Provider contract).

    Args:
        settings: The configuration, with a key.
        coordinator: Whose hooks get the events; None for nobody's.
    """

    name = "anthropic"

    def __init__(self, settings: Settings, coordinator: Any | None = None) -> None:
        self.settings = settings
        self._client: AsyncAnthropic | None = None
        self._models: dict[str, ModelInfo] = {}
        self._calls = LLMCalls(coordinator, provider=self.name, retry=settings.retry)
        self._warming: asyncio.Task[None] | None = None
        self._soon: asyncio.TimerHandle | None = None

    def get_info(self) -> ProviderInfo:
        """Tell who this is; `defaults` describe the default model."""
        model = self.settings.default_model
        listed, known = self._models.get(model), known_model(model)
        window = listed.context_window if listed else known.context_window
        return ProviderInfo(
            id=self.name,
            display_name="Anthropic",
            credential_env_vars=[API_KEY_VARIABLE],
            capabilities=list(CAPABILITIES),
            defaults={
                "model": model,
                "context_window": self.settings.context_window or window,
                "max_output_tokens": self._output_limit(model),
                "timeout": self.settings.timeout,
            },
            config_fields=config_fields(),
        )

    async def list_models(self) -> list[ModelInfo]:
        """List the models of the API; where it can't be asked, the well-known ones."""
        try:
            await self.warm()
            page = await self._sdk().models.list(limit=1000, timeout=_LISTING_S)
            listed = [_model_info(model) async for model in page]
        except Exception as error:
            known = self._translated(error, self.settings.default_model)
            if known is None:
                raise
            logger.warning("Can't list Anthropic's models, offering the known ones: %s", known)
            return fallback_models()
        self._models = {model.id: model for model in listed}
        return listed

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """Answer a request, streaming unless the configuration says otherwise.

        Args:
            request: What to complete.
            **kwargs: Fields of the request to override; unknown ones are left alone.

        Raises:
            LLMError: The API could not answer; the message says what to do.
        """
        return await complete_fully(
            self._complete_once,
            with_overrides(request, kwargs),
            limit=self.settings.max_continuations,
        )

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of a response."""
        return response_tool_calls(response)

    async def close(self) -> None:
        """Close the connections. The next request opens new ones."""
        if self._soon is not None:
            self._soon.cancel()
        warming, self._warming = self._warming, None
        if warming is not None:
            warming.cancel()
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def warm_soon(self) -> None:
        """Begin to import the SDK once the session has been shown, which it would hold up."""
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(_PAUSE, self.start_warming)

    def start_warming(self) -> None:
        """Begin to import the SDK in a thread; it takes about a second."""
        if self._warming is None:
            self._warming = asyncio.create_task(asyncio.to_thread(_import_sdk))

    async def warm(self) -> None:
        """Wait until the SDK is imported, without holding up the loop."""
        self.start_warming()
        if self._warming is not None:
            await asyncio.shield(self._warming)

    async def _complete_once(self, request: ChatRequest) -> ChatResponse:
        await self.warm()
        model = request.model or self.settings.default_model
        prepared = prepare(request, self.settings, self._output_limit(model))
        arguments = prepared.arguments
        return await self._calls.run(
            lambda emitter: self._attempt(prepared, model, emitter),
            model=model,
            facts={
                "message_count": len(request.messages),
                "tool_count": len(request.tools or []),
                "max_output_tokens": arguments["max_tokens"],
                "thinking": (arguments.get("thinking") or {}).get("type"),
                "stream": self.settings.stream,
            },
            arguments=arguments,
            repairs=prepared.repairs,
        )

    async def _attempt(
        self, prepared: Prepared, model: str, emitter: StreamEmitter
    ) -> ChatResponse:
        answer = Answer(model, prepared.tool_names)
        try:
            if self.settings.stream:
                stream = await self._sdk().messages.create(**prepared.arguments, stream=True)
                try:
                    await answer.read_stream(stream, emitter)
                finally:
                    # Also when cancelled: closing tells the server to stop generating.
                    await stream.close()
            else:
                timeout = prepared.arguments.get("timeout", self.settings.timeout)
                arguments = {**prepared.arguments, "timeout": timeout}
                answer.read_message(await self._sdk().messages.create(**arguments, stream=False))
            response = answer.response()
        except Exception as error:
            known = self._translated(error, model)
            if known is None or known is error:
                raise
            raise known from error
        usage = response.usage
        if usage is not None:
            hour = self.settings.prompt_caching == "1h"
            pricing = prices(model, self.settings.pricing, hour_cache=hour)
            usage = usage.model_copy(update={"cost_usd": usage_cost(usage, pricing)})
        return response.model_copy(update={"usage": usage, "degradation": prepared.degradation})

    def _sdk(self) -> AsyncAnthropic:
        if self._client is None:
            from anthropic import AsyncAnthropic, Timeout

            self._client = AsyncAnthropic(
                api_key=self.settings.api_key,
                base_url=self._base_url(),
                max_retries=0,
                timeout=Timeout(self.settings.timeout, connect=10.0),
            )
        return self._client

    def _base_url(self) -> str:
        return self.settings.base_url or _PUBLIC_URL

    def _translated(self, error: Exception, model: str) -> LLMError | None:
        return translate(
            error,
            model=model,
            base_url=self._base_url(),
            longest_wait=self.settings.max_retry_delay,
        )

    def _output_limit(self, model: str) -> int:
        if self.settings.max_tokens is not None:
            return self.settings.max_tokens
        listed = self._models.get(model)
        most = listed.max_output_tokens if listed else known_model(model).max_output_tokens
        return min(DEFAULT_MAX_TOKENS, most)


def _import_sdk() -> None:
    import anthropic  # noqa: F401

    # The SDK would write its advice on thinking budgets to stderr, into the picture.
    warnings.filterwarnings("ignore", message="Using Claude with .*", category=UserWarning)


def _model_info(model: Any) -> ModelInfo:
    known = known_model(model.id)
    return ModelInfo(
        id=model.id,
        display_name=getattr(model, "display_name", None) or display_name(model.id),
        context_window=getattr(model, "max_input_tokens", None) or known.context_window,
        max_output_tokens=getattr(model, "max_tokens", None) or known.max_output_tokens,
        capabilities=list(CAPABILITIES),
        pricing=known.pricing,
    )
