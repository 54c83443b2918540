"""Waiting in a test for something that may never come."""

import asyncio
import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import repeat
from typing import Any


@asynccontextmanager
async def within(seconds: int, what: str = "What the test waits for") -> AsyncIterator[None]:
    """Give up after some seconds, and say where every task and every thread stood then.

    Counted is how often a tenth of a second has passed: a machine that stands still for half a
    minute, as one that many share may, says nothing about what is waited for.
    """

    async def watch(limit: asyncio.Timeout) -> None:
        for _ in range(seconds * 10):
            await asyncio.sleep(0.1)
        limit.reschedule(0)

    try:
        async with asyncio.timeout(None) as limit:
            watching = asyncio.create_task(watch(limit))
            try:
                yield
            finally:
                watching.cancel()
    except TimeoutError as error:
        tasks = "".join(f"{task.get_name()}: {_awaits(task)}\n" for task in asyncio.all_tasks())
        stacks = map(traceback.format_stack, sys._current_frames().values(), repeat(8))
        threads = "\n".join("".join(stack) for stack in stacks)
        raise TimeoutError(f"{what} did not come in {seconds} s\n{tasks}\n{threads}") from error


def _awaits(task: asyncio.Task[Any]) -> str:
    """Return where a task waits, outermost first."""
    places: list[str] = []
    waits: Any = task.get_coro()
    while (frame := getattr(waits, "cr_frame", None)) is not None:
        places.append(f"{frame.f_code.co_qualname}:{frame.f_lineno}")
        waits = waits.cr_await
    return " > ".join(places)
