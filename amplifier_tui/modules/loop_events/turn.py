"""A turn that tells hooks of each of its steps, and does what they answer."""

from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.modules._loop.turn import Turn

LOOP_STARTED: Final = "loop_started"
LOOP_ITERATION: Final = "loop_iteration"
LOOP_COMPLETED: Final = "loop_completed"
STEP_EVENTS: Final = (LOOP_STARTED, LOOP_ITERATION, LOOP_COMPLETED)


class EventTurn(Turn):
    """One turn of loop-events; for what hooks can do see the package's docstring."""

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
