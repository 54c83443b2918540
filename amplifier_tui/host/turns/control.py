"""Runs the turns of a session, one after the other, and stops them.

A stop has two stages. The first sets the session's cancellation token: the orchestrator ends after
its step. The second cancels the task, and when even that has no effect within a second, abandons
it: the turn is over for everybody else, and what the task still does is kept out.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import Any

from amplifier_tui.base.python import without_exit
from amplifier_tui.host.door.stacks import described, innermost
from amplifier_tui.host.events import (
    Failed,
    HostEvent,
    QueueChanged,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.host.failures import internal_failure
from amplifier_tui.host.turns.abandoned import TICKET, Ticket, end_children, guard, own_children
from amplifier_tui.host.turns.arriving import ArrivingPrompts
from amplifier_tui.host.turns.prompt.attachments import shown
from amplifier_tui.host.turns.prompts import Prompt, Steering
from amplifier_tui.host.turns.queue import WaitingPrompts
from amplifier_tui.host.turns.running import Outcome, RunningTurn, TurnHandle, TurnParts
from amplifier_tui.kernel.events import LLM_REQUEST, PROVIDER_RETRY

logger = logging.getLogger(__name__)


class TurnControl:
    """The turns of one session.

    Args:
        first: How many turns it has had.
    """

    def __init__(self, parts: TurnParts, first: int = 0) -> None:
        self._parts = parts
        self._sender = parts.sender
        self._number = first
        self._running: RunningTurn | None = None
        store = parts.sender.store
        self.queue = WaitingPrompts(store.queue, store.redactor.text, self._queue_changed)
        self.arriving = ArrivingPrompts(self._arriving_changed)
        self._telling = threading.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._guarded = False
        self._closed = False
        self._pauses = 0
        self._held = False
        """What waits runs only after the user's next prompt."""
        self._holds_after_failure = False
        self._failed: tuple[int, Prompt] | None = None
        self.steering = Steering(self._queue_changed, parts.with_output)

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self._running is not None

    @property
    def is_paused(self) -> bool:
        """Whether prompts wait while something else is done with the conversation."""
        return self._pauses > 0

    @property
    def handle(self) -> TurnHandle | None:
        """The running turn for other threads; None when none runs."""
        running = self._running
        return None if running is None else running.handle

    def submit(self, prompt: Prompt) -> None:
        """Run a prompt now, or after the running turn."""
        if self._closed:
            return
        running = self._running
        held, self._held = self._held, False
        if running is None and not self._pauses:
            self._start(prompt)
            return
        if running is not None and running.stopping:
            self.queue.insert(running.resumed, prompt)
            running.resumed += 1
        else:
            self.queue.insert(0 if held else len(self.queue), prompt)
        self._queue_changed()

    def retry(self, *, anew: bool = False) -> bool:
        """Run the turn that failed last once more.

        Args:
            anew: As a turn of its own: its prompt is going to be in the conversation twice.

        Returns:
            False when there is none to go on with, or no time for it.
        """
        if self._failed is None or self._running is not None or self._pauses or self._closed:
            return False
        number, prompt = self._failed
        self._held = False
        if anew:
            self._start(prompt)
        else:
            self._start(replace(prompt, again=True), number)
        return True

    def restore_failed(self, number: int, prompt: Prompt) -> None:
        """Have `retry` go on with the turn that failed last in an earlier life of the session."""
        self._failed = (number, prompt)

    def go_on_after(self, number: int) -> None:
        """Number the turns to come from there on: later ones were taken back, or brought back."""
        self._number = number
        self._failed = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Have prompts wait while something else is done with the conversation."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if self._running is None and not self._pauses:
                self._go_on(stopped=self._held)

    def steer(self, text: str) -> None:
        """Give the running turn a message; without a turn, run it as a prompt."""
        if self._running is None or self._running.stopping:
            self.submit(Prompt(text))
        else:
            self.steering.add(text)

    def restore_queue(self) -> None:
        """Have wait again what waited when the session was left: until the user sends it.

        The front end shows what waits: after a turn that failed, too, it waits for the user.
        """
        self._holds_after_failure = True
        self.queue.restore()
        self._held = bool(self.queue)
        if self.queue:
            self._queue_changed()

    def send_queued(self, prompt_id: str = "") -> None:
        """Send a waiting prompt now, the first without an id.

        A turn that runs gets it at its next step; with files it is the next prompt.
        """
        prompt = None if self._closed else self.queue.take(prompt_id)
        if prompt is None:
            return
        running = self._running
        if running is None and self._pauses:
            self.queue.insert(0, prompt)
            words = "Prompts wait until the modules or the conversation have been changed"
            self._sender.notice("info", words)
        elif running is None or running.stopping:
            self.submit(prompt)
        elif prompt.attachments or prompt.typed is not None:
            self.queue.insert(0, prompt)
        else:
            self.steering.add(prompt.text)
        self._queue_changed()

    def arrived(self) -> None:
        """Tell that a prompt which was shown as on its way has been taken up."""
        if not self._closed:
            self._queue_changed()

    def _queue_changed(self) -> None:
        self._tell_queue(self._sender.send)

    def _arriving_changed(self) -> None:
        """Tell of what the engine has not taken up; called in any thread."""
        if not self._closed:
            self._tell_queue(self._sender.put)

    def _tell_queue(self, put: Callable[[HostEvent], None]) -> None:
        # Whoever comes last has seen the latest.
        with self._telling:
            arriving = self.arriving.prompts
            prompts = (*self.queue, *arriving)
            steering = (*self.steering.waiting, *self.arriving.steering)
            # First on disk.
            self.queue.save(steering, arriving)
            put(
                QueueChanged(
                    **self._sender.stamp(),
                    items=tuple(prompt.text for prompt in prompts),
                    ids=tuple(prompt.prompt_id for prompt in prompts),
                    steering=steering,
                    held=self._held,
                )
            )

    def _start(self, prompt: Prompt, number: int | None = None) -> None:
        if number is None:
            number = self._number = self._number + 1
        self._failed = None
        ticket = Ticket(number)
        self._parts.token.reset()
        self._parts.begins(number, prompt)
        self._sender.send(
            TurnStarted(
                **self._sender.stamp(),
                turn=number,
                prompt=self._sender.redactor.text(prompt.text),
                attachments=tuple(map(shown, prompt.attachments)),
                prompt_id=prompt.prompt_id,
            )
        )
        loop = asyncio.get_running_loop()
        work = loop.create_task(self._work(ticket, prompt), name=f"turn {ticket.number}")
        handle = TurnHandle(ticket.number, self._parts.token, self._sender)
        self._running = RunningTurn(
            ticket, prompt, work, monotonic(), own_children(), loop.create_future(), handle
        )
        self._begin_attending(self._running)

    def _begin_attending(self, running: RunningTurn) -> None:
        loop = asyncio.get_running_loop()
        attending = loop.create_task(self._attend(running), name="attend the turn")
        self._tasks.add(attending)
        attending.add_done_callback(self._ended)

    async def _work(self, ticket: Ticket, prompt: Prompt) -> str:
        TICKET.set(ticket)
        with without_exit():
            return await self._parts.execute(prompt)

    async def _attend(self, running: RunningTurn) -> None:
        """Wait for the end of a turn and bring everything in order after it."""
        waited: set[asyncio.Future[Any]] = {running.work, running.given_up}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not running.work.done():
            outcome = self._abandon(running)
        else:
            outcome = running.outcome(self._parts)
            self._leave_behind(running)
        if running.forcing is not None:
            running.forcing.cancel()
        parts = self._parts
        try:
            await parts.settle(outcome)
        except (Exception, SystemExit):
            logger.exception("The conversation could not be put in order after the turn")
        if outcome.status == "error":
            self._failed = (running.ticket.number, running.prompt)
        if outcome.error is not None or outcome.abandoned is not None:
            self._sender.send(self._failure(outcome, running.prompt))
        try:
            await parts.over(running.ticket.number, outcome)
        except (Exception, SystemExit):
            logger.exception("The end of the turn could not be written in full")
        self._running = None
        if not running.handle.end():
            self._sender.send(self._ended_event(running, outcome))
        stopped = running.stopping and not running.resumed
        # The next prompt would most likely fail like this one, and be used up.
        failed = outcome.status == "error" and self._holds_after_failure
        self._go_on(stopped=stopped or failed)

    def _ended_event(self, running: RunningTurn, outcome: Outcome) -> TurnEnded:
        well = outcome.status == "success"
        over = outcome.status in ("success", "incomplete")
        denied = self._sender.redactor.text(self._parts.denied()) if over else ""
        declined = well and not denied and self._parts.declined()
        return TurnEnded(
            **self._sender.stamp(),
            turn=running.ticket.number,
            status=outcome.status,
            duration_ms=(monotonic() - running.began) * 1000,
            usage=self._parts.usage(),
            silent=well and not denied and not declined and not outcome.answer.strip(),
            declined=declined,
            denied=denied,
        )

    def _go_on(self, *, stopped: bool) -> None:
        """Run what waits. After a stop or a failure it keeps waiting for the user's next prompt."""
        for text in reversed(self.steering.take_back()):
            self.queue.insert(0, Prompt(text))
        waited = bool(self.queue)
        self._held = stopped and waited
        if not self._closed and not stopped and (prompt := self.queue.take()) is not None:
            # It is noted as a prompt before it is gone from what waits.
            self._start(prompt)
        if waited:
            self._queue_changed()

    def _failure(self, outcome: Outcome, prompt: Prompt) -> Failed:
        if outcome.error is not None:
            return self._parts.failure(outcome.error, prompt)
        return Failed(
            **self._sender.stamp(),
            kind="stuck",
            message=f"The turn did not stop: {innermost(outcome.abandoned or [])} goes on.",
            remedy="It was left to itself and what it does no longer counts. If it keeps the "
            "machine busy, quit and resume the session.",
            detail=described(outcome.abandoned or []),
        )

    def interrupt(self, immediate: bool, *, told: bool = False) -> bool:
        """Stop the running turn.

        Args:
            immediate: Do not wait for the running step.
            told: `CancelRequested` has been sent already.

        Returns:
            False when no turn runs.
        """
        running = self._running
        if running is None:
            return False
        running.stopping = True
        immediate = immediate or running.retries or self._parts.untouched()
        if immediate:
            running.handle.taken_up()
        self._sender.flush()
        running.handle.ask(immediate, told=told)
        # A request nobody answers would hold the turn for as long as its clock runs.
        self._parts.withdraw()
        if immediate and (running.forcing is None or running.forcing.done()):
            running.forcing = asyncio.get_running_loop().create_task(running.force())
        return True

    def watch(self, event: str) -> None:
        """Take an event of the session: a request that is to be sent again is no step to end."""
        running = self._running
        if running is None or event == LLM_REQUEST:
            return
        running.retries = event == PROVIDER_RETRY
        if running.retries and running.stopping:
            self.interrupt(immediate=True, told=True)

    def _abandon(self, running: RunningTurn) -> Outcome:
        running.ticket.abandoned = True
        running.work.add_done_callback(_retrieved)
        self._raise_guards()
        ended = end_children(running.children)
        where = running.given_up.result()
        logger.error(
            "Turn %d would not stop and was abandoned (%d processes ended) at:\n%s",
            running.ticket.number,
            ended,
            described(where),
        )
        return Outcome("cancelled", abandoned=where)

    def _leave_behind(self, running: RunningTurn) -> None:
        """Cut off tools that go on although their turn was stopped and has ended."""
        names = self._parts.token.running_tool_names
        if running.forcing is None or not names:
            return
        running.ticket.abandoned = True
        self._raise_guards()
        end_children(running.children)
        self._sender.notice("warning", f"{', '.join(names)} did not stop and was left to itself")

    def _raise_guards(self) -> None:
        if not self._guarded:
            self._guarded = True
            guard(self._parts.hooks)

    async def stop(self, timeout: float) -> None:
        """End the running turn, take no more prompts, and wait for the end at most `timeout`."""
        self._closed = True
        if self.interrupt(immediate=True) and self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if task.cancelled() and self._running is not None and not self._closed:
            # A module cancelled every task there is: a turn that nobody attends never ends.
            self._begin_attending(self._running)
            return
        if task.cancelled() or (error := task.exception()) is None:
            return
        running, self._running = self._running, None
        if running is None:
            context = {"message": "Attending a turn failed", "exception": error}
            task.get_loop().call_exception_handler(context)
            return
        # Whatever went wrong: the front end must not wait for ever.
        logger.error("The turn could not be ended", exc_info=error)
        stamp, redactor = self._sender.stamp(), self._sender.redactor
        self._sender.send(internal_failure(error, "end the turn", stamp, redactor))
        self._sender.send(self._ended_event(running, Outcome("error")))


def _retrieved(task: "asyncio.Task[str]") -> None:
    """Take an abandoned task's exception, so that nobody reports it as lost."""
    if not task.cancelled():
        error = task.exception()
        logger.info("An abandoned turn has ended: %s", error if error is not None else "done")
