"""Processes that go on after the command that started them."""

from __future__ import annotations

import asyncio
from typing import Final

from amplifier_tui.modules.tool_bash.process import CommandProcess

_LOOK_EVERY: Final = 1.0


class Leftovers:
    """Keeps background processes alive until the session ends.

    Somebody has to go on reading what they print: with a closed or full pipe they would die or
    hang.
    """

    def __init__(self) -> None:
        self._readers: dict[CommandProcess, asyncio.Task[None]] = {}

    def hold(self, process: CommandProcess) -> None:
        """Take over a process group whose shell has ended."""
        task = asyncio.create_task(_read(process), name=f"bash-background:{process.pid}")
        self._readers[process] = task
        task.add_done_callback(lambda _: self._forget(process))

    async def end(self) -> None:
        """End everything that is left."""
        left = dict(self._readers)
        for task in left.values():
            task.cancel()
        await asyncio.gather(*(process.end() for process in left), return_exceptions=True)
        for process in left:
            self._forget(process)

    def _forget(self, process: CommandProcess) -> None:
        if self._readers.pop(process, None) is not None:
            process.close()


async def _read(process: CommandProcess) -> None:
    while await process.read():
        pass
    while process.group_alive:  # noqa: ASYNC110 (the system tells nobody)
        await asyncio.sleep(_LOOK_EVERY)
