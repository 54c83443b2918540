"""Running one hook handler: in a context of its own, without a task of its own.

A task per handler would cost ten times the handler. So the emitting task steps the handler's
coroutine itself, each step inside a copied context, and tells apart who cancels: a request that
comes while the handler waits is meant for the task and goes through; one the handler makes while
it runs is its own affair and ends with it.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context, copy_context
from types import CoroutineType, GeneratorType
from typing import Any, Final, NamedTuple, Protocol

HELD_AFTER: Final = 1.0
"""Seconds after which it is told that a handler holds up what waits for it."""
SLOW_AFTER: Final = 30.0
"""Seconds after which a handler that still waits is named in the log."""

logger = logging.getLogger(__name__)


class HandlerCancelledError(Exception):
    """A handler ended in a cancellation that was not meant for the emitting task."""


class Cancellable(Protocol):
    """What of a task matters here: how often it was asked to cancel."""

    def cancelling(self) -> int:
        """Return the number of requests."""

    def uncancel(self) -> int:
        """Take one request back."""


class _NoTask:
    """Stands in where nobody can cancel: driven by hand, or by another library's loop."""

    def cancelling(self) -> int:
        return 0

    def uncancel(self) -> int:
        return 0


_NO_TASK: Final = _NoTask()


def emitting_task() -> Cancellable:
    """Return the task that runs now."""
    try:
        return asyncio.current_task() or _NO_TASK
    except RuntimeError:
        return _NO_TASK


def start_handler(handler: Any, event: str, data: dict[str, Any], task: Cancellable) -> Any:
    """Call a handler, and run the coroutine it may return up to its first wait.

    Returns what it answered, unread, or :class:`Unfinished`, to be awaited for that. Raises
    `HandlerCancelledError` for its ``CancelledError``, and what else it raised.
    """
    before = task.cancelling()
    context = copy_context()
    try:
        answer = context.run(_first_step, handler, event, data)
    except (Exception, asyncio.CancelledError) as error:
        if task.cancelling() > before:
            return Unfinished(task, context, before, failure=error)
        if isinstance(error, asyncio.CancelledError):
            raise HandlerCancelledError("the handler was cancelled") from error
        raise
    if type(answer) is _Waiting:
        return Unfinished(task, context, before, waiting=answer)
    if task.cancelling() > before:
        return Unfinished(task, context, before, answer=answer)
    return answer


class _Waiting(NamedTuple):
    steps: Coroutine[Any, Any, Any]
    awaited: Any


def _first_step(handler: Any, event: str, data: dict[str, Any]) -> Any:
    answer = handler(event, data)
    steps = answer
    if type(answer) is not CoroutineType:
        if not _is_awaitable(answer):
            return answer
        steps = _wait_for(answer)
    try:
        return _Waiting(steps, steps.send(None))
    except StopIteration as end:
        return end.value


def _is_awaitable(answer: Any) -> bool:
    # inspect.isawaitable takes longer than the rest of a sync handler's run, so it is asked only
    # about generators, where the type alone does not tell.
    if type(answer) is GeneratorType:
        return inspect.isawaitable(answer)
    return hasattr(type(answer), "__await__")


async def _wait_for(answer: Awaitable[Any]) -> Any:
    return await answer


class Unfinished:
    """A handler that waits for something, or that cancelled the task it runs in.

    Awaiting it gives the handler's answer. It raises :class:`HandlerCancelledError` if the handler
    was cancelled by itself, ``asyncio.CancelledError`` if the emitting task was cancelled,
    whatever the handler made of that, and else what the handler raised.

    ``held`` is told of one that takes long: with True while it runs, with False when it has ended.
    """

    __slots__ = ("_answer", "_before", "_context", "_failure", "_own", "_task", "_waiting", "held")

    def __init__(
        self,
        task: Cancellable,
        context: Context,
        before: int,
        *,
        waiting: _Waiting | None = None,
        answer: Any = None,
        failure: BaseException | None = None,
    ) -> None:
        self._task = task
        self._context = context
        self._before = before
        self._own = task.cancelling() - before
        self._waiting = waiting
        self._answer = answer
        self._failure = failure
        self.held: Callable[[bool], None] | None = None

    def __await__(self) -> Generator[Any, Any, Any]:
        if self._waiting is not None:
            try:
                self._answer = yield from self._drive(self._waiting)
            except (Exception, asyncio.CancelledError) as error:
                self._failure = error
        if self._own:
            yield from self._take_back()
        failure, self._failure = self._failure, None
        if self._task.cancelling() > self._before:
            raise asyncio.CancelledError from failure
        if isinstance(failure, asyncio.CancelledError):
            raise HandlerCancelledError("the handler was cancelled") from failure
        if failure is not None:
            raise failure
        return self._answer

    def _drive(self, waiting: _Waiting) -> Generator[Any, Any, Any]:
        steps, awaited = waiting
        watch = _Watch(steps, self.held)
        try:
            while True:
                step: Callable[[Any], Any] = steps.send
                argument: Any = None
                try:
                    argument = yield awaited
                except BaseException as error:
                    step, argument = steps.throw, error
                asked = self._task.cancelling()
                try:
                    awaited = self._context.run(step, argument)
                except StopIteration as end:
                    return end.value
                finally:
                    self._own += max(0, self._task.cancelling() - asked)
        finally:
            watch.stop()

    def _take_back(self) -> Generator[None, None, None]:
        for _ in range(min(self._own, self._task.cancelling() - self._before)):
            self._task.uncancel()
        try:
            # Taking back does not stop a request that is on its way: let it arrive here.
            yield
        except asyncio.CancelledError:
            logger.debug("A hook handler cancelled the task it ran in; taken back")


class _Watch:
    """Tells of a handler that takes long: whoever is shown it soon, the log later."""

    __slots__ = ("_held", "_steps", "_timer", "_told")

    def __init__(
        self, steps: Coroutine[Any, Any, Any], held: Callable[[bool], None] | None
    ) -> None:
        self._steps = steps
        self._held = held
        self._told = False
        self._timer = _later(
            *((SLOW_AFTER, self._warn) if held is None else (HELD_AFTER, self._tell))
        )

    def stop(self) -> None:
        """The handler has ended."""
        if self._timer is not None:
            self._timer.cancel()
        if self._told and self._held is not None:
            self._held(False)

    def _tell(self) -> None:
        self._timer = _later(SLOW_AFTER - HELD_AFTER, self._warn)
        self._told = True
        if self._held is not None:
            self._held(True)

    def _warn(self) -> None:
        logger.warning(
            "Hook handler %s has been busy for %d s and the turn waits for it; "
            "stop the turn if it hangs",
            getattr(self._steps, "__qualname__", self._steps),
            SLOW_AFTER,
        )


def _later(seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle | None:
    try:
        return asyncio.get_running_loop().call_later(seconds, call)
    except RuntimeError:
        return None
