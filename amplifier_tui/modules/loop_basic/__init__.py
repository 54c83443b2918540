"""loop-basic: the agent loop of spec 001 in its plain form, with parallel tool calls.

Its requests do not ask for streaming. The built-in providers go by their own ``stream`` setting:
set that to false where an answer has to come in one piece.

Config:
    default_provider: Name of the provider to use; the default is the mounted one with the lowest
        ``priority`` in its config, else the first.
    max_iterations: Requests to the model per turn; -1 or 0 for no limit. Default 100.

``provider:request`` carries the messages only where the mount plan's ``session.raw`` is set.
Events of its own: ``loop-basic:limit_reached`` and ``loop-basic:interrupted``.
"""

from typing import Any, ClassVar

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._loop.orchestrator import LoopOrchestrator, LoopSettings

__amplifier_module_type__ = "orchestrator"


class BasicSettings(LoopSettings):
    """What a bundle may say about loop-basic."""

    module: ClassVar[str] = "loop-basic"


class BasicOrchestrator(LoopOrchestrator):
    """The agent loop whose requests do not ask for streaming."""

    settings = BasicSettings


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the orchestrator."""
    await BasicOrchestrator(config).mount(coordinator)
