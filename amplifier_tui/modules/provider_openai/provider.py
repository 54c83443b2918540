"""The provider: one client, two of OpenAI's formats, requests in, responses out."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel import capabilities
from amplifier_tui.kernel.llm_errors import ConfigurationError
from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_tui.kernel.models import ModelInfo, ProviderInfo
from amplifier_tui.kernel.utils.continuation import complete_fully
from amplifier_tui.kernel.utils.llm_calls import LLMCalls, with_overrides
from amplifier_tui.kernel.utils.pricing import usage_cost
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.kernel.utils.tool_calls import response_tool_calls
from amplifier_tui.modules.provider_openai.chat_answer import ChatAnswer
from amplifier_tui.modules.provider_openai.chat_request import prepare_chat
from amplifier_tui.modules.provider_openai.config_fields import config_fields
from amplifier_tui.modules.provider_openai.errors import translate
from amplifier_tui.modules.provider_openai.models import (
    CAPABILITIES,
    fallback_models,
    known_model,
    listed_models,
)
from amplifier_tui.modules.provider_openai.prepared import Prepared
from amplifier_tui.modules.provider_openai.responses_answer import ResponsesAnswer
from amplifier_tui.modules.provider_openai.responses_request import prepare_responses
from amplifier_tui.modules.provider_openai.settings import API_KEY_VARIABLE, Settings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

logger = logging.getLogger(__name__)

_LISTING_S = 20.0
"""How long a model list may take, in seconds: someone is looking at an empty picker."""
_PAUSE = 0.25
"""Seconds from the session being ready to the import of the SDK."""


class OpenAIProvider:
    """OpenAI's APIs, and every compatible server's, as a kernel provider (spec 000).

    Args:
        settings: The configuration.
        coordinator: Whose hooks get the events; None for nobody's.
    """

    name = "openai"

    def __init__(self, settings: Settings, coordinator: Any | None = None) -> None:
        self.settings = settings
        self._coordinator = coordinator
        self._client: AsyncOpenAI | None = None
        self._models: dict[str, ModelInfo] = {}
        self._calls = LLMCalls(coordinator, provider=self.name, retry=settings.retry)
        self._warming: asyncio.Task[None] | None = None
        self._soon: asyncio.TimerHandle | None = None

    def get_info(self) -> ProviderInfo:
        """Tell who this is; `defaults` describe the default model."""
        model = self.settings.default_model or next(iter(self._models), "")
        listed, known = self._models.get(model), known_model(model)
        window = listed.context_window if listed else known.context_window
        most = listed.max_output_tokens if listed else known.max_output_tokens
        able = [*CAPABILITIES, capabilities.THINKING]
        if not self.settings.is_openai:
            able.append(capabilities.LOCAL)
        return ProviderInfo(
            id=self.name,
            display_name="OpenAI" if self.settings.is_openai else self.settings.url,
            credential_env_vars=[API_KEY_VARIABLE],
            capabilities=able,
            defaults={
                "model": model,
                "context_window": self.settings.context_window or window,
                "max_output_tokens": self.settings.max_tokens or most,
                "timeout": self.settings.timeout,
            },
            config_fields=config_fields(),
        )

    async def list_models(self) -> list[ModelInfo]:
        """List the chat models of the API; where OpenAI can't be asked, the well-known ones.

        Raises:
            LLMError: A compatible server can't be asked: nothing is known about its models.
        """
        try:
            await self.warm()
            page = await self._sdk().models.list(timeout=_LISTING_S)
            found = listed_models(
                [model async for model in page], is_openai=self.settings.is_openai
            )
        except Exception as error:
            known = translate(
                error, model=self.settings.default_model or "", settings=self.settings
            )
            if known is None:
                raise
            if not self.settings.is_openai:
                raise known from error
            logger.warning("Can't list OpenAI's models, offering the known ones: %s", known)
            return fallback_models()
        self._models = {model.id: model for model in found}
        return found

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
        """Begin to import the SDK in a thread; it takes a while."""
        if self._warming is None:
            self._warming = asyncio.create_task(asyncio.to_thread(_import_sdk))

    async def warm(self) -> None:
        """Wait until the SDK is imported, without holding up the loop."""
        self.start_warming()
        if self._warming is not None:
            await asyncio.shield(self._warming)

    async def _complete_once(self, request: ChatRequest) -> ChatResponse:
        await self.warm()
        model = await self._model(request)
        prepare = prepare_responses if self.settings.uses_responses else prepare_chat
        prepared = prepare(request, self.settings, model, self._cache_key(request))
        return await self._calls.run(
            lambda emitter: self._attempt(prepared, model, emitter),
            model=model,
            facts={
                "api": "responses" if self.settings.uses_responses else "chat",
                "message_count": len(request.messages),
                "tool_count": len(request.tools or []),
                "stream": self.settings.stream,
            },
            arguments=prepared.arguments,
            repairs=prepared.repairs,
        )

    async def _attempt(
        self, prepared: Prepared, model: str, emitter: StreamEmitter
    ) -> ChatResponse:
        try:
            if self.settings.uses_responses:
                response = await self._ask_responses(prepared, model, emitter)
            else:
                response = await self._ask_chat(prepared, model, emitter)
        except Exception as error:
            if _refuses_summaries(error) and self.settings.reasoning_summary != "none":
                # OpenAI tells reasoning summaries to verified organisations only.
                logger.info("No reasoning summaries for this organisation; asking without them.")
                self.settings = self.settings.model_copy(update={"reasoning_summary": "none"})
                prepared.arguments["reasoning"].pop("summary", None)
                return await self._attempt(prepared, model, emitter)
            known = translate(error, model=model, settings=self.settings)
            if known is None or known is error:
                raise
            raise known from error
        usage = response.usage
        if usage is not None:
            pricing = self.settings.pricing or known_model(model).pricing
            usage = usage.model_copy(update={"cost_usd": usage_cost(usage, pricing)})
        return response.model_copy(update={"usage": usage, "degradation": prepared.degradation})

    async def _ask_responses(
        self, prepared: Prepared, model: str, emitter: StreamEmitter
    ) -> ChatResponse:
        answer = ResponsesAnswer(model, prepared.tool_names, self.settings)
        api = self._sdk().responses
        if self.settings.stream:
            stream = await api.create(**prepared.arguments, stream=True)
            try:
                await answer.read_stream(stream, emitter)
            finally:
                # Also when cancelled: closing tells the server to stop generating.
                await stream.close()
        else:
            answer.read_response(await api.create(**prepared.arguments, stream=False))
        return answer.response()

    async def _ask_chat(
        self, prepared: Prepared, model: str, emitter: StreamEmitter
    ) -> ChatResponse:
        answer = ChatAnswer(model, prepared.tool_names)
        api = self._sdk().chat.completions
        if self.settings.stream:
            stream = await api.create(**prepared.arguments, stream=True)
            try:
                await answer.read_stream(stream, emitter)
            finally:
                await stream.close()
        else:
            await answer.read_completion(await api.create(**prepared.arguments, stream=False))
        return answer.response()

    async def _model(self, request: ChatRequest) -> str:
        model = request.model or self.settings.default_model
        if model:
            return model
        listed = list(self._models.values()) or await self.list_models()
        if not listed:
            raise ConfigurationError(
                f"{self.settings.url} offers no model. Load one there, or set `default_model` in "
                "the config of provider-openai.",
                provider=self.name,
            )
        return listed[0].id

    def _sdk(self) -> AsyncOpenAI:
        if self._client is None:
            from openai import AsyncOpenAI, Timeout

            self._client = AsyncOpenAI(
                api_key=self.settings.api_key,
                base_url=self.settings.url,
                max_retries=0,
                timeout=Timeout(self.settings.timeout, connect=10.0),
            )
        return self._client

    def _cache_key(self, request: ChatRequest) -> str | None:
        if not self.settings.prompt_caching:
            return None
        session = getattr(self._coordinator, "session_id", None)
        key = request.conversation_id or session
        return key[:64] if isinstance(key, str) and key else None


def _import_sdk() -> None:
    import openai.resources.chat.completions
    import openai.resources.responses  # noqa: F401


def _refuses_summaries(error: Exception) -> bool:
    return getattr(error, "status_code", None) == 400 and "reasoning.summary" in str(
        getattr(error, "param", None)
    )
