"""A provider with an API: one client, requests in, responses out."""

import asyncio
import importlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.prices import is_near, list_prices, price_at
from amplifier_tui.kernel import capabilities
from amplifier_tui.kernel.llm_errors import LLMTimeoutError
from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_tui.kernel.models import ModelInfo, Pricing, ProviderInfo
from amplifier_tui.kernel.utils.conversation import MessageMemory
from amplifier_tui.kernel.utils.llm_calls import (
    LLMCalls,
    complete_fully,
    usage_cost,
    with_overrides,
)
from amplifier_tui.kernel.utils.stream import (
    STREAM_ABORTED,
    STREAM_BLOCK_DELTA,
    STREAM_BLOCK_END,
    STREAM_BLOCK_START,
    StreamEmitter,
)
from amplifier_tui.kernel.utils.tool_calls import response_tool_calls
from amplifier_tui.modules._provider.errors import ErrorTranslator
from amplifier_tui.modules._provider.request import PreparedRequest
from amplifier_tui.modules._provider.settings import ProviderSettings

logger = logging.getLogger(__name__)

LISTING_S: Final = 20.0
"""How long a model list may take, in seconds: someone is looking at an empty picker."""
_PRICING_S: Final = 0.5
"""How long an answer is held back for its price, in seconds."""
_PAUSE: Final = 0.25
"""Seconds from the session being ready to the import of the SDK."""
_EVENTS: Final = (STREAM_BLOCK_START, STREAM_BLOCK_DELTA, STREAM_BLOCK_END, STREAM_ABORTED)


@dataclass(frozen=True)
class KnownModel:
    """What is known of a model: sizes in tokens, and the price if it is known for certain."""

    context_window: int
    max_output_tokens: int
    pricing: Pricing | None = None


class SDKClient(Protocol):
    """What every SDK's client can do."""

    async def close(self) -> None:
        """Close the connections."""


class StreamAnswer(Protocol):
    """An answer being read."""

    async def read_stream(self, events: Any, emitter: StreamEmitter) -> None:
        """Read a stream to its end and emit each piece as it arrives."""

    async def read_whole(self, answer: Any) -> None:
        """Take over an answer that came in one piece."""

    def response(self) -> ChatResponse:
        """The answer in the kernel's form."""


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
        self._calls = LLMCalls(coordinator, provider=self.name, retry=settings.retry)
        self._memory = MessageMemory()
        self._warming: asyncio.Task[None] | None = None
        self._soon: asyncio.TimerHandle | None = None

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
            return await self._priced(models)
        listed = await self._priced(listed)
        self._models = {model.id: model for model in listed}
        return listed

    async def _priced(self, models: list[ModelInfo]) -> list[ModelInfo]:
        """Return models with the prices they do not say themselves; those next door are local."""
        if is_near(self.settings.url):
            local = {capabilities.LOCAL}
            return [
                model.model_copy(update={"capabilities": [*local.union(model.capabilities)]})
                for model in models
            ]
        await list_prices([(self.settings.url, m.id) for m in models if not self._prices(m.id)])
        return [
            model.model_copy(update={"pricing": model.pricing or await self._pricing(model.id)})
            for model in models
        ]

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
            self._warming = asyncio.create_task(asyncio.to_thread(self._import_sdk))

    async def warm(self) -> None:
        """Wait until the SDK is imported, without holding up the loop."""
        self.start_warming()
        if self._warming is not None:
            await asyncio.shield(self._warming)

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

    def _client_options(self) -> dict[str, Any]:
        """Arguments of the SDK's client."""
        from amplifier_tui.modules._provider.http import guarded_client

        sdk, settings = importlib.import_module(self.sdk), self.settings
        return {
            "api_key": settings.api_key,
            "base_url": settings.url,
            "max_retries": 0,
            "timeout": sdk.Timeout(settings.timeout, connect=settings.connect_timeout),
            "http_client": guarded_client(sdk, settings),
        }

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
    def _prices(self, model: str, listed: Pricing | None = None) -> Pricing | None:
        """What a model costs; None where that is not known. `listed` is what others say."""

    async def _pricing(self, model: str, input_tokens: int = 0) -> Pricing | None:
        """What a request of some size costs; None where nobody knows."""
        known = self._prices(model)
        if known is not None:
            return known
        found = await list_prices([(self.settings.url, model)])
        price = price_at(next(iter(found.values()), ()), input_tokens)
        if price is None:
            return None
        return self._prices(
            model,
            Pricing(
                input_per_million=float(price.input),
                output_per_million=float(price.output),
                cache_read_per_million=_number(price.cache_read),
                cache_write_per_million=_number(price.cache_write),
            ),
        )

    async def _pricing_soon(self, model: str, input_tokens: int) -> Pricing | None:
        """As `_pricing`, for an answer that is there: None where it is not known in a moment."""
        try:
            async with asyncio.timeout(_PRICING_S):
                return await self._pricing(model, input_tokens)
        except TimeoutError:
            logger.info("The price of %s comes too late for its answer", model)
            return None

    async def _read(
        self,
        create: Callable[..., Awaitable[Any]],
        arguments: Mapping[str, Any],
        answer: StreamAnswer,
        emitter: StreamEmitter,
    ) -> ChatResponse:
        """Call the SDK's `create` and read what comes, in a stream or in one piece."""
        if self.settings.stream:
            stream = await create(**arguments, stream=True)
            try:
                await answer.read_stream(stream, emitter)
            finally:
                # Also when cancelled: closing tells the server to stop generating.
                await stream.close()
        else:
            await answer.read_whole(await create(**arguments, stream=False))
        return answer.response()

    async def _complete_once(self, request: ChatRequest) -> ChatResponse:
        await self.warm()
        model = await self._model(request)
        prepared = self._prepare(request, model)
        # Looked up while the model answers.
        pricing = asyncio.create_task(self._pricing(model))
        try:
            return await self._calls.run(
                lambda emitter: self._attempt(prepared, model, emitter),
                model=model,
                facts={
                    "message_count": len(request.messages),
                    "tool_count": len(request.tools or []),
                    "stream": self.settings.stream,
                    **self._facts(prepared),
                },
                arguments=prepared.arguments,
                repairs=prepared.repairs,
            )
        finally:
            pricing.cancel()

    async def _attempt(
        self, prepared: PreparedRequest, model: str, emitter: StreamEmitter
    ) -> ChatResponse:
        try:
            response = await self._in_time(self._ask(prepared, model, emitter))
        except Exception as error:
            known = self._errors(model).translate(error)
            if known is None or known is error:
                raise
            raise known from error
        usage = response.usage
        if usage is not None:
            cost = usage_cost(usage, await self._pricing_soon(model, usage.input_tokens))
            usage = usage.model_copy(update={"cost_usd": cost})
        return response.model_copy(update={"usage": usage, "degradation": prepared.degradation})

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


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


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
            provider.warm_soon()
