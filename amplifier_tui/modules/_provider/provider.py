"""A provider with an API: one client, requests in, responses out."""

import asyncio
import importlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from amplifier_tui.kernel.llm_errors import LLMTimeoutError
from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse, ToolCall, Usage
from amplifier_tui.kernel.models import ModelInfo, Pricing, ProviderInfo
from amplifier_tui.kernel.utils.conversation import MessageMemory
from amplifier_tui.kernel.utils.llm_calls import (
    LLMCalls,
    complete_fully,
    request_facts,
    usage_cost,
    usage_so_far,
    with_overrides,
)
from amplifier_tui.kernel.utils.stream import (
    STREAM_ABORTED,
    STREAM_BLOCK_DELTA,
    STREAM_BLOCK_END,
    STREAM_BLOCK_START,
    StreamEmitter,
)
from amplifier_tui.kernel.utils.tool_calls import distinct_calls, response_tool_calls
from amplifier_tui.modules._provider.errors import ErrorTranslator
from amplifier_tui.modules._provider.models import KnownModel, ModelPrices
from amplifier_tui.modules._provider.reading import refuse_emptiness
from amplifier_tui.modules._provider.request import PreparedRequest
from amplifier_tui.modules._provider.sdk import SDKImport
from amplifier_tui.modules._provider.sending import note_sending
from amplifier_tui.modules._provider.settings import ProviderSettings

logger = logging.getLogger(__name__)

LISTING_S: Final = 20.0
"""How long a model list may take, in seconds: someone is looking at an empty picker."""
_EVENTS: Final = (STREAM_BLOCK_START, STREAM_BLOCK_DELTA, STREAM_BLOCK_END, STREAM_ABORTED)


class SDKClient(Protocol):
    """What every SDK's client can do."""

    async def close(self) -> None:
        """Close the connections."""


ClientT = TypeVar("ClientT", bound=SDKClient)
SettingsT = TypeVar("SettingsT", bound=ProviderSettings)


