"""Calling a module for a trial: one that does not end is left to itself."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar

T = TypeVar("T")

SECONDS: Final = 10.0
"""How long a trial may take."""
_SECONDS_TO_STOP: Final = 1.0


async def within(trial: Coroutine[Any, Any, T], seconds: float) -> T:
    """Return what a trial returns.

    Raises:
        TimeoutError: It did not end in time; it goes on where it swallows its cancellation.
    """
    task = asyncio.ensure_future(trial)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_SECONDS_TO_STOP)
            raise TimeoutError
        return task.result()
    finally:
        task.cancel()


def run_trials(trials: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns, like `asyncio.run`, but wait for nothing it left behind."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(trials)
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        with suppress(RuntimeError):
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=_SECONDS_TO_STOP))
            loop.run_until_complete(loop.shutdown_asyncgens())
        # It would be said of each that goes on that it was destroyed.
        loop.set_exception_handler(lambda *_: None)
        loop.close()
