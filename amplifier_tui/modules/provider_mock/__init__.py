"""provider-mock: a scripted agent, for demonstrations and tests without a network.

Only the model's words come from a script; the loop, the tools, the approvals and the stream are
real. What the agent says next depends on what its tools answered, so it can be denied something and
say so. The script is chosen again for every request from the conversation alone: resuming, stopping
and forking a session work as with any model.

Config:
    script: Path of a YAML or JSON file: absolute, ``~``, ``@namespace:path``, or relative to the
        working directory or to the bundle. Default: a built-in one for the sample project of the
        demo bundle.
    tokens_per_second: How fast words come. 0 does not wait at all. Default 80.
    context_window, max_output_tokens: What the provider says of its model. Default 200000, 16000.
    model: The model's name. Default ``scripted``.

The script::

    name: Anything
    scenarios:                      # the first one whose `when` holds plays the turn
      - name: fix
        when:                       # all optional
          turn: 1                   # this turn of the conversation, counted from 1
          every: 3                  # or: every third turn,
          at: 2                     #     where turn modulo 3 is 2
          prompt: "fix|repair"      # the user's words, a regular expression without case
          before: "bug"             # those of the turn before
          tools: [read_file]        # tools that have to be mounted
        steps:                      # the first step begins the turn
          look:
            thinking: What the model thinks.
            say: What it says, with {{prompt}} and other placeholders.
            call:                   # tools to call, side by side; a step without ends the turn
              - read_file: {file_path: a.py}
              - bash: "{broken"     # a text instead of a mapping: arguments that are not JSON
            next:                   # what follows; default: the next step in the list
              - if: denied          # denied, failed (not denied), or ok for all calls
                go: ask_again
              - if: {output: "regular expression"}   # found in an output
                go: done
              - go: done            # otherwise
          done:
            say: "Part {{n}}. "
            repeat: 3               # say it so often; {{n}} counts
            delay: 2                # seconds before the first word
            error: {type: RateLimitError, message: "...", status_code: 429, retry_after: 5}

Placeholders: ``{{prompt}}`` the user's words on one line, ``{{turn}}`` its number, ``{{n}}`` the
repetition, ``{{output}}`` what the first of the last calls answered, ``{{output:2}}`` the second
one, ``{{tail}}`` the last lines of the last one, ``{{reason}}`` why a call was denied, ``{{file}}``
the first file in a listing that ``read_file`` gave of a folder.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Final
from uuid import uuid4

from pydantic import AliasChoices, Field

from amplifier_tui.base.config import PathText
from amplifier_tui.base.files.beside import find_beside
from amplifier_tui.base.tokens import text_tokens
from amplifier_tui.kernel import capabilities, llm_errors
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ChatResponse,
    ContentBlockUnion,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    Usage,
)
from amplifier_tui.kernel.models import ModelInfo, ProviderInfo
from amplifier_tui.kernel.utils.llm_calls import LLMCalls, request_facts, with_overrides
from amplifier_tui.kernel.utils.retry import RetryConfig
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.kernel.utils.tool_calls import (
    call_block,
    read_tool_call,
    response_tool_calls,
)
from amplifier_tui.modules._provider.provider import mount_provider
from amplifier_tui.modules._provider.settings import BaseProviderSettings
from amplifier_tui.modules._shared.session_paths import working_dir
from amplifier_tui.modules.provider_mock.answers import ScriptedAnswer, answer, look_at
from amplifier_tui.modules.provider_mock.script import AgentScript, ScriptError, read_script

__amplifier_module_type__ = "provider"

_TOKEN: Final = re.compile(r"\s*\S{1,6}|\s+")
_SHORTEST_WAIT: Final = 0.002
_BREATHE: Final = 64


def tokens(text: str) -> list[str]:
    """Return a text in pieces about the size of tokens; joined, they are the text."""
    return _TOKEN.findall(text)


class Pace:
    """Hands out tokens, not faster than a model would; a pace of 0 is as fast as it goes."""

    def __init__(self, tokens_per_second: float) -> None:
        self._seconds = 1 / tokens_per_second if tokens_per_second else 0.0
        self._due = 0.0

    async def begin(self, delay: float) -> None:
        """Start the clock after some seconds, at any pace but the fastest."""
        if self._seconds and delay:
            await asyncio.sleep(delay)
        self._due = asyncio.get_running_loop().time()

    async def of(self, text: str) -> AsyncIterator[str]:
        """Yield the tokens of a text when they are due."""
        for number, token in enumerate(tokens(text)):
            if self._seconds:
                await self._wait()
            elif number % _BREATHE == 0:
                await asyncio.sleep(0)
            yield token

    async def _wait(self) -> None:
        # Against the clock, not from token to token: late ones are made up for.
        self._due += self._seconds
        wait = self._due - asyncio.get_running_loop().time()
        if wait > _SHORTEST_WAIT:
            await asyncio.sleep(wait)


class UsageCounter:
    """Counts tokens as a real service would report them; a message that comes again is known."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._sizes: list[int] = []

    def count(self, request: ChatRequest, answer: ScriptedAnswer) -> Usage:
        """Return what a call would have used.

        What the request has in common with the one before counts as read from the cache.
        """
        tools = text_tokens(json.dumps([tool.model_dump() for tool in request.tools or ()]))
        sizes = self._sizes_of(request.messages)
        known = _known(request.messages)
        thinking = len(tokens(answer.thinking))
        said = thinking + len(tokens(answer.text))
        said += sum(text_tokens(json.dumps(call)) for call in answer.calls)
        read = tools + sum(sizes)
        return Usage(
            input_tokens=read,
            output_tokens=said,
            total_tokens=read + said,
            reasoning_tokens=thinking or None,
            cache_read_tokens=tools + sum(sizes[:known]) if known else None,
            cost_usd=Decimal(0),
        )

    def _sizes_of(self, messages: list[Message]) -> list[int]:
        known = len(self._messages)
        if any(new is not old for new, old in zip(messages, self._messages, strict=False)):
            known = 0
        self._sizes = [*self._sizes[:known], *map(_message, messages[known:])]
        self._messages = list(messages)
        return self._sizes


