"""provider-anthropic: Claude models through Anthropic's Messages API.

Config: see `AnthropicSettings`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._provider.provider import mount_provider, warm_soon
from amplifier_tui.modules.provider_anthropic.provider import AnthropicProvider
from amplifier_tui.modules.provider_anthropic.settings import AnthropicSettings

__all__ = ["AnthropicProvider", "mount", "on_session_ready"]

__amplifier_module_type__ = "provider"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Mount the provider as `anthropic`; returns the cleanup.

    Raises:
        ConfigurationError: There is no key (`missing_env` names the variable), or the config has
            a mistake.
    """
    provider = AnthropicProvider(AnthropicSettings.read(config), coordinator)
    await mount_provider(coordinator, provider)
    return provider.close


async def on_session_ready(coordinator: ModuleCoordinator) -> None:
    """Have the SDK imported in a thread, so that the first turn does not wait for it."""
    warm_soon(coordinator, AnthropicProvider)
