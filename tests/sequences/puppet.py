"""A model and tools that do what a test says, when it says it."""

import asyncio
import json
from typing import Any, Literal

from amplifier_tui.kernel.llm_errors import AuthenticationError
from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ChatResponse,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_tui.kernel.models import ConfigField, ModelInfo, ProviderInfo, ToolResult
from amplifier_tui.kernel.utils.llm_calls import LLMCalls
from amplifier_tui.kernel.utils.retry import RetryConfig
from amplifier_tui.kernel.utils.stream import StreamEmitter

MODELS = ("m1", "m2", "m3")
Word = tuple[Literal["think", "say", "call", "end", "fail"], Any]
"""What the model does next; after `end` or `fail` nothing more comes."""


class Puppet:
    """Who waits for a word: requests to the model, and tools that hold."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget who waits, and count calls from the beginning."""
        self.requests: list[asyncio.Queue[Word]] = []
        self.held: list[asyncio.Event] = []
        self.calls = 0

    @property
    def waits(self) -> bool:
        """Whether somebody waits for a word."""
        return any(queue.empty() for queue in self.requests) or bool(self.held)


PUPPET = Puppet()


class PuppetModel:
    """A provider that streams what it is told, piece by piece."""

    name = "puppet"

    def __init__(self, coordinator: Any) -> None:
        retry = RetryConfig(max_retries=0)
        self._calls = LLMCalls(coordinator, provider=self.name, retry=retry)

    def get_info(self) -> ProviderInfo:
        field = ConfigField(
            id="effort",
            display_name="Effort",
            field_type="choice",
            prompt="Effort",
            choices=["low", "high"],
        )
        return ProviderInfo(
            id=self.name,
            display_name="Puppet",
            capabilities=["tools", "streaming"],
            defaults={"model": MODELS[0], "context_window": 100_000, "max_output_tokens": 1_000},
            config_fields=[field],
        )

    async def list_models(self) -> list[ModelInfo]:
        return [
            ModelInfo(id=name, display_name=name, context_window=100_000, max_output_tokens=1_000)
            for name in MODELS[:2]
        ]

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        return await self._calls.run(
            self._answer,
            model=request.model or MODELS[0],
            facts={"message_count": len(request.messages), "tool_count": 0, "stream": True},
            arguments=dict,
        )

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return list(response.tool_calls or ())

    async def _answer(self, emitter: StreamEmitter) -> ChatResponse:
        words: asyncio.Queue[Word] = asyncio.Queue()
        PUPPET.requests.append(words)
        content: list[Any] = []
        calls: list[ToolCall] = []
        try:
            while True:
                kind, what = await words.get()
                place = len(content)
                if kind in ("say", "think"):
                    await emitter.start(place, "text" if kind == "say" else "thinking")
                    for piece in (what[:3], what[3:]):
                        await emitter.delta(place, piece)
                    await emitter.end(place)
                    block = TextBlock(text=what) if kind == "say" else ThinkingBlock(thinking=what)
                    content.append(block)
                elif kind == "call":
                    tool, arguments = what
                    PUPPET.calls += 1
                    call = ToolCall(id=f"call{PUPPET.calls}", name=tool, arguments=arguments)
                    await emitter.start(place, "tool_use", name=tool)
                    await emitter.delta(place, json.dumps(arguments))
                    await emitter.end(place)
                    calls.append(call)
                    content.append(ToolCallBlock(id=call.id, name=tool, input=arguments))
                elif kind == "fail":
                    raise AuthenticationError("no such key", provider=self.name)
                else:
                    break
        finally:
            PUPPET.requests.remove(words)
        return ChatResponse(
            content=content,
            tool_calls=calls or None,
            usage=Usage(input_tokens=7, output_tokens=3, total_tokens=10),
            finish_reason="tool_calls" if calls else "stop",
        )


class PuppetTool:
    """Answers at once (`echo`), fails (`fail`), or waits for a word (`hold`)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.description = f"Does {name}."
        self.input_schema = {"type": "object", "properties": {"text": {"type": "string"}}}

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        if self.name == "fail":
            raise RuntimeError("it failed")
        if self.name == "hold":
            go = asyncio.Event()
            PUPPET.held.append(go)
            try:
                await go.wait()
            finally:
                PUPPET.held.remove(go)
        return ToolResult(output=f"did {input.get('text', '')}")


async def mount_provider(coordinator: Any, config: Any = None) -> None:
    await coordinator.mount("providers", PuppetModel(coordinator), name=PuppetModel.name)


async def mount_tool(coordinator: Any, config: Any = None) -> None:
    for name in ("echo", "fail", "hold"):
        await coordinator.mount("tools", PuppetTool(name), name=name)