def _known(messages: Sequence[Message]) -> int:
    """How many of the messages the request before had: those before the last answer."""
    answers = (i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "assistant")
    return next(answers, 0)


def _message(message: Message) -> int:
    if isinstance(message.content, str):
        return text_tokens(message.content)
    return sum(map(_block, message.content))


def _block(block: ContentBlockUnion) -> int:
    match block:
        case TextBlock():
            return text_tokens(block.text)
        case ThinkingBlock():
            return text_tokens(block.thinking)
        case _:
            return text_tokens(json.dumps(block.model_dump(), default=str))


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
    """Answers from a script."""

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
        """Answer a request, streaming; raise an `LLMError` where the script says so."""
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
            facts=request_facts(request, stream=True),
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
        get = getattr(self._coordinator, "get_capability", lambda _: None)
        folder = working_dir(self._coordinator) if self._coordinator else Path()
        found, tried = find_beside(wanted, get("mention_resolver"), folder)
        if found is None:
            places = " and ".join(map(str, tried))
            raise llm_errors.ConfigurationError(
                f"The script of provider-mock is not there: looked for {places}", provider=NAME
            )
        return found


async def _stream(
    emitter: StreamEmitter, pace: Pace, index: int, kind: str, text: str, name: str | None = None
) -> None:
    await emitter.start(index, kind, name=name)
    async for token in pace.of(text):
        await emitter.delta(index, token)
    await emitter.end(index)


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the provider as ``mock``."""
    await mount_provider(coordinator, ScriptedProvider(MockSettings.read(config), coordinator))
