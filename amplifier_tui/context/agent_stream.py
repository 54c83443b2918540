"""An agent's answer while it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from amplifier_tui.context.agent_loop import Sink
from amplifier_tui.context.response import AgentResponse, AgentResponseUpdate


class ResponseStream:
    """The updates of a run; iterate it, or ask for the whole answer, or both.

    Nothing happens before the first update is asked for. The run ends properly, with the
    providers' `after_run`, once the updates were read to the end; closing the iterator before
    that cancels it.

    Args:
        start: Runs the agent; gets where updates go.
        finish: Runs the providers after it.
    """

    def __init__(
        self,
        start: Callable[[Sink], Awaitable[AgentResponse]],
        finish: Callable[[AgentResponse], Awaitable[None]],
    ) -> None:
        self._start = start
        self._finish = finish
        self._final: AgentResponse | None = None
        self._iterator: AsyncIterator[AgentResponseUpdate] | None = None

    def __aiter__(self) -> AsyncIterator[AgentResponseUpdate]:
        if self._iterator is None:
            self._iterator = self._updates()
        return self._iterator

    async def get_final_response(self) -> AgentResponse:
        """Return the whole answer; what of it was not read yet is skipped.

        Raises:
            RuntimeError: The stream was closed before its end, or failed.
        """
        async for _ in self:
            pass
        if self._final is None:
            raise RuntimeError("The stream ended before the answer was complete")
        return self._final

    async def _updates(self) -> AsyncIterator[AgentResponseUpdate]:
        queue: asyncio.Queue[AgentResponseUpdate | None] = asyncio.Queue()
        run = asyncio.ensure_future(self._start(queue.put_nowait))
        run.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (update := await queue.get()) is not None:
                yield update
            answer = await run
            await self._finish(answer)
            self._final = answer
        finally:
            if not run.done():
                run.cancel()
            # Whoever stopped reading does not want to know how it ended.
            await asyncio.wait([run])
            if not run.cancelled():
                run.exception()
