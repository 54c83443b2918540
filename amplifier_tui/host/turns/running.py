"""What a turn is made of: what runs it, how it is stopped from any thread, and how it ended."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.door.stacks import Place, coroutine_places, described, innermost
from amplifier_tui.host.events import CancelRequested, Failed, TurnEnded, TurnStatus, Usage
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.abandoned import Ticket
from amplifier_tui.host.turns.prompts import Prompt
from amplifier_tui.kernel.cancellation import CancellationToken
from amplifier_tui.kernel.hooks import HookRegistry

SECOND_CANCEL: Final = 0.8
"""Seconds after the first cancellation of the task, for modules that swallow one."""
GIVE_UP: Final = 0.95
"""Seconds after which a task that goes on is abandoned."""


class TurnHandle:
    """Stops one turn from any thread."""

    def __init__(self, number: int, token: CancellationToken, sender: Sender) -> None:
        self.number = number
        self._token = token
        self._sender = sender
        self._lock = threading.Lock()
        self._taken_up = False
        self._over = False
        self._reported = False

    def ask(self, immediate: bool, *, told: bool = False) -> None:
        """Set the token, whatever the engine is busy with, and say so unless that was `told`."""
        with self._lock:
            if self._over:
                return
            names = tuple(self._token.running_tool_names)
            if immediate:
                self._token.request_immediate()
            else:
                self._token.request_graceful()
        if not told:
            stamp = self._sender.stamp()
            self._sender.put(CancelRequested(**stamp, immediate=immediate, running_tools=names))

    def taken_up(self) -> None:
        """The engine carries the stop out."""
        with self._lock:
            self._taken_up = True

    def end(self) -> bool:
        """The turn is over.

        Returns:
            True when the screen was told so before, because the engine was blocked.
        """
        with self._lock:
            self._over = True
            return self._reported

    def report_blocked(self, where: Callable[[], list[Place]]) -> bool:
        """Tell the user that a module blocks the engine, unless the stop was taken up.

        Returns:
            Whether that was so.
        """
        with self._lock:
            if self._taken_up or self._over or self._reported:
                return False
            self._reported = True
        places, stamp = where(), self._sender.stamp()
        self._sender.put(
            Failed(
                **stamp,
                kind="blocked",
                message=f"A module blocks the engine and can't be stopped: {innermost(places)}",
                remedy="The turn counts as stopped. Your next prompt runs as soon as the module "
                "gives the engine back; if it does not, quit and resume the session.",
                detail=described(places),
            )
        )
        self._sender.put(TurnEnded(**stamp, turn=self.number, status="cancelled"))
        return True


@dataclass(slots=True)
class Outcome:
    """How a turn ended.

    Attributes:
        answer: The model's last words.
        error: What ended it, when that was an exception.
        abandoned: Where its task still is, when it would not end.
    """

    status: TurnStatus
    answer: str = ""
    error: BaseException | None = None
    abandoned: list[Place] | None = None


@dataclass(slots=True)
class RunningTurn:
    """A turn whose task has not ended, and what is done to end it."""

    ticket: Ticket
    prompt: Prompt
    work: "asyncio.Task[str]"
    began: float
    children: dict[int, int]
    given_up: "asyncio.Future[list[Place]]"
    handle: TurnHandle
    forcing: "asyncio.Task[None] | None" = None
    stopping: bool = False
    retries: bool = False
    """A request to the model failed and is sent again: nothing has come of it yet."""
    resumed: int = 0
    """Prompts that came after the stop: those are meant to run."""

    async def force(self) -> None:
        """Cancel the task, twice if it must be; say where it is when it goes on even then."""
        began = monotonic()
        self.work.cancel()
        await asyncio.wait({self.work}, timeout=SECOND_CANCEL)
        if not self.work.done():
            self.work.cancel()
            left = max(0.0, began + GIVE_UP - monotonic())
            await asyncio.wait({self.work}, timeout=left)
        if not self.work.done() and not self.given_up.done():
            self.given_up.set_result(coroutine_places(self.work.get_coro()))

    def outcome(self, parts: "TurnParts") -> Outcome:
        """Return how the turn ended; its task is done."""
        work = self.work
        stopped = self.stopping or parts.token.is_cancelled
        if work.cancelled():
            if stopped:
                return Outcome("cancelled")
            return Outcome("error", error=asyncio.CancelledError("a module cancelled the turn"))
        error = work.exception()
        if error is not None:
            # What breaks while everything is being stopped is not worth a report.
            return Outcome("cancelled") if stopped else Outcome("error", error=error)
        status = parts.status() or "success"
        if stopped:
            status = "cancelled"
        return Outcome(status, answer=work.result())


@dataclass(slots=True)
class TurnParts:
    """What the control needs of its session.

    Attributes:
        execute: Runs one prompt; raises what the turn raises.
        begins: Told of a turn before it runs: its number and prompt.
        settle: Puts the conversation in order after a turn.
        failure: Makes the event of an outcome with an error.
        withdraw: Withdraws the pending approval requests.
        untouched: Whether the running step can be given up at any moment: nothing came of it yet.
        status: How the orchestrator says the turn ended; None when it does not.
        declined: Whether the model declined to give the last answer.
        denied: Why a hook let the last request not go; empty where it did.
        usage: Gives the turn's usage and cost.
        with_output: Adds what the user's own commands printed to a steering message.
        over: Told when everything of a turn is written: its number and outcome.
    """

    hooks: HookRegistry
    token: CancellationToken
    sender: Sender
    execute: Callable[[Prompt], Awaitable[str]]
    begins: Callable[[int, Prompt], None]
    settle: Callable[[Outcome], Awaitable[None]]
    failure: Callable[[BaseException, Prompt], Failed]
    withdraw: Callable[[], None]
    untouched: Callable[[], bool]
    status: Callable[[], TurnStatus | None]
    declined: Callable[[], bool]
    denied: Callable[[], str]
    usage: Callable[[], Usage]
    with_output: Callable[[str], str]
    over: Callable[[int, Outcome], Awaitable[None]]
