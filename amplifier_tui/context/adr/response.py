"""What an agent answers (ADR 0016)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import field
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.context.adr.message import Content, Message


@dataclass
class ChatResponse:
    """What a model answered to one request.

    Attributes:
        messages: Usually one.
        response_id: Id of the response, if the service gives one.
        conversation_id: Id of the conversation, if the service keeps it.
        model: Id of the model.
        finish_reason: Why it stopped.
        usage_details: Tokens, as the provider counts them.
        raw_representation: What the provider returned.
    """

    messages: list[Message] = field(default_factory=list)
    response_id: str | None = None
    conversation_id: str | None = None
    model: str | None = None
    finish_reason: str | None = None
    usage_details: dict[str, Any] | None = None
    raw_representation: Any = None

    @property
    def text(self) -> str:
        """What is said in it."""
        return _text(self.messages)


@dataclass
class AgentResponse:
    """What an agent answered: everything it said and did in one run.

    Attributes:
        messages: Answers and tool results in order.
        response_id: Id of the last response, if the service gives one.
        agent_id: Id of the agent.
        usage_details: Tokens of all requests together.
        additional_properties: Whatever else is known of it.
        raw_representation: What the provider returned last.
    """

    messages: list[Message] = field(default_factory=list)
    response_id: str | None = None
    agent_id: str | None = None
    usage_details: dict[str, Any] | None = None
    additional_properties: dict[str, Any] = field(default_factory=dict)
    raw_representation: Any = None

    @property
    def text(self) -> str:
        """What is said in it."""
        return _text(self.messages)

    def __str__(self) -> str:
        return self.text


@dataclass
class AgentResponseUpdate:
    """A piece of an answer on its way, and who says it."""

    contents: list[Content] = field(default_factory=list)
    role: str = "assistant"

    @property
    def text(self) -> str:
        """The words in it."""
        return "".join(c.text or "" for c in self.contents if c.type == "text")

    def __str__(self) -> str:
        return self.text


def _text(messages: Sequence[Message]) -> str:
    return "\n".join(m.text for m in messages if m.role == "assistant" and m.text)


Sink = Callable[[AgentResponseUpdate], None]
"""Takes what is said, as it is said."""


class ResponseStream:
    """The updates of a run; iterate it, or ask for the whole answer, or both.

    Nothing happens before the first update is asked for. The run ends properly, with the
    providers' `after_run`, once the updates were read to the end; closing the iterator before
    that cancels it.
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

        A stream that failed or was closed before its end raises ``RuntimeError``.
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
