"""A provider with a list of models and a price."""

from typing import Any

from amplifier_tui.kernel.message_models import ChatResponse, TextBlock
from amplifier_tui.kernel.models import ModelInfo, ProviderInfo

__amplifier_module_type__ = "provider"

MODELS = ["fx-small-1", "fx-small-2", "fx-large-1"]


class Provider:
    name = "fx-provider"

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config

    def get_info(self) -> ProviderInfo:
        return ProviderInfo(id=self.name, display_name="Fx")

    async def list_models(self) -> list[ModelInfo]:
        return [
            ModelInfo(id=name, display_name=name, context_window=1000, max_output_tokens=100)
            for name in MODELS
        ]

    async def complete(self, request: Any, **more: Any) -> ChatResponse:
        return ChatResponse(content=[TextBlock(text="hi")])

    def parse_tool_calls(self, response: Any) -> list[Any]:
        return []


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> None:
    await coordinator.mount("providers", Provider(config or {}), name="fx-provider")
    coordinator.register_contributor("session.cost", "fx-provider", lambda: {"cost_usd": "0.25"})
