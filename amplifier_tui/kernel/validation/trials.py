"""Calling a module for a trial: one that does not end is left to itself."""

import asyncio
import gc
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

from amplifier_tui.base.python import UNAWAITED, without_exit
from amplifier_tui.kernel.mounting.errors import place_in_traceback

T = TypeVar("T")

SECONDS: Final = 10.0
"""How long a trial may take."""
_SECONDS_TO_STOP: Final = 1.0
_MOMENT: Final = 0.1


async def within(trial: Coroutine[Any, Any, T], seconds: float) -> T:
    """Return what a trial returns.

    Raises:
        TimeoutError: It did not end in time; it goes on where it swallows its cancellation.
        RuntimeError: It tried to end the program.
    """
    task = asyncio.ensure_future(_tried(trial))
    try:
        with _woken(task, seconds + _SECONDS_TO_STOP):
            await asyncio.wait({task}, timeout=seconds)
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=_SECONDS_TO_STOP)
        if task.cancelling() or not task.done():
            raise TimeoutError
        return task.result()
    finally:
        task.cancel()


async def _tried(trial: Coroutine[Any, Any, T]) -> T:
    with without_exit():
        return await trial


@contextmanager
def strays() -> Iterator[list[BaseException]]:
    """Yield what tasks raise in the meantime and nobody awaits, which Python would print."""
    loop, found = asyncio.get_running_loop(), list[BaseException]()
    before = loop.get_exception_handler()

    def take(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if error := context.get("exception"):
            found.append(error)

    loop.set_exception_handler(take)
    try:
        yield found
    finally:
        loop.set_exception_handler(before)


_CALLS: Final = 8
"""Calls that are looked through for where a coroutine was made."""


@contextmanager
def unawaited() -> Iterator[dict[str, str]]:
    """Yield what Python says of coroutines that a module never awaits, each with its place."""
    found: dict[str, str] = {}
    depth = sys.get_coroutine_origin_tracking_depth()
    sys.set_coroutine_origin_tracking_depth(_CALLS)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", RuntimeWarning)
            yield found
    finally:
        sys.set_coroutine_origin_tracking_depth(depth)
    for each in said:
        text = str(each.message)
        place = place_in_traceback(text) if UNAWAITED in text else ""
        if place:
            found[text.partition("\n")[0]] = place
        else:
            warnings.showwarning(each.message, each.category, each.filename, each.lineno)


async def settle() -> None:
    """Give the tasks that a trial left behind a moment, and have what they raised come up."""
    if left := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(left, timeout=_MOMENT)
    del left
    gc.collect()


@contextmanager
def _woken(task: asyncio.Future[Any], seconds: float) -> Iterator[None]:
    """Cancel a task also where it never suspends, where the system can."""
    waiting = asyncio.current_task()

    def ring() -> None:
        # Where no task keeps it, the event loop goes on by itself.
        if asyncio.current_task() not in (waiting, None):
            task.cancel()
            raise asyncio.CancelledError

    with _ringing(ring, seconds):
        yield


class StuckError(BaseException):
    """What keeps the event loop is ended by this, where it stands."""


@contextmanager
def freed(seconds: float) -> Iterator[None]:
    """Raise `StuckError` in code that keeps the event loop a second longer, where the system can.

    What lets the loop go on is left to the clock of who waits for it.
    """

    def ring() -> None:
        if asyncio.current_task() is not None:
            raise StuckError(f"it did not end within {seconds:g} s")

    with _ringing(ring, seconds + _SECONDS_TO_STOP):
        yield


@contextmanager
def _ringing(ring: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call a function in the main thread, whatever runs there, after so many seconds and again."""
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer"):
        yield
        return
    handler = signal.signal(signal.SIGALRM, lambda number, frame: ring())
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def run_trials(trials: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns, like `asyncio.run`, but wait for nothing it left behind."""
    loop = asyncio.new_event_loop()
    main = loop.create_task(trials)
    try:
        while not main.done():
            # That of a background task gets through here; `strays` is told of it.
            with suppress(SystemExit):
                loop.run_until_complete(main)
        return main.result()
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        with suppress(RuntimeError, SystemExit):
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=_SECONDS_TO_STOP))
            loop.run_until_complete(loop.shutdown_asyncgens())
        # It would be said of each that goes on that it was destroyed.
        loop.set_exception_handler(lambda *_: None)
        loop.close()
