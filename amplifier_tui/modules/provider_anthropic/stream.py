"""Reading an answer of the Messages API, from its events or in one piece."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel.llm_errors import ContentFilterError, ContextLengthError
from amplifier_tui.kernel.message_models import (
    ChatResponse,
    ContentBlockUnion,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.kernel.utils.tool_calls import call_block, read_tool_call

if TYPE_CHECKING:
    from anthropic.types import Message, RawMessageStreamEvent

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "context_length",
    "refusal": "content_filter",
}
_SHOWN_AS = {"text": "text", "thinking": "thinking", "tool_use": "tool_use"}


@dataclass
class _Block:
    """One content block as far as it has arrived."""

    kind: str
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    data: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass
class AnthropicAnswer:
    """An answer being read."""

    model: str
    tool_names: dict[str, str]
    complete: bool = False
    _blocks: dict[int, _Block] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _stop_reason: str | None = None
    _explanation: str | None = None
    _id: str | None = None
    _served_by: str | None = None

    @property
    def usage(self) -> Usage | None:
        """What it has used, as far as that was told."""
        return self._kernel_usage() if self._counts else None

    async def read_stream(
        self, events: AsyncIterable[RawMessageStreamEvent], emitter: StreamEmitter
    ) -> None:
        """Read a stream to its end and emit each piece as it arrives."""
        async for event in events:
            match event.type:
                case "message_start":
                    self._begin(event.message)
                case "content_block_start":
                    block = self._open(event.index, event.content_block)
                    if shown := _SHOWN_AS.get(block.kind):
                        await emitter.start(event.index, shown, name=block.name or None)
                case "content_block_delta":
                    if piece := self._add(event.index, event.delta):
                        await emitter.delta(event.index, piece)
                case "content_block_stop":
                    await emitter.end(event.index)
                case "message_delta":
                    self._stop(event.delta)
                    self._count(event.usage)
                case "message_stop":
                    self.complete = True

    async def read_whole(self, answer: Message) -> None:
        """Take over an answer that came in one piece."""
        self._begin(answer)
        for index, content in enumerate(answer.content):
            self._open(index, content)
        self._stop(answer)
        self.complete = True

    def response(self) -> ChatResponse:
        """The answer in the kernel's form; raises `LLMError` where nothing was said."""
        content: list[ContentBlockUnion] = []
        calls: list[ToolCall] = []
        last = max(self._blocks, default=0)
        for index, block in sorted(self._blocks.items()):
            if block.kind == "tool_use":
                call = self._tool_call(block, cut_off=self._limited and index == last)
                calls.append(call)
                content.append(call_block(call))
            else:
                content.extend(_content(block))
        if not any(isinstance(block, TextBlock | ToolCallBlock) for block in content):
            self._refuse_emptiness()
        return ChatResponse(
            content=content,
            tool_calls=calls or None,
            usage=self._kernel_usage(),
            finish_reason=_FINISH.get(self._stop_reason or "", self._stop_reason),
            metadata={
                "response_id": self._id,
                "model": self._served_by,
                "stop_reason": self._stop_reason,
            },
        )

    def _begin(self, message: Message) -> None:
        self._id = message.id
        self._served_by = message.model
        self._count(message.usage)

    def _open(self, index: int, content: Any) -> _Block:
        whole = getattr(content, "input", None)
        block = _Block(
            kind=content.type,
            signature=getattr(content, "signature", None) or "",
            data=getattr(content, "data", None) or "",
            id=getattr(content, "id", None) or "",
            name=getattr(content, "name", None) or "",
            # In a stream it is empty here; but some servers send all of it, and no piece later.
            input=whole if isinstance(whole, dict) else {},
        )
        block.name = self.tool_names.get(block.name, block.name)
        first = getattr(content, "text", None) or getattr(content, "thinking", None)
        if first:
            block.pieces.append(first)
        self._blocks[index] = block
        return block

    def _add(self, index: int, delta: Any) -> str:
        """Add a delta to its block and return what of it can be shown."""
        block = self._blocks.get(index)
        if block is None:
            raise LookupError(f"block {index} never began")
        match delta.type:
            case "text_delta":
                piece = delta.text
            case "thinking_delta":
                piece = delta.thinking
            case "input_json_delta":
                piece = delta.partial_json
            case "signature_delta":
                block.signature = delta.signature
                return ""
            case _:
                return ""
        block.pieces.append(piece)
        return str(piece)

    def _stop(self, part: Any) -> None:
        self._stop_reason = part.stop_reason or self._stop_reason
        details = getattr(part, "stop_details", None)
        self._explanation = getattr(details, "explanation", None) or self._explanation

    def _count(self, usage: Any) -> None:
        """Counts are cumulative: a later one replaces an earlier one, an absent one does not."""
        for name in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ):
            value = getattr(usage, name, None)
            if isinstance(value, int):
                self._counts[name] = value
        thinking = getattr(getattr(usage, "output_tokens_details", None), "thinking_tokens", None)
        if isinstance(thinking, int):
            self._counts["thinking_tokens"] = thinking

    def _kernel_usage(self) -> Usage:
        read = self._counts.get("cache_read_input_tokens", 0)
        written = self._counts.get("cache_creation_input_tokens", 0)
        gross = self._counts.get("input_tokens", 0) + read + written
        output = self._counts.get("output_tokens", 0)
        return Usage(
            input_tokens=gross,
            output_tokens=output,
            total_tokens=gross + output,
            reasoning_tokens=self._counts.get("thinking_tokens"),
            cache_read_tokens=read or None,
            cache_write_tokens=written or None,
        )

    @property
    def _limited(self) -> bool:
        return self._stop_reason in ("max_tokens", "model_context_window_exceeded")

    def _tool_call(self, block: _Block, *, cut_off: bool) -> ToolCall:
        if block.input and not block.text.strip():
            return ToolCall(id=block.id, name=block.name, arguments=block.input)
        return read_tool_call(block.id, block.name, block.text, cut_off=cut_off)

    def _refuse_emptiness(self) -> None:
        who: dict[str, Any] = {"provider": "anthropic", "model": self.model}
        if self._stop_reason == "refusal":
            why = self._explanation or "no reason was given"
            raise ContentFilterError(
                f"The model refused to answer: {why}. Rephrase the request, or rewind.", **who
            )
        if self._stop_reason == "model_context_window_exceeded":
            raise ContextLengthError(
                f"The conversation fills the whole window of {self.model}. "
                "Compact it, or start a new session.",
                **who,
            )


def _content(block: _Block) -> Iterable[ContentBlockUnion]:
    match block.kind:
        case "text" if block.text:
            yield TextBlock(text=block.text)
        case "thinking":
            yield ThinkingBlock(thinking=block.text, signature=block.signature or None)
        case "redacted_thinking":
            yield RedactedThinkingBlock(data=block.data)
