"""When the modules of a session are changed: at once, at the next step, or after the turn."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import ModuleChangeWaits, ModuleChanging
from amplifier_tui.host.session.modules.facts import Planned
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.hooks.registry import HookRegistry

_FIRST: Final = -1_000
"""Before every handler of a module: it may be about to change."""
_HANDLER: Final = "amplifier-tui:modules"


@dataclass(frozen=True, slots=True)
class ModuleChange:
    """One thing to do to one module, `planned`, and what is said while it waits.

    `at_rest`: only between turns.
    """

    planned: Planned
    apply: Callable[[Planned], Awaitable[str]]
    what: str
    at_rest: bool = False


class ChangeQueue:
    """The changes of modules that wait for a moment at which they harm no turn.

    Args:
        make: Makes a change; a failure is its own to tell.
        running: Whether a turn runs.
        paused: Has prompts wait while something is changed.
        sender: Tells which modules have a change that waits.
    """

    def __init__(
        self,
        hooks: HookRegistry,
        make: Callable[[ModuleChange], Coroutine[Any, Any, None]],
        running: Callable[[], bool],
        paused: Callable[[], AbstractContextManager[None]],
        sender: Sender,
    ) -> None:
        self._hooks = hooks
        self._make = make
        self._running = running
        self._paused = paused
        self._sender = sender
        self._waiting: list[ModuleChange] = []
        self._making: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()
        self._current: tuple[ModuleChange, asyncio.Task[None] | None] | None = None
        self.stopped = False
        """The session ends: nothing is changed any more."""
        self._listening: Callable[[], None] | None = None

    async def add(self, change: ModuleChange) -> bool:
        """Make a change now, or keep it until its moment; say whether it was made now."""
        if not self._running():
            if self._current is not None:
                self._say_later(change, self._current[0])
            with self._paused():
                await self._make_apart(change)
            return True
        if any(_same(each, change) for each in self._waiting):
            return False
        self._waiting.append(change)
        self._tell(change.planned)
        if self._listening is None:
            # Only while something waits: it would be in the trace of every request.
            self._listening = self._hooks.register("provider:request", self._step, _FIRST, _HANDLER)
        return False

    def take_back(self, key: str, what: str) -> bool:
        """Drop a change that waits; say whether there was one."""
        found = [each for each in self._waiting if (each.planned.key, each.what) == (key, what)]
        for change in found:
            self._drop(change)
        return bool(found)

    def _drop(self, change: ModuleChange) -> None:
        self._waiting = [each for each in self._waiting if each is not change]
        self._tell(change.planned)

    def _tell(self, planned: Planned) -> None:
        """Say what waits for a module: the latest of it, if anything."""
        waiting = [each for each in self._waiting if each.planned.key == planned.key]
        self._sender.send(
            ModuleChangeWaits(
                **self._sender.stamp(),
                module_id=planned.module_id,
                kind=planned.kind,
                instance=planned.instance,
                change=waiting[-1].what if waiting else "",
                at_rest=bool(waiting) and waiting[-1].at_rest,
            )
        )

    async def _step(self, event: str, data: dict[str, Any]) -> None:
        await self._make_those_due(at_rest=False)

    async def turn_over(self) -> None:
        """Make what waits: the turn has ended."""
        await self._make_those_due(at_rest=True)

    async def _make_those_due(self, *, at_rest: bool) -> None:
        if self._listening is not None:
            self._listening()
            self._listening = None
        for change in [each for each in self._waiting if at_rest or not each.at_rest]:
            # What comes after a turn that is stopped here waits for the end of the turn.
            if any(each is change for each in self._waiting):
                self._drop(change)
                await self._make_apart(change)

    def stop_current(self) -> None:
        """Stop the change that is being made, if one is."""
        task = self._current[1] if self._current is not None else None
        if task is not None:
            task.cancel()

    async def stop(self, timeout: float) -> None:
        """End what is being changed, and change nothing from here on."""
        self.stopped = True
        self._waiting.clear()
        for task in self._making:
            task.cancel()
        if self._making:
            await asyncio.wait(self._making, timeout=timeout)

    async def _make_apart(self, change: ModuleChange) -> None:
        if self.stopped:
            return
        # A turn that is stopped meanwhile must not leave a module half changed.
        task = asyncio.create_task(self._make_alone(change))
        self._making.add(task)
        task.add_done_callback(self._making.discard)
        await asyncio.wait({task})

    async def _make_alone(self, change: ModuleChange) -> None:
        async with self._lock:
            self._current = change, asyncio.current_task()
            self._tell_made(change.planned, change.what)
            try:
                await self._make(change)
            finally:
                self._current = None
                self._tell_made(change.planned, "")

    def _tell_made(self, planned: Planned, what: str) -> None:
        self._sender.send(
            ModuleChanging(
                **self._sender.stamp(),
                module_id=planned.module_id,
                kind=planned.kind,
                instance=planned.instance,
                change=what,
            )
        )

    def _say_later(self, change: ModuleChange, first: ModuleChange) -> None:
        key = change.planned.key
        name = "that" if first.planned.key == key else first.planned.key
        text = f"{key} is {change.what} once {name} has been {first.what}, or you stop that"
        self._sender.notice("info", text, "modules")


def _same(one: ModuleChange, other: ModuleChange) -> bool:
    """Say whether two changes do one thing to one module; each value of a setting is another."""
    return (one.planned.key, one.apply) == (other.planned.key, other.apply)
