"""A provider that answers from a cassette."""

from typing import TYPE_CHECKING, Any, Final, Protocol

from amplifier_tui.host.cassettes.cassette import TapedAnswer, TapedFault, TapedModel
from amplifier_tui.host.cassettes.names import RunNames, texts_changed
from amplifier_tui.kernel import capabilities, llm_errors
from amplifier_tui.kernel.correlation import is_aside
from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ChatResponse,
    TextBlock,
    ToolCall,
    Usage,
)
from amplifier_tui.kernel.models import ModelInfo, ProviderInfo
from amplifier_tui.kernel.utils.llm_calls import LLMCalls, request_facts, with_overrides
from amplifier_tui.kernel.utils.retry import RetryConfig
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.kernel.utils.tool_calls import response_tool_calls

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

_CAPABILITIES: Final = [capabilities.TOOLS, capabilities.STREAMING, capabilities.THINKING]
_NO_USAGE: Final = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}


class Tape(Protocol):
    """What a provider answers from."""

    names: RunNames

    def answer(self, lane: str, request: ChatRequest) -> tuple[str, TapedAnswer]:
        """Return the next answer of a lane, and its id."""

    def side(self, lane: str) -> str:
        """Return the next answer of a lane on the side."""

    def answered(self, lane: str) -> None:
        """An answer is about to be given."""

    def fault_of(self, call: str) -> str:
        """Return what was wrong with the arguments of a call."""

    async def stopped(self, name: str) -> None:
        """Stop what was stopped at an answer."""


class PlayedProvider:
    """Answers the requests of one session."""

    def __init__(
        self,
        name: str,
        facts: TapedModel,
        coordinator: "ModuleCoordinator",
        tape: Tape,
        lane: str,
    ) -> None:
        self.name = name
        self._facts = facts
        self._tape = tape
        self._lane = lane
        self._calls = LLMCalls(coordinator, provider=name, retry=RetryConfig(max_retries=0))

    def get_info(self) -> ProviderInfo:
        """Describe the provider as the cassette does."""
        return ProviderInfo(
            id=self.name,
            display_name=f"{self.name} (cassette)",
            capabilities=_CAPABILITIES,
            defaults=self._facts.model_dump(),
        )

    async def list_models(self) -> list[ModelInfo]:
        """List the one model there is."""
        facts = self._facts
        return [
            ModelInfo(
                id=facts.model,
                display_name=facts.model,
                context_window=facts.context_window,
                max_output_tokens=facts.max_output_tokens,
                capabilities=_CAPABILITIES,
            )
        ]

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """Give the next answer; raise an `LLMError` where there was one, or there is none."""
        request = with_overrides(request, kwargs)
        on_side = is_aside()

        async def attempt(emitter: StreamEmitter) -> ChatResponse:
            if on_side:
                text = self._tape.names.put_in(self._tape.side(self._lane))
                return await self._said(ChatResponse(content=[TextBlock(text=text)]), emitter)
            name, taped = self._tape.answer(self._lane, request)
            if taped.interrupted:
                await self._tape.stopped(name)
            if taped.error is not None:
                raise _error(taped.error, self.name)
            response = await self._said(self._response(taped), emitter)
            self._tape.answered(self._lane)
            return response

        return await self._calls.run(
            attempt,
            model=request.model or self._facts.model,
            facts=request_facts(request, stream=True),
            arguments=lambda: request.model_dump(mode="json", exclude_none=True, fallback=str),
        )

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of a response."""
        return response_tool_calls(response)

    def _response(self, taped: TapedAnswer) -> ChatResponse:
        content = texts_changed(taped.content, self._tape.names.put_in)
        # The names of the run are not in ids, which are the cassette's own.
        usage = Usage.model_validate({**_NO_USAGE, **taped.usage})
        response = ChatResponse.model_validate(
            {"content": content, "finish_reason": taped.finish, "usage": usage}
        )
        calls = []
        for call in response_tool_calls(response):
            fault = self._tape.fault_of(call.id)
            extra: dict[str, Any] = {"arguments_error": fault} if fault else {}
            calls.append(
                ToolCall(id=call.id, name=call.name, arguments=call.arguments, **extra)
                if extra
                else call
            )
        return response.model_copy(update={"tool_calls": calls or None})

    async def _said(self, response: ChatResponse, emitter: StreamEmitter) -> ChatResponse:
        """Tell the hooks what a stream would have told them."""
        for index, block in enumerate(response.content):
            kind = str(block.type)
            text = getattr(block, "text", None) or getattr(block, "thinking", None)
            if kind in ("text", "thinking") and isinstance(text, str):
                await emitter.start(index, kind)
                await emitter.delta(index, text)
                await emitter.end(index)
        return response


def _error(fault: TapedFault, provider: str) -> llm_errors.LLMError:
    kind = getattr(llm_errors, fault.type, None) if fault.type in llm_errors.__all__ else None
    made = kind if isinstance(kind, type) else llm_errors.LLMError
    error: llm_errors.LLMError = made(
        fault.msg, provider=provider, status_code=fault.status_code, retryable=False
    )
    return error
