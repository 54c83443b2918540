"""How every provider behaves."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_tui.kernel.llm_errors import LLMError
from amplifier_tui.kernel.message_models import ChatResponse, TextBlock
from amplifier_tui.kernel.models import ModelInfo, ProviderInfo


class ProviderBehaviorTests:
    """Runs on the first provider the module mounts; nothing is sent to a model."""

    @pytest.mark.asyncio
    async def test_mount_succeeds(self, provider_module: Any) -> None:
        """The module mounts a provider."""
        assert provider_module is not None

    @pytest.mark.asyncio
    async def test_get_info_returns_valid_provider_info(self, provider_module: Any) -> None:
        """It says who it is without a network."""
        info = provider_module.get_info()
        assert isinstance(info, ProviderInfo), f"get_info() returned {type(info).__name__}"
        assert info.id
        assert info.display_name

    @pytest.mark.asyncio
    async def test_list_models_returns_list(self, provider_module: Any) -> None:
        """It lists its models; skipped where that needs an API that does not answer."""
        try:
            models = await provider_module.list_models()
        except (LLMError, OSError) as error:
            pytest.skip(f"list_models() needs the API: {error}")
        assert isinstance(models, list)
        assert all(isinstance(model, ModelInfo) for model in models)

    @pytest.mark.asyncio
    async def test_provider_has_name_attribute(self, provider_module: Any) -> None:
        """Its name is a non-empty string."""
        assert isinstance(provider_module.name, str)
        assert provider_module.name

    @pytest.mark.asyncio
    async def test_parse_tool_calls_returns_list(self, provider_module: Any) -> None:
        """A response without tool calls has an empty list of them."""
        response = ChatResponse(content=[TextBlock(text="Hello")])
        assert list(provider_module.parse_tool_calls(response)) == []
