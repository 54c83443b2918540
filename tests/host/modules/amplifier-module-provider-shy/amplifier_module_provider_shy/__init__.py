"""A provider that tells the window of its model in its list of models alone.

Settings:
    lists: What listing its models does: the window it tells, or `raises` or `hangs`.
    context_window: The window it tells with its defaults; it is not told where this is not given.
"""

import asyncio
from typing import Any

from amplifier_core import ModelInfo, ModuleCoordinator, ProviderInfo
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall, Usage

__amplifier_module_type__ = "provider"


class ShyProvider:
    name = "shy"

    def __init__(self, config: dict[str, Any]) -> None:
        self.lists = config.get("lists", 8_000)
        self.window = config.get("context_window")
        self.listed = 0

    def get_info(self) -> ProviderInfo:
        told = {} if self.window is None else {"context_window": self.window}
        return ProviderInfo(id="shy", display_name="Shy", defaults={"model": "shy-1", **told})

    async def list_models(self) -> list[ModelInfo]:
        self.listed += 1
        if self.lists == "raises":
            raise ConnectionError("nobody there")
        if self.lists == "hangs":
            await asyncio.Event().wait()
        return [
            ModelInfo(
                id="shy-1", display_name="Shy", context_window=self.lists, max_output_tokens=1_000
            )
        ]

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
        return ChatResponse(content=[TextBlock(text=f"listed {self.listed}")], usage=usage)

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return []


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    await coordinator.mount("providers", ShyProvider(config or {}), name="shy")
