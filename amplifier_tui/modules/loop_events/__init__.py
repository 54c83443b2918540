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

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._loop.orchestrator import LoopOrchestrator, LoopSettings
from amplifier_tui.modules._loop.turn import OWN_EVENTS, Turn

__amplifier_module_type__ = "orchestrator"

LOOP_STARTED: Final = "loop_started"
LOOP_ITERATION: Final = "loop_iteration"
LOOP_COMPLETED: Final = "loop_completed"
STEP_EVENTS: Final = (LOOP_STARTED, LOOP_ITERATION, LOOP_COMPLETED)


class EventSettings(LoopSettings):
    """What a bundle may say about loop-events."""

    module: ClassVar[str] = "loop-events"


class EventTurn(Turn):
    """One turn of loop-events; what hooks can do is said above."""

    async def begin_step(self) -> str | None:
        """Tell hooks of the step; they choose its provider and its tools, or deny it."""
        if self.steps == 1:
            started = {"providers": list(self.providers), "tools": list(self.tools)}
            verdict = await self.own_event(LOOP_STARTED, started)
            if verdict.denied is not None:
                return verdict.denied
        data = {
            "iteration": self.steps,
            "provider": self.provider_name,
            "tools": list(self.tools),
        }
        verdict = await self.own_event(LOOP_ITERATION, data)
        if verdict.denied is not None:
            return verdict.denied
        self.offered = self._chosen(verdict.data.get("tools"))
        return self.route(verdict.data)

    def _chosen(self, names: Any) -> Mapping[str, Any]:
        """The mounted tools that hooks named; what is no list of names leaves none."""
        if names is None or names == list(self.tools):
            return self.tools
        named = names if isinstance(names, list) else []
        return {name: tool for name, tool in self.tools.items() if name in named}

    async def go_on(self, answer: str) -> bool:
        """Tell hooks that the model is done; return whether they gave it more to do."""
        stored = self.emitter.stored
        data: dict[str, Any] = {"iteration": self.steps, "response": answer}
        verdict = await self.own_event(LOOP_COMPLETED, data)
        if self.stop.up:
            return False
        if verdict.denied is not None:
            await self.emitter.inject(
                f"{self.emitter.orchestrator}:{LOOP_COMPLETED}", verdict.denied
            )
        return self.emitter.waiting or self.emitter.stored != stored


class EventOrchestrator(LoopOrchestrator):
    """The agent loop whose steps hooks can steer."""

    settings = EventSettings
    turn = EventTurn
    streams = True
    own_events = (*STEP_EVENTS, *OWN_EVENTS)


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the orchestrator."""
    await EventOrchestrator(config).mount(coordinator)
