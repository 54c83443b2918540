"""loop-streaming: the agent loop of spec 001, with streaming and parallel tool calls.

Config:
    default_provider: Name of the provider to use; the default is the mounted one with the lowest
        ``priority`` in its config, else the first.
    max_iterations: Requests to the model per turn; -1 or 0 for no limit. Default 100.

``provider:request`` carries the messages only where the mount plan's ``session.raw`` is set.
Events of its own: ``loop-streaming:limit_reached`` and ``loop-streaming:interrupted``.
"""

from typing import Any, ClassVar

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._loop.orchestrator import LoopOrchestrator, LoopSettings

__amplifier_module_type__ = "orchestrator"


class StreamingSettings(LoopSettings):
    """What a bundle may say about loop-streaming."""

    module: ClassVar[str] = "loop-streaming"


class StreamingOrchestrator(LoopOrchestrator):
    """The agent loop with answers that arrive piece by piece."""

    settings = StreamingSettings
    streams = True


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the orchestrator."""
    await StreamingOrchestrator(config).mount(coordinator)
