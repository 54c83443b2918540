"""provider-openai: OpenAI's models, and those of every server that speaks the same APIs.

Config: see `OpenAISettings`.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from amplifier_tui.kernel import capabilities
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.llm_errors import ConfigurationError
from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse
from amplifier_tui.kernel.models import ModelInfo, Pricing
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.modules._provider.models import KnownModel
from amplifier_tui.modules._provider.provider import (
    LISTING_S,
    ApiProvider,
    mount_provider,
    warm_soon,
)
from amplifier_tui.modules._provider.reading import read_answer
from amplifier_tui.modules._provider.request import PreparedRequest
from amplifier_tui.modules._provider.sdk import client_options, require_sdk
from amplifier_tui.modules.provider_openai.chat_answer import ChatAnswer
from amplifier_tui.modules.provider_openai.chat_request import prepare_chat
from amplifier_tui.modules.provider_openai.errors import OpenAIErrors
from amplifier_tui.modules.provider_openai.models import (
    CAPABILITIES,
    fallback_models,
    known_model,
    listed_models,
)
from amplifier_tui.modules.provider_openai.responses_answer import ResponsesAnswer
from amplifier_tui.modules.provider_openai.responses_request import prepare_responses
from amplifier_tui.modules.provider_openai.settings import OpenAISettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__amplifier_module_type__ = "provider"
__amplifier_mounts_only_with__ = "an API key"

logger = logging.getLogger(__name__)


class OpenAIProvider(ApiProvider[OpenAISettings, "AsyncOpenAI"]):
    """OpenAI's APIs, and every compatible server's, as a kernel provider (spec 000)."""

    name = "openai"
    sdk = "openai"
    errors = OpenAIErrors

    def _import_sdk(self) -> None:
        importlib.import_module("openai.resources.chat.completions")
        importlib.import_module("openai.resources.responses")

    def _make_client(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        return AsyncOpenAI(**client_options(self.sdk, self.settings))

    def _capabilities(self) -> list[str]:
        local = [] if self.settings.is_openai else [capabilities.LOCAL]
        return [*CAPABILITIES, capabilities.THINKING, *local]

    def _known(self, model: str) -> KnownModel:
        return known_model(model)

    def _default_model(self) -> str:
        return self.settings.default_model or next(iter(self._models), "")

    def _output_limit(self, model: str) -> int:
        return self.settings.max_tokens or self._sizes(model).max_output_tokens

    async def _listed(self) -> list[ModelInfo]:
        page = await self.client.models.list(timeout=LISTING_S)
        return listed_models([model async for model in page], is_openai=self.settings.is_openai)

    def _fallback_models(self) -> list[ModelInfo]:
        return fallback_models() if self.settings.is_openai else []

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

    def _prepare(self, request: ChatRequest, model: str) -> PreparedRequest:
        prepare = prepare_responses if self.settings.uses_responses else prepare_chat
        return prepare(request, self.settings, model, self._cache_key(request), self._memory)

    def _facts(self, prepared: PreparedRequest) -> Mapping[str, Any]:
        return {"api": "responses" if self.settings.uses_responses else "chat"}

    async def _ask(
        self, prepared: PreparedRequest, model: str, emitter: StreamEmitter
    ) -> ChatResponse:
        arguments, names = prepared.arguments, prepared.tool_names
        errors = OpenAIErrors(importlib.import_module(self.sdk), self.settings, model)
        sent = _sent_as_it_is(arguments)
        if not self.settings.uses_responses:
            create = self.client.chat.completions.create
            reading = ChatAnswer(model, names, errors)
            return await read_answer(create, sent, reading, emitter, self.settings)
        answer = ResponsesAnswer(model, names, errors)
        try:
            return await read_answer(
                self.client.responses.create, sent, answer, emitter, self.settings
            )
        except Exception as error:
            if not _refuses_summaries(error) or self.settings.reasoning_summary == "none":
                raise
        # OpenAI tells reasoning summaries to verified organisations only.
        logger.info("No reasoning summaries for this organisation; asking without them.")
        self.settings = self.settings.model_copy(update={"reasoning_summary": "none"})
        arguments["reasoning"].pop("summary", None)
        return await self._ask(prepared, model, emitter)

    def _price(self, model: str, listed: Pricing | None) -> Pricing | None:
        return self.settings.pricing or known_model(model).pricing or listed

    def _cache_key(self, request: ChatRequest) -> str | None:
        if not self.settings.prompt_caching:
            return None
        session = getattr(self._coordinator, "session_id", None)
        key = request.conversation_id or session
        return key[:64] if isinstance(key, str) and key else None


_LONG: Final = ("messages", "input", "tools")


def _sent_as_it_is(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request's arguments, what may be long in the part that the SDK sends as it is.

    Of the rest it looks at each piece, for what is to be translated. Nothing is, and of a long
    conversation that takes most of a second, in which nothing else of the session goes on.
    """
    short = {name: value for name, value in arguments.items() if name not in _LONG}
    long = {name: arguments[name] for name in _LONG if name in arguments}
    # Without messages the SDK refuses.
    required: dict[str, Any] = {"messages": []} if "messages" in long else {}
    return {**short, **required, "extra_body": long}


def _refuses_summaries(error: Exception) -> bool:
    return getattr(error, "status_code", None) == 400 and "reasoning.summary" in str(
        getattr(error, "param", None)
    )


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Mount the provider as `openai`; returns the cleanup. OpenAI itself needs a key."""
    settings = OpenAISettings.read(config)
    require_sdk(OpenAIProvider.sdk, settings)
    provider = OpenAIProvider(settings, coordinator)
    await mount_provider(coordinator, provider)
    return provider.close


async def on_session_ready(coordinator: ModuleCoordinator) -> None:
    """Have the SDK imported in a thread, so that the first turn does not wait for it."""
    warm_soon(coordinator, OpenAIProvider)
