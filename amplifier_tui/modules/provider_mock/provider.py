"""The provider of spec 000, with a script in the place of a model."""

import asyncio
import json
from pathlib import Path
from typing import Any, ClassVar, Final
from uuid import uuid4

from pydantic import AliasChoices, Field

from amplifier_tui.base.config import PathText
from amplifier_tui.kernel import capabilities, llm_errors
from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ChatResponse,
    ContentBlockUnion,
    TextBlock,
    ThinkingBlock,
    ToolCall,
)
from amplifier_tui.kernel.models import ModelInfo, ProviderInfo
from amplifier_tui.kernel.utils.llm_calls import LLMCalls, with_overrides
from amplifier_tui.kernel.utils.retry import RetryConfig
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.kernel.utils.tool_calls import (
    call_block,
    read_tool_call,
    response_tool_calls,
)
from amplifier_tui.modules._provider.settings import BaseProviderSettings
from amplifier_tui.modules._shared.session_paths import working_dir
from amplifier_tui.modules.provider_mock.answers import ScriptedAnswer, answer, look_at
from amplifier_tui.modules.provider_mock.pace import Pace, UsageCounter
from amplifier_tui.modules.provider_mock.script import AgentScript, ScriptError, read_script

BUILT_IN: Final = Path(__file__).with_name("built_in.yaml")
NAME: Final = "mock"

_CAPABILITIES: Final = (
    capabilities.TOOLS,
    capabilities.STREAMING,
    capabilities.THINKING,
    capabilities.LOCAL,
)


class MockSettings(BaseProviderSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "provider-mock"
    provider: ClassVar[str] = NAME

    script: PathText | None = None
    tokens_per_second: float = Field(80.0, ge=0)
    context_window: int = Field(200_000, ge=1)
    max_output_tokens: int = Field(16_000, ge=1)
    model: str = Field("scripted", validation_alias=AliasChoices("model", "default_model"))


class ScriptedProvider:
    """Answers from a script.

    Args:
        settings: Which script, and how fast.
        coordinator: On its hooks events are emitted; None for nowhere.
    """

    name = NAME

    def __init__(self, settings: MockSettings, coordinator: Any | None = None) -> None:
        self.settings = settings
        self._coordinator = coordinator
        self._script: AgentScript | None = None
        self._usage = UsageCounter()
        # An error of a script is meant to be seen, not to be tried again.
        retry = RetryConfig(max_retries=0)
        self._calls = LLMCalls(coordinator, provider=NAME, retry=retry)

    def get_info(self) -> ProviderInfo:
        """Describe the provider."""
        return ProviderInfo(
            id=NAME,
            display_name="Scripted agent (offline)",
            capabilities=list(_CAPABILITIES),
            defaults={
                "model": self.settings.model,
                "context_window": self.settings.context_window,
                "max_output_tokens": self.settings.max_output_tokens,
            },
        )

    async def list_models(self) -> list[ModelInfo]:
        """List the one model there is."""
        return [
            ModelInfo(
                id=self.settings.model,
                display_name="Scripted agent",
                context_window=self.settings.context_window,
                max_output_tokens=self.settings.max_output_tokens,
                capabilities=list(_CAPABILITIES),
            )
        ]

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """Answer a request, streaming.

        Raises:
            LLMError: The script says so, or can't be read.
        """
        request = with_overrides(request, kwargs)
        script = await self._read_script()
        seen = look_at(request)
        planned = answer(script, seen)
        model = request.model or self.settings.model

        async def attempt(emitter: StreamEmitter) -> ChatResponse:
            response = await self._play(planned, emitter)
            return response.model_copy(update={"usage": self._usage.count(request, planned)})

        return await self._calls.run(
            attempt,
            model=model,
            facts={
                "message_count": len(request.messages),
                "tool_count": len(request.tools or ()),
                "stream": True,
            },
            arguments=lambda: request.model_dump(mode="json", exclude_none=True, fallback=str),
        )

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of a response."""
        return response_tool_calls(response)

    async def _play(self, planned: ScriptedAnswer, emitter: StreamEmitter) -> ChatResponse:
        pace = Pace(self.settings.tokens_per_second)
        await pace.begin(planned.delay)
        content: list[ContentBlockUnion] = []
        calls: list[ToolCall] = []
        for kind, text in (("thinking", planned.thinking), ("text", planned.text)):
            if text:
                await _stream(emitter, pace, len(content), kind, text)
                content.append(
                    ThinkingBlock(thinking=text) if kind == "thinking" else TextBlock(text=text)
                )
        if planned.error is not None:
            raise planned.error.error(provider=NAME, model=self.settings.model)
        for tool, given in planned.calls:
            raw = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            await _stream(emitter, pace, len(content), "tool_use", raw, name=tool)
            call = read_tool_call(f"call_{uuid4().hex[:16]}", tool, raw)
            calls.append(call)
            content.append(call_block(call))
        return ChatResponse(
            content=content,
            tool_calls=calls or None,
            finish_reason="tool_calls" if calls else "stop",
        )

    async def _read_script(self) -> AgentScript:
        if self._script is None:
            path = self._script_path()
            try:
                self._script = await asyncio.to_thread(read_script, path)
            except ScriptError as error:
                raise llm_errors.ConfigurationError(
                    f"The script of provider-mock has a mistake: {error}", provider=NAME
                ) from error
        return self._script

    def _script_path(self) -> Path:
        """The file; looked for with the first request, when the session can resolve mentions."""
        wanted = self.settings.script
        if wanted is None:
            return BUILT_IN
        path = Path(wanted).expanduser()
        if path.is_absolute():
            return path
        get = getattr(self._coordinator, "get_capability", lambda _: None)
        resolver = get("mention_resolver")
        if resolver is not None:
            found = resolver.resolve(f"@{wanted.removeprefix('@')}")
            if found is not None:
                return Path(found)
        return working_dir(self._coordinator) / path if self._coordinator else path


async def _stream(
    emitter: StreamEmitter, pace: Pace, index: int, kind: str, text: str, name: str | None = None
) -> None:
    await emitter.start(index, kind, name=name)
    async for token in pace.of(text):
        await emitter.delta(index, token)
    await emitter.end(index)
