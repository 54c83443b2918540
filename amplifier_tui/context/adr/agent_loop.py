"""An agent's run: ask the model, run its tools, until it has nothing left to do."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.tool_calls import tool_spec
from amplifier_tui.context.adr.agent_tools import run_call
from amplifier_tui.context.adr.message import CALL, Content, Message
from amplifier_tui.context.adr.response import (
    AgentResponse,
    AgentResponseUpdate,
    ChatResponse,
    Sink,
)
from amplifier_tui.context.adr.strategies import CompactionStrategy, apply_compaction
from amplifier_tui.kernel.message_models import ChatRequest, ToolCall
from amplifier_tui.kernel.message_models import Message as KernelMessage
from amplifier_tui.kernel.utils.conversation import sendable_message
from amplifier_tui.kernel.utils.stream import STREAM_BLOCK_DELTA

logger = logging.getLogger(__name__)

_RENAMED: Final = {"max_tokens": "max_output_tokens", "model_id": "model"}
# What an agent does with options itself.
_OWN: Final = frozenset({"instructions", "tools"})


@dataclass(slots=True)
class Loop:
    """One run: requests to a kernel provider, with its tools by name, until nothing is called.

    ``hooks`` is where the provider tells what it streams; ``conversation_id`` is set where the
    service keeps the conversation.
    """

    client: Any
    instructions: str
    tools: Mapping[str, Any]
    options: Mapping[str, Any]
    max_iterations: int
    strategy: CompactionStrategy | None = None
    hooks: Any | None = None
    conversation_id: str | None = None
    _usage: dict[str, int] = field(default_factory=dict)

    async def run(self, messages: Sequence[Message], sink: Sink | None = None) -> AgentResponse:
        """Run, beginning with these messages; the sink gets what is said, as it is said."""
        seen = [message.copy() for message in messages]
        answered: list[Message] = []
        last = ChatResponse()
        for _ in range(self.max_iterations):
            last, calls = await self._ask(seen, sink)
            new = list(last.messages)
            if calls:
                new += await asyncio.gather(*(run_call(call, self.tools) for call in calls))
            answered += new
            # With a service that keeps the history, only what is new goes out.
            kept = self.conversation_id is not None
            seen = (
                [m for m in new if m.role == "tool"]
                if kept
                else [*seen, *(message.copy() for message in new)]
            )
            if not calls:
                break
        else:
            logger.warning("The run ended after %d requests, its limit", self.max_iterations)
        return AgentResponse(
            messages=answered,
            response_id=last.response_id,
            usage_details=dict(self._usage) or None,
            raw_representation=last.raw_representation,
        )

    async def _ask(
        self, messages: list[Message], sink: Sink | None
    ) -> tuple[ChatResponse, list[ToolCall]]:
        if self.strategy is not None:
            messages = await apply_compaction(messages, self.strategy)
        request = self._request(messages, stream=sink is not None)
        async with self._streamed(sink) as streamed:
            response = await self.client.complete(request)
        calls = list(self.client.parse_tool_calls(response) or ())
        answer = _read(response, calls)
        self._count(response)
        if answer.conversation_id is not None:
            self.conversation_id = answer.conversation_id
        if sink is not None:
            for message in answer.messages:
                # Words that were streamed are not said twice.
                new = [c for c in message.contents if not (streamed and c.type == "text")]
                if new:
                    sink(AgentResponseUpdate(new))
        return answer, calls

    def _request(self, messages: Sequence[Message], *, stream: bool) -> ChatRequest:
        rows = [sendable_message(message.to_kernel()) for message in messages]
        if self.instructions:
            rows.insert(0, KernelMessage(role="system", content=self.instructions))
        options = {
            _RENAMED.get(name, name): value
            for name, value in self.options.items()
            if value is not None and name not in _OWN
        }
        if self.conversation_id is not None:
            options["conversation_id"] = self.conversation_id
        return ChatRequest.model_validate(
            {
                **options,
                "messages": rows,
                "tools": [tool_spec(name, tool) for name, tool in self.tools.items()] or None,
                "stream": stream,
            }
        )

    @asynccontextmanager
    async def _streamed(self, sink: Sink | None) -> AsyncIterator[list[str]]:
        """Pass on what the provider streams; yields what came of it so far."""
        pieces: list[str] = []
        if sink is None or self.hooks is None:
            yield pieces
            return

        async def listen(event: str, data: dict[str, Any]) -> None:
            text = data.get("text")
            if data.get("block_type") == "text" and isinstance(text, str) and text:
                pieces.append(text)
                sink(AgentResponseUpdate([Content.from_text(text)]))

        end = self.hooks.register(STREAM_BLOCK_DELTA, listen, name="chat-agent-stream")
        try:
            yield pieces
        finally:
            end()

    def _count(self, response: Any) -> None:
        usage = getattr(response, "usage", None)
        for name in ("input_tokens", "output_tokens", "total_tokens"):
            tokens = getattr(usage, name, None)
            if isinstance(tokens, int):
                self._usage[name] = self._usage.get(name, 0) + tokens


def _read(response: Any, calls: Sequence[ToolCall]) -> ChatResponse:
    """The provider's response in the words of the ADR."""
    contents = [Content.from_block(_block(block)) for block in response.content or ()]
    known = {content.call_id for content in contents if content.type == CALL}
    contents += [
        Content.from_function_call(call.id, call.name, arguments=dict(call.arguments))
        for call in calls
        if call.id not in known
    ]
    metadata = getattr(response, "metadata", None)
    metadata = metadata if isinstance(metadata, Mapping) else {}
    conversation = getattr(response, "conversation_id", None) or metadata.get("conversation_id")
    identity = metadata.get("response_id") or getattr(response, "id", None)
    usage = getattr(response, "usage", None)
    return ChatResponse(
        messages=[Message("assistant", contents)] if contents else [],
        response_id=identity if isinstance(identity, str) else None,
        conversation_id=conversation if isinstance(conversation, str) else None,
        finish_reason=getattr(response, "finish_reason", None),
        usage_details=usage.model_dump(exclude_none=True) if usage is not None else None,
        raw_representation=response,
    )


def _block(block: Any) -> Mapping[str, Any]:
    if isinstance(block, Mapping):
        return block
    dumped: dict[str, Any] = block.model_dump(mode="json", exclude_none=True, fallback=str)
    return dumped
