"""The sub-agents that work now: what the user tells one of them, and how one is stopped alone."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import field
from typing import Final

from amplifier_tui.base.jsonl import Row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.spawn.child import Stop
from amplifier_tui.host.events import QueueChanged, SteerApplied
from amplifier_tui.host.messages import is_steering, text_of
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.prompt.secrets import PromptSecrets
from amplifier_tui.host.turns.prompts import Steering
from amplifier_tui.host.turns.running import SECOND_CANCEL
from amplifier_tui.kernel.coordinator import ModuleCoordinator

STUBBORN: Final = 3.0
"""Seconds after which the user hears that an agent which was stopped at once goes on."""

GONE: Final = "This agent does not work any more; the conversation that called it can ask it again."


@dataclass(eq=False, slots=True)
class RunningAgent:
    """A sub-agent that works.

    Attributes:
        parent: The lane that called it.
        stop: Stops it alone.
        ended: Set when it has ended.
    """

    name: str
    parent: str
    steering: Steering
    stop: Stop
    secrets: PromptSecrets | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class RunningAgents:
    """The sub-agents of a session that work now, by lane.

    Args:
        withdraw: Withdraws the approval requests of some lanes, with a reason.
    """

    def __init__(self, sender: Sender, withdraw: Callable[[str, Collection[str]], None]) -> None:
        self._sender = sender
        self._withdraw = withdraw
        self._running: dict[str, RunningAgent] = {}

    def begin(self, lane: str, name: str, parent: str, stop: Stop) -> RunningAgent:
        """Take note of an agent that begins to work."""

        def waits() -> None:
            stamp = self._sender.stamp(lane)
            self._sender.send(QueueChanged(**stamp, items=(), steering=agent.steering.waiting))

        agent = self._running[lane] = RunningAgent(name, parent, Steering(waits), stop)
        return agent

    def attach(self, lane: str, coordinator: ModuleCoordinator) -> None:
        """Have an agent hear what it is told at its next step."""
        agent = self._running[lane]
        agent.secrets = PromptSecrets(coordinator, self._sender, lane)
        agent.steering.with_output = agent.secrets.redacted
        agent.steering.attach(coordinator.hooks)

    def row_added(self, lane: str, row: Row) -> None:
        """A row of an agent's conversation is on disk."""
        self._sender.images_added(row, lane)
        agent = self._running.get(lane)
        if agent is not None and is_steering(row):
            sent = text_of(row.get("content"))
            text = self._sender.redactor.text(sent)
            self._sender.send(SteerApplied(**self._sender.stamp(lane), text=text))
            if agent.secrets is not None:
                agent.secrets.heard(sent, sent)
            agent.steering.arrived()

    def ended(self, lane: str) -> None:
        """An agent works no more; what it was told too late is said."""
        agent = self._running.pop(lane, None)
        if agent is None:
            return
        agent.ended.set()
        if unheard := "; ".join(agent.steering.take_back()):
            self._say(f"{agent.name} ended before it heard: {unheard}")

    def tell(self, lane: str, text: str) -> None:
        """Have an agent read a message at its next step."""
        agent = self._running.get(lane)
        if agent is None:
            self._say(GONE)
        else:
            agent.steering.add(text)

    async def stop(self, lane: str, *, immediate: bool) -> None:
        """Stop an agent and those it called, and nobody else."""
        agent = self._running.get(lane)
        if agent is None:
            self._say(GONE)
            return
        agent.stop(immediate=immediate)
        # A request nobody answers would hold it for as long as its clock runs.
        self._withdraw(f"{agent.name} was stopped", self._below(lane))
        if not immediate:
            return
        if not await _within(agent, SECOND_CANCEL):
            agent.stop(immediate=True)
            if not await _within(agent, STUBBORN - SECOND_CANCEL):
                self._say(f"{agent.name} does not stop; stopping the turn leaves it behind.")

    def _below(self, lane: str) -> set[str]:
        found = {lane}
        for each, agent in self._running.items():
            # An agent always begins after the one that called it.
            if agent.parent in found:
                found.add(each)
        return found

    def _say(self, text: str) -> None:
        self._sender.notice("warning", text, "agents")


async def _within(agent: RunningAgent, seconds: float) -> bool:
    try:
        await asyncio.wait_for(agent.ended.wait(), seconds)
    except TimeoutError:
        return False
    return True
