"""loop-events: the agent loop of spec 001, with events by which hooks steer its steps.

Config:
    default_provider: Name of the provider to use; the default is the mounted one with the lowest
        ``priority`` in its config, else the first.
    max_iterations: Requests to the model per turn; -1 or 0 for no limit. Default 100.

Events of its own, and what a hook's answer to them does:
    loop-events:loop_started: The first step begins (``providers``, ``tools``); ``deny`` ends the
        turn with the reason.
    loop-events:loop_iteration: A step begins (``iteration``, ``provider``, ``tools``). ``modify``
        changes whom it asks (``provider``) and which tools it has (``tools``, a list of names);
        ``deny`` ends the turn with the reason.
    loop-events:loop_completed: The model calls no more tools (``iteration``, ``response``). A text
        injected here, or the reason of a ``deny``, makes it go on.
    loop-events:limit_reached, loop-events:interrupted: The turn ended before its time.

At all of them ``inject_context`` and ``ask_user`` work as everywhere. ``provider:request`` carries
the messages only where the mount plan's ``session.raw`` is set.
"""

from typing import Any, ClassVar

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._loop.orchestrator import LoopOrchestrator, LoopSettings
from amplifier_tui.modules._loop.turn import OWN_EVENTS
from amplifier_tui.modules.loop_events.turn import STEP_EVENTS, EventTurn

__amplifier_module_type__ = "orchestrator"


class EventSettings(LoopSettings):
    """What a bundle may say about loop-events."""

    module: ClassVar[str] = "loop-events"


class EventOrchestrator(LoopOrchestrator):
    """The agent loop whose steps hooks can steer."""

    settings = EventSettings
    turn = EventTurn
    streams = True
    own_events = (*STEP_EVENTS, *OWN_EVENTS)


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the orchestrator."""
    await EventOrchestrator(config).mount(coordinator)
