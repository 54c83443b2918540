"""provider-openai: OpenAI's models, and those of every server that speaks the same APIs.

Config: see `OpenAISettings`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._provider.provider import mount_provider, warm_soon
from amplifier_tui.modules.provider_openai.provider import OpenAIProvider
from amplifier_tui.modules.provider_openai.settings import OpenAISettings

__all__ = ["OpenAIProvider", "mount", "on_session_ready"]

__amplifier_module_type__ = "provider"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Mount the provider as `openai`; returns the cleanup.

    Raises:
        ConfigurationError: OpenAI is to be asked without a key (`missing_env` names the
            variable), or the config has a mistake.
    """
    provider = OpenAIProvider(OpenAISettings.read(config), coordinator)
    await mount_provider(coordinator, provider)
    return provider.close


async def on_session_ready(coordinator: ModuleCoordinator) -> None:
    """Have the SDK imported in a thread, so that the first turn does not wait for it."""
    warm_soon(coordinator, OpenAIProvider)
