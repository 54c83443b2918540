"""provider-anthropic: Claude models through Anthropic's Messages API.

Config: see `AnthropicSettings`.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse
from amplifier_tui.kernel.models import ModelInfo, Pricing
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.modules._provider.provider import (
    LISTING_S,
    ApiProvider,
    mount_provider,
    warm_soon,
)
from amplifier_tui.modules._provider.reading import read_answer
from amplifier_tui.modules._provider.request import PreparedRequest
from amplifier_tui.modules._provider.sdk import client_options, require_sdk
from amplifier_tui.modules.provider_anthropic.errors import AnthropicErrors
from amplifier_tui.modules.provider_anthropic.models import (
    CAPABILITIES,
    ClaudeModel,
    abilities,
    display_name,
    fallback_models,
    known_model,
    prices,
)
from amplifier_tui.modules.provider_anthropic.request import DEFAULT_MAX_TOKENS, prepare
from amplifier_tui.modules.provider_anthropic.settings import AnthropicSettings
from amplifier_tui.modules.provider_anthropic.stream import AnthropicAnswer

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

__amplifier_module_type__ = "provider"
__amplifier_mounts_only_with__ = "an API key"


class AnthropicProvider(ApiProvider[AnthropicSettings, "AsyncAnthropic"]):
    """Anthropic's Messages API as a kernel provider (spec 000, Provider contract)."""

    name = "anthropic"
    sdk = "anthropic"
    errors = AnthropicErrors

    def _import_sdk(self) -> None:
        importlib.import_module("anthropic")
        # The SDK would write its advice on thinking budgets to stderr, into the picture.
        warnings.filterwarnings("ignore", message="Using Claude with .*", category=UserWarning)

    def _make_client(self) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(**client_options(self.sdk, self.settings))

    def _capabilities(self) -> list[str]:
        return list(CAPABILITIES)

    def _known(self, model: str) -> ClaudeModel:
        return known_model(model)

    def _default_model(self) -> str:
        return self.settings.model

    def _output_limit(self, model: str) -> int:
        return self.settings.max_tokens or min(
            DEFAULT_MAX_TOKENS, self._sizes(model).max_output_tokens
        )

    async def _listed(self) -> list[ModelInfo]:
        page = await self.client.models.list(limit=1000, timeout=LISTING_S)
        return [_model_info(model) async for model in page]

    def _fallback_models(self) -> list[ModelInfo]:
        return fallback_models()

    async def _model(self, request: ChatRequest) -> str:
        return request.model or self.settings.model

    def _prepare(self, request: ChatRequest, model: str) -> PreparedRequest:
        return prepare(request, self.settings, self._output_limit(model), self._memory)

    def _facts(self, prepared: PreparedRequest) -> Mapping[str, Any]:
        thinking = prepared.arguments.get("thinking") or {}
        return {
            "max_output_tokens": prepared.arguments["max_tokens"],
            "thinking": thinking.get("type"),
        }

    async def _ask(
        self, prepared: PreparedRequest, model: str, emitter: StreamEmitter
    ) -> ChatResponse:
        arguments = prepared.arguments
        if not self.settings.stream:
            # The SDK refuses long answers in one piece unless it is given a timeout.
            arguments = {"timeout": self.settings.timeout, **arguments}
        answer = AnthropicAnswer(model, prepared.tool_names)
        return await read_answer(
            self.client.messages.create, arguments, answer, emitter, self.settings
        )

    def _price(self, model: str, listed: Pricing | None) -> Pricing | None:
        hour = self.settings.prompt_caching == "1h"
        given = self.settings.pricing or known_model(model).pricing or listed
        return prices(given, hour_cache=hour)


def _model_info(model: Any) -> ModelInfo:
    known = known_model(model.id)
    return ModelInfo(
        id=model.id,
        display_name=getattr(model, "display_name", None) or display_name(model.id),
        context_window=getattr(model, "max_input_tokens", None) or known.context_window,
        max_output_tokens=getattr(model, "max_tokens", None) or known.max_output_tokens,
        capabilities=abilities(getattr(model, "capabilities", None)),
        pricing=known.pricing,
    )


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Mount the provider as `anthropic`; returns the cleanup. It needs a key."""
    settings = AnthropicSettings.read(config)
    require_sdk(AnthropicProvider.sdk, settings)
    provider = AnthropicProvider(settings, coordinator)
    await mount_provider(coordinator, provider)
    return provider.close


async def on_session_ready(coordinator: ModuleCoordinator) -> None:
    """Have the SDK imported in a thread, so that the first turn does not wait for it."""
    warm_soon(coordinator, AnthropicProvider)