class ApiProvider(ABC, Generic[SettingsT, ClientT]):
    """A kernel provider (spec 000, Provider contract) on top of a vendor's SDK.

    Args:
        settings: The configuration, with a key.
        coordinator: On its hooks events are emitted; None for nowhere.
    """

    name: ClassVar[str]
    sdk: ClassVar[str]
    """The SDK's package."""
    errors: ClassVar[type[ErrorTranslator]]

    def __init__(self, settings: SettingsT, coordinator: Any | None = None) -> None:
        self.settings = settings
        self._coordinator = coordinator
        self._client: ClientT | None = None
        self._models: dict[str, ModelInfo] = {}
        self._used: dict[str, Usage] = {}
        """What the last answer of each model used."""
        self._calls = LLMCalls(coordinator, provider=self.name, retry=settings.retry)
        self._memory = MessageMemory()
        self._prices = ModelPrices(settings.url, self._price)
        self.sdk_import = SDKImport(self._import_sdk)

    def get_info(self) -> ProviderInfo:
        """Describe the provider; `defaults` are those of the default model."""
        settings, model = self.settings, self._default_model()
        return ProviderInfo(
            id=self.name,
            display_name=settings.where,
            credential_env_vars=[settings.key_variable],
            capabilities=self._capabilities(),
            defaults={
                "model": model,
                "context_window": settings.context_window or self._sizes(model).context_window,
                "max_output_tokens": self._output_limit(model),
                "timeout": settings.timeout,
            },
            config_fields=settings.config_fields(),
        )

    async def list_models(self) -> list[ModelInfo]:
        """List the models of the API; where it can't be asked, the well-known ones if any.

        Raises:
            LLMError: It can't be asked, and nothing is known about its models.
        """
        try:
            await self.warm()
            try:
                async with asyncio.timeout(LISTING_S):
                    listed = await self._listed()
            except TimeoutError as error:
                raise LLMTimeoutError(
                    f"{self.settings.where} did not list its models within {LISTING_S:g} s. "
                    "Retry, or set `default_model`.",
                    provider=self.name,
                ) from error
        except Exception as error:
            known = self._errors(self._default_model()).translate(error)
            if known is None:
                raise
            models = self._fallback_models()
            if not models:
                raise known from error
            logger.warning(
                "Can't list the models of %s, offering the known ones: %s",
                self.settings.where,
                known,
            )
            return self._with_limits(await self._prices.filled_in(models))
        listed = await self._prices.filled_in(listed)
        self._models = {model.id: model for model in listed}
        return self._with_limits(listed)

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

    def _with_limits(self, models: list[ModelInfo]) -> list[ModelInfo]:
        """Say of each model how long an answer is asked for, which may be less than it can do."""
        return [
            model.model_copy(
                update={
                    "defaults": {
                        **model.defaults,
                        "max_output_tokens": self._output_limit(model.id),
                    }
                }
            )
            for model in models
        ]

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of a response."""
        return response_tool_calls(response)

    async def close(self) -> None:
        """Close the connections. The next request opens new ones."""
        self.sdk_import.stop()
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def warm(self) -> None:
        """Wait until the SDK is imported, without holding up the loop."""
        await self.sdk_import.wait()

    @property
    def client(self) -> ClientT:
        """The SDK's client."""
        if self._client is None:
            self._client = self._make_client()
        return self._client

    @abstractmethod
    def _import_sdk(self) -> None:
        """Import what a request needs; called in a thread."""

    @abstractmethod
    def _make_client(self) -> ClientT: ...

    def _errors(self, model: str) -> ErrorTranslator:
        return self.errors(importlib.import_module(self.sdk), self.settings, model)

    def _sizes(self, model: str) -> ModelInfo | KnownModel:
        """What the API, or else the table, says of a model."""
        return self._models.get(model) or self._known(model)

    @abstractmethod
    def _known(self, model: str) -> KnownModel:
        """What the table says of a model."""

    @abstractmethod
    def _default_model(self) -> str:
        """The model for requests that name none; empty where that is not known yet."""

    @abstractmethod
    def _output_limit(self, model: str) -> int:
        """Most tokens of an answer for requests that name no limit."""

    @abstractmethod
    def _capabilities(self) -> list[str]: ...

    @abstractmethod
    async def _listed(self) -> list[ModelInfo]:
        """Ask the API for its models."""

    @abstractmethod
    def _fallback_models(self) -> list[ModelInfo]:
        """The models to offer when the API can't be asked."""

    @abstractmethod
    async def _model(self, request: ChatRequest) -> str:
        """The model a request goes to."""

    @abstractmethod
    def _prepare(self, request: ChatRequest, model: str) -> PreparedRequest:
        """Write a request in the API's format."""

    @abstractmethod
    def _facts(self, prepared: PreparedRequest) -> Mapping[str, Any]:
        """What `llm:request` says of a request beside its counts."""

    @abstractmethod
    async def _ask(
        self, prepared: PreparedRequest, model: str, emitter: StreamEmitter
    ) -> ChatResponse:
        """Send a request and read the answer, once."""

    @abstractmethod
    def _price(self, model: str, listed: Pricing | None) -> Pricing | None:
        """What a model costs; None where that is not known. `listed` is what others say."""

    async def _complete_once(self, request: ChatRequest) -> ChatResponse:
        await self.warm()
        model = await self._model(request)
        prepared = self._prepare(request, model)
        # Looked up while the model answers.
        pricing = asyncio.create_task(self._prices.of(model))
        try:
            return await self._calls.run(
                lambda emitter: self._attempt(request, prepared, model, emitter),
                model=model,
                facts={
                    **request_facts(request, stream=self.settings.stream),
                    **self._facts(prepared),
                },
                arguments=prepared.arguments,
                repairs=prepared.conversation.repairs,
            )
        finally:
            pricing.cancel()

    async def _attempt(
        self,
        request: ChatRequest,
        prepared: PreparedRequest,
        model: str,
        emitter: StreamEmitter,
    ) -> ChatResponse:
        note_sending(emitter)
        try:
            response = await self._in_time(self._ask(prepared, model, emitter))
            # Whoever sets a limit gets what fits, and after results there may be no more to say.
            if response.finish_reason == "length":
                may_be_empty = request.max_output_tokens is not None
            else:
                may_be_empty = prepared.answers_results
            if not may_be_empty:
                refuse_emptiness(response, self.settings)
        except Exception as error:
            known = self._errors(model).translate(error)
            if known is None:
                raise
            # It has to be paid for, whatever became of it.
            known.usage = await self._priced(emitter.usage, model)
            if known is error:
                raise
            raise known from error
        except asyncio.CancelledError:
            if emitter.sent:
                used = usage_so_far(request, emitter, self._used.get(model))
                emitter.usage = await self._priced(used, model)
            raise
        if response.tool_calls:
            response = distinct_calls(response, prepared.call_ids)
        usage = await self._priced(response.usage, model)
        if usage is not None:
            self._used[model] = usage
        return response.model_copy(update={"usage": usage, "degradation": prepared.degradation})

    async def _priced(self, usage: Usage | None, model: str) -> Usage | None:
        """Return a usage with what it costs, where that is known."""
        if usage is None or usage.cost_usd is not None:
            return usage
        cost = usage_cost(usage, await self._prices.soon(model, usage.input_tokens))
        return usage.model_copy(update={"cost_usd": cost})

    async def _in_time(self, answer: Awaitable[ChatResponse]) -> ChatResponse:
        """Wait for an answer as long as one may take: a server can send bytes for ever."""
        most = self.settings.request_timeout
        deadline = asyncio.timeout(most)
        try:
            async with deadline:
                return await answer
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise LLMTimeoutError(
                f"{self.settings.where} had not finished after {most:g} s. Ask for less at once, "
                "or raise `request_timeout`.",
                provider=self.name,
                # The next attempt would take as long.
                retryable=False,
            ) from error


async def mount_provider(coordinator: Any, provider: Any) -> None:
    """Mount a provider under its name, and announce the events of its streams."""
    await coordinator.mount("providers", provider, name=provider.name)
    coordinator.register_contributor(
        "observability.events", f"provider-{provider.name}", lambda: list(_EVENTS)
    )


def warm_soon(coordinator: Any, kind: type[ApiProvider[Any, Any]]) -> None:
    """Have the SDK of the mounted providers of a kind imported when the session has been shown."""
    for provider in coordinator.get("providers").values():
        if isinstance(provider, kind):
            provider.sdk_import.begin_soon()
